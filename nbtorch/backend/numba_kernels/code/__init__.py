"""The compiled loops. Only this package imports numba; its modules are loaded at the first use of a kernel."""

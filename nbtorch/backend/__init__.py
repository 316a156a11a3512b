"""Where arrays are computed: NumPy, CuPy and the kernel libraries are called here and nowhere above."""

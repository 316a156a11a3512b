"""Where arrays are computed: NumPy, CuPy and the kernel libraries are called here and nowhere above."""
from . import hostmem, threads

threads.prepare_environment()                     # before NumPy loads its BLAS, when nobody loaded it earlier
hostmem.reuse_large_blocks()

"""torch.backends.mkl: NumPy's OpenBLAS is used instead."""


def is_available():
    """False."""
    return False

"""torch.backends.openmp."""


def is_available():
    """Whether kernels that use OpenMP (oneDNN) are in use."""
    from .mkldnn import is_available as onednn
    return onednn()

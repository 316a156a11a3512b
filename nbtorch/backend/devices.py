"""Which devices exist. CuPy is imported only when a CUDA device is asked for."""
import functools


@functools.lru_cache(None)
def cuda_count():
    """Number of usable CUDA devices; 0 without CuPy or a driver. Not verified on a GPU."""
    try:
        import cupy
    except ImportError:
        return 0
    try:
        return cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


def require(device):
    """Raise unless tensors can live on `device`."""
    if device.type == "cpu":
        return
    if device.type == "cuda":
        if not cuda_count():
            raise RuntimeError("Cannot access accelerator device when none is available. (CUDA needs an NVIDIA GPU and "
                               "pip install nbtorch[cuda].)")
        return
    raise RuntimeError(f"nbtorch has no '{device.type}' device; it computes on 'cpu' and, with CuPy, on 'cuda'.")

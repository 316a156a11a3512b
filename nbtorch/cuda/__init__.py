"""torch.cuda: truthful without a GPU. Not verified on a GPU."""
from ..backend.devices import cuda_count

__all__ = ["current_device", "device_count", "empty_cache", "get_device_name", "is_available", "is_initialized",
           "manual_seed", "manual_seed_all", "max_memory_allocated", "memory_allocated", "set_device", "synchronize"]


def is_available():
    """Whether CuPy and at least one CUDA device can be used."""
    return cuda_count() > 0


def device_count():
    """Number of CUDA devices."""
    return cuda_count()


def is_initialized():
    """Whether a CUDA context exists in this process."""
    return cuda_count() > 0


def _need():
    if not cuda_count():
        raise RuntimeError("No CUDA GPUs are available")


def current_device():
    """Index of the current device. Raises RuntimeError without one."""
    _need()
    import cupy
    return cupy.cuda.runtime.getDevice()


def set_device(device):
    """Make a device current. Raises RuntimeError without one."""
    _need()
    import cupy
    cupy.cuda.Device(getattr(device, "index", device) or 0).use()


def synchronize(device=None):
    """Wait until a device has done all its work. Raises RuntimeError without one."""
    _need()
    import cupy
    cupy.cuda.Device(None if device is None else getattr(device, "index", device)).synchronize()


def get_device_name(device=None):
    """Name of a device. Raises RuntimeError without one."""
    _need()
    import cupy
    index = current_device() if device is None else getattr(device, "index", device)
    return cupy.cuda.runtime.getDeviceProperties(index)["name"].decode()


def manual_seed(seed):
    """Seed the CUDA generator of the current device; nothing happens without one, as in PyTorch."""
    if cuda_count():
        import cupy
        cupy.random.seed(seed)


manual_seed_all = manual_seed


def empty_cache():
    """Return unused pool memory to the driver; nothing happens without a device."""
    if cuda_count():
        import cupy
        cupy.get_default_memory_pool().free_all_blocks()


def memory_allocated(device=None):
    """Bytes the pool has handed out; 0 without a device."""
    if not cuda_count():
        return 0
    import cupy
    return cupy.get_default_memory_pool().used_bytes()


def max_memory_allocated(device=None):
    """Bytes the pool holds from the driver, its high-water mark; 0 without a device."""
    if not cuda_count():
        return 0
    import cupy
    return cupy.get_default_memory_pool().total_bytes()


def __getattr__(name):
    if name == "amp":                             # a façade of a layer above; loaded when asked for
        import importlib
        return importlib.import_module(f"{__name__}.amp")
    raise AttributeError(f"module 'torch.cuda' has no attribute '{name}' in nbtorch")

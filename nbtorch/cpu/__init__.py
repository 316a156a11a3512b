"""torch.cpu: the host as a device."""


def is_available():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """"cpu"."""
    return "cpu"


def synchronize(device=None):
    """Nothing to wait for: kernels return when they are done."""


def __getattr__(name):
    if name == "amp":                             # a façade of a layer above; loaded when asked for
        import importlib
        return importlib.import_module(f"{__name__}.amp")
    raise AttributeError(f"module 'torch.cpu' has no attribute '{name}' in nbtorch")

"""`torch.random`: the default generators' seeds and states."""
import contextlib
import warnings

from ..core.device import device as device_type
from ..core.generator import Generator, default_generator

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def manual_seed(seed):
    """Seed the default generators of all devices; returns the CPU's. A negative seed wraps to 64 bits.

    https://docs.pytorch.org/docs/stable/generated/torch.manual_seed.html
    """
    seed = int(seed)
    default_generator.manual_seed(seed)
    for stream in _cuda_streams():
        stream.seed(default_generator.initial_seed())
    return default_generator


def seed():
    """Seed the default generators from the system's entropy; returns the seed."""
    value = default_generator.seed()
    for stream in _cuda_streams():
        stream.seed(value)
    return value


def initial_seed():
    """The seed of the CPU's default generator.

    https://docs.pytorch.org/docs/stable/generated/torch.initial_seed.html
    """
    return default_generator.initial_seed()


def get_rng_state():
    """State of the CPU's default generator, a uint8 tensor of 5,056 bytes.

    https://docs.pytorch.org/docs/stable/generated/torch.get_rng_state.html
    """
    return default_generator.get_state()


def set_rng_state(new_state):
    """Continue the CPU's default generator from a state of get_rng_state, here or of PyTorch."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type=None):
    """What is drawn inside leaves the default generators as they were: the CPU's, and those of the CUDA
    devices.

    https://docs.pytorch.org/docs/stable/random.html#torch.random.fork_rng
    """
    if not enabled:
        yield
        return
    streams = [default_generator.stream, *_forked(devices, _caller, _devices_kw)]
    states = [stream.get_state() for stream in streams]
    try:
        yield
    finally:
        for stream, state in zip(streams, states):
            stream.set_state(state)


def _forked(devices, caller, keyword):
    if devices is None:
        streams = _cuda_streams()
        if len(streams) > 1:
            warnings.warn(f"CUDA reports that you have {len(streams)} available devices, and you have used {caller} "
                          "without explicitly specifying which devices are being used. For safety, we "
                          f"initialize *every* CUDA device by default. Set the {keyword} keyword argument to silence this.", stacklevel=4)
        return streams
    from ..backend.rng_cuda import default_stream
    return [default_stream(d if isinstance(d, int) else device_type(d).index) for d in devices]


def _cuda_streams():
    """Default streams of the CUDA devices that were drawn from; none of this loads CuPy."""
    import sys
    module = sys.modules.get("nbtorch.backend.rng_cuda")
    return list(module._defaults.values()) if module else []

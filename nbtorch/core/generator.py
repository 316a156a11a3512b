"""Generators of random numbers: the object PyTorch programs pass as `generator=`."""
from ..backend import rng
from .device import CPU
from .device import device as device_type
from .dtype import uint8

_MASK = (1 << 64) - 1


class Generator:
    """A stream of random numbers of its own. On the CPU, the same seed gives PyTorch's CPU numbers.

    https://docs.pytorch.org/docs/stable/generated/torch.Generator.html
    """

    __slots__ = ("__weakref__", "device", "stream")

    def __init__(self, device="cpu"):
        self.device = device_type(device)
        if self.device.type == "cpu":
            self.stream = rng.Stream(rng.DEFAULT_SEED)
        elif self.device.type == "cuda":
            from ..backend.rng_cuda import CudaStream
            self.stream = CudaStream(rng.DEFAULT_SEED, self.device.index or 0)
        else:
            raise RuntimeError(f"Device type {self.device.type} is not supported for torch.Generator() api.")

    def manual_seed(self, seed):
        """Start over from a seed (an integer of at most 64 bits, negative ones wrap). Returns the generator.

        https://docs.pytorch.org/docs/stable/generated/torch.Generator.html#torch.Generator.manual_seed
        """
        self.stream.seed(checked_seed(seed))
        return self

    def seed(self):
        """Start over from a seed of the system's entropy; returns it."""
        value = rng.fresh_seed()
        self.stream.seed(value)
        return value

    def initial_seed(self):
        """The seed the stream started from."""
        return self.stream.initial_seed

    def get_state(self):
        """The state as a uint8 tensor: 5,056 bytes on the CPU, which PyTorch's set_state takes, too."""
        from .tensor import Tensor
        return Tensor._wrap(self.stream.get_state())

    def set_state(self, new_state):
        """Continue from a state of get_state, here or of PyTorch. Raises TypeError or RuntimeError otherwise."""
        self.stream.set_state(checked_state(new_state))

    def clone_state(self):
        """A new generator that continues like this one."""
        return _over(self.stream.copy(), self.device)

    def graphsafe_get_state(self):
        """A generator that shares this one's stream."""
        return _over(self.stream, self.device)

    def graphsafe_set_state(self, state):
        """Take over the stream of another generator."""
        self.stream = state.stream

    def __repr__(self):
        return f"<torch._C.Generator object at {id(self):#x}>"

    def __reduce__(self):
        return _restored, (str(self.device), self.stream.initial_seed, bytes(self.stream.get_state()))


def _over(stream, device):
    generator = object.__new__(Generator)
    generator.stream, generator.device = stream, device
    return generator


def _restored(device, seed, state):
    generator = Generator(device)
    generator.stream.set_state(state)
    return generator


def checked_seed(seed):
    """A seed as an unsigned 64-bit number. Raises RuntimeError for other types, ValueError for more bits."""
    if not hasattr(seed, "__index__"):
        raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
    seed = seed.__index__()
    if not -(1 << 63) <= seed <= _MASK:
        raise ValueError("Overflow when unpacking long long")
    return seed & _MASK


def checked_state(state):
    """The bytes of a state tensor."""
    if not hasattr(state, "_a"):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    if state.dtype is not uint8 or state.device.type != "cpu":
        raise TypeError("RNG state must be a torch.ByteTensor")
    return state._a.tobytes()


default_generator = _over(rng.default_stream, CPU)

"""Devices, layouts, memory formats and sizes: the small value types of the API."""


class device:
    """`torch.device("cpu")`, `torch.device("cuda", 0)`, `torch.device("cuda:0")`.

    Raises RuntimeError for an unknown device string.
    https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device
    """

    __slots__ = ("type", "index")
    TYPES = ("cpu", "cuda", "meta", "mps", "xpu", "hpu", "mkldnn", "vulkan", "xla", "mtia", "ipu", "ve", "maia", "lazy",
             "opengl", "opencl", "ideep", "hip", "fpga", "privateuseone")

    def __init__(self, type, index=None):
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        elif isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type
        elif ":" in type:
            name, _, number = type.partition(":")
            if index is not None:
                raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {type}")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            type, index = name, int(number)
        if type not in self.TYPES:
            expected = ", ".join(self.TYPES)
            raise RuntimeError(f"Expected one of {expected} device type at start of device string: {type}")
        self.type, self.index = type, index

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __repr__(self):
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self):
        return device, (self.type, self.index)

    def __enter__(self):
        from .modes import push_device
        push_device(self)
        return self

    def __exit__(self, *exc):
        from .modes import pop_device
        pop_device()


CPU = device("cpu")


def device_of(value):
    """A device from a device, string, int or None (the current default)."""
    if value is None:
        from .modes import default_device
        return default_device()
    return value if isinstance(value, device) else device(value)


class _Named:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return named, (self.name,)


class layout(_Named):
    """Memory layout; `torch.strided` is the only one tensors have here."""

    __slots__ = ()


class memory_format(_Named):
    """Order of dimensions in memory: contiguous_format, channels_last, channels_last_3d, preserve_format."""

    __slots__ = ()


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
preserve_format = memory_format("preserve_format")


def named(name):
    """The layout or memory format object of this name (pickling)."""
    return globals()[name]


class Size(tuple):
    """The shape of a tensor: a tuple with `numel()`."""

    __slots__ = ()

    def numel(self):
        """Number of elements of a tensor of this size."""
        count = 1
        for n in self:
            count *= n
        return count

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self))

    def __mul__(self, n):
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __getitem__(self, i):
        got = tuple.__getitem__(self, i)
        return Size(got) if isinstance(i, slice) else got

    def __reduce__(self):
        return Size, (tuple(self),)

"""Flatten and Unflatten. Source: https://docs.pytorch.org/docs/stable/nn.html#utilities"""

from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Joins dimensions `start_dim` to `end_dim` into one."""

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits dimension `dim` into `unflattened_size` (a tuple of ints). Raises TypeError for other kinds of size."""

    __constants__ = ["dim", "unflattened_size"]

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if isinstance(dim, int):
            self._require_ints(unflattened_size)
        elif isinstance(dim, str):
            raise TypeError("named dimensions are not supported: Unflatten needs dim to be an int")
        else:
            raise TypeError("invalid argument combination for Unflatten")
        self.dim = dim
        self.unflattened_size = unflattened_size

    @staticmethod
    def _require_ints(size):
        if not isinstance(size, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(size).__name__}")
        for at, element in enumerate(size):
            if not isinstance(element, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, "
                    f"but found element of type {type(element).__name__} at pos {at}"
                )

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"

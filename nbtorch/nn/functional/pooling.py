"""Maximum pooling with `return_indices`.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""
from ... import ops
from ...core.op import OPS

_PAGE = "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional."
__all__ = []


def _max_pool(n):
    pool, name = OPS[f"max_pool{n}d_with_indices"].function, f"max_pool{n}d"

    def with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode)

    def max_pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        if return_indices:
            return pool(input, kernel_size, stride, padding, dilation, ceil_mode)
        return getattr(ops, name)(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _named(name, with_indices, max_pool, "The largest element of each window of input (batch, channels, "
                                                "*space).")


def _adaptive(n):
    name = f"adaptive_max_pool{n}d"
    pool = OPS[name + "_with_indices"].function

    def with_indices(input, output_size, return_indices=False):
        return pool(input, output_size)

    def adaptive_max_pool(input, output_size, return_indices=False):
        both = pool(input, output_size)
        return both if return_indices else both[0]
    return _named(name, with_indices, adaptive_max_pool, "Maxima over bins that divide the space into output_size "
                                                         "parts.")


def _fractional(n):
    name = f"fractional_max_pool{n}d"
    pool = OPS[name + "_with_indices"].function

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                     _random_samples=None):
        return pool(input, kernel_size, output_size, output_ratio, True, _random_samples)

    def fractional_max_pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                            _random_samples=None):
        both = pool(input, kernel_size, output_size, output_ratio, True, _random_samples)
        return both if return_indices else both[0]
    return _named(name, with_indices, fractional_max_pool, "Maxima over windows at random places (arXiv:1412.6071).")


def _named(name, with_indices, plain, text):
    for function, full in ((plain, name), (with_indices, name + "_with_indices")):
        function.__name__ = function.__qualname__ = full
        function.__doc__ = f"{text}\n\n    {_PAGE}{name}.html\n    "
        globals()[full] = function
        __all__.append(full)


for _n in (1, 2, 3):
    _max_pool(_n)
    _adaptive(_n)
for _n in (2, 3):
    _fractional(_n)

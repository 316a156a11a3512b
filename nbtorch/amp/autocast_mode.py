"""`autocast` as context manager and decorator, and the helpers of custom Functions."""

import collections.abc
import functools
import warnings

from . import policy
from .policy import STATE


class autocast:
    """Run "low" ops in a lower precision dtype and range-sensitive ones in float32, for one device type.

    device_type: "cpu" or "cuda". dtype: bfloat16 (CPU's default) or float16 (CUDA's). Nests; `enabled=False`
    makes an island. ValueError or RuntimeError for a device type that is not one; a warning, and no autocast,
    for other dtypes. https://docs.pytorch.org/docs/stable/amp.html
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not policy.is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = policy.get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = STATE.cache_enabled if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled and self._possible())
        self._before = []

    def _possible(self):
        if self.device == "cuda" and not _cuda_available():
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3)
            return False
        if self.fast_dtype not in policy.LOW_TYPES:
            name = self.device.upper()
            warnings.warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of "
                + ", ".join(map(str, policy.LOW_TYPES))
                + " currently.",
                stacklevel=3,
            )
            return False
        return True

    def __enter__(self):
        self._before.append((STATE.dtypes, STATE.enabled, STATE.cache_enabled))
        policy.set_autocast_dtype(self.device, self.fast_dtype)
        policy.set_autocast_enabled(self.device, self._enabled)
        STATE.cache_enabled = self._cache_enabled
        STATE.nesting += 1
        return self

    def __exit__(self, *exc):
        STATE.nesting -= 1
        if STATE.nesting <= 0:
            STATE.nesting = 0
            policy.clear_autocast_cache()
        STATE.dtypes, STATE.enabled, STATE.cache_enabled = self._before.pop()
        policy._place_layer()
        return False

    def __call__(self, function):
        return policy.decorate(self, function)


def _cuda_available():
    from ..cuda import is_available

    return is_available()


def _cast(value, device_type, dtype):
    from ..core.tensor import Tensor

    if isinstance(value, Tensor):
        eligible = policy._eligible(value, device_type)
        return value.to(dtype) if eligible else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, collections.abc.Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorate a custom Function's forward: cast inputs and run without autocast, or keep autocast's state."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args, **kwargs):
        args[0]._dtype = policy.get_autocast_dtype(device_type)
        if cast_inputs is None or not policy.is_autocast_enabled(device_type):
            args[0]._fwd_used_autocast = policy.is_autocast_enabled(device_type)
            return fwd(*args, **kwargs)
        args[0]._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd=None, *, device_type):
    """Decorate a custom Function's backward: run it under the autocast state of its forward."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args, **kwargs):
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorated

"""Kernels through oneDNN's C API: convolutions, and bfloat16 and larger float32 matrix products, casts."""
from ..registry import kernel_index
from . import lib

INDEX = kernel_index(__path__)


def available():
    """(True, "") where a usable library was found, else (False, why not)."""
    found, reason = lib.find()
    return found is not None, reason


def describe():
    """What `show_config` says of the provider."""
    found, reason = lib.find()
    if found is None:
        return {"in use": False, "reason": reason}
    from . import conv, convert, matmul
    return {"in use": True, "version": ".".join(map(str, found.version)), "library": found.path,
            "runtime": found.runtime, "isa": hex(found.isa),
            "cached plans": sum(len(module.plans) for module in (conv, convert, matmul))}

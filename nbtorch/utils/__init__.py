"""Utilities; the parts load when first named."""

import importlib

_SUBMODULES = ("checkpoint", "data", "hooks")


def __getattr__(name):
    if name in _SUBMODULES:
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({n for n in globals() if not n.startswith("_")} | set(_SUBMODULES))

"""Modules without their initial values."""

import inspect

from ..init import skipped
from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls, *args, **kwargs):
    """Makes a module without spending time on initial values; takes the class and its arguments.

    Raises RuntimeError for classes that are no Module or have no `device` argument.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with skipped():
        return module_cls(*args, **kwargs)

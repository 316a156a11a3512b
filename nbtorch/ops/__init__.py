"""THE TABLE: one record per op, a file per family. Importing this package declares every op and binds the methods."""
import importlib
import pkgutil

NOT_FAMILIES = ("bind", "rules")
for _module in pkgutil.iter_modules(__path__):
    if _module.name not in NOT_FAMILIES:
        importlib.import_module(f"{__name__}.{_module.name}")

from .bind import bind_methods, bind_plain, every, public  # noqa: E402

bind_methods()
bind_plain()
# Functions by name. Where a family's module has the name of one of its functions, the function wins here; the module is
# reached as `from nbtorch.ops.softmax import ...`.
globals().update(every())

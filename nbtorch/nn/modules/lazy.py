"""The mixin behind all Lazy* modules: parameters get their shape at the first call."""

import warnings

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Waits for the first input, asks ``initialize_parameters`` for the shapes, then becomes ``cls_to_become``."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)
        warnings.warn(
            "Lazy modules are a new feature under heavy development "
            "so changes to the API or functionality can happen at any moment.",
            stacklevel=2,
        )

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        # Unlike Module's, this keeps uninitialized parameters as they are: they cannot be detached.
        for tables in (self._parameters, self._buffers):
            for name, value in tables.items():
                if value is not None and name not in self._non_persistent_buffers_set:
                    destination[prefix + name] = value if is_lazy(value) or keep_vars else value.detach()

    def _lazy_load_hook(self, state_dict, prefix, *unused):
        """Gives waiting parameters the shapes found in a checkpoint."""
        for tables in (self._parameters, self._buffers):
            for name, value in tables.items():
                source = state_dict.get(prefix + name)
                if source is not None and value is not None and is_lazy(value) and not is_lazy(source):
                    value.materialize(source.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Gives the parameters the shapes that fit the input; every lazy module defines it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether any parameter or buffer still waits for its shape."""
        return any(is_lazy(value) for table in (self._parameters, self._buffers) for value in table.values())

    def _infer_parameters(self, module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. "
            "Run a dummy forward pass to correctly initialize the modules"
        )

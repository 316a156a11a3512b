"""The numba provider: fused kernels for the CPU. Importing this package does not import numba.

``INDEX`` names the module of each kernel. Those modules decide (dtype, layout, size), allocate, and hand over to the
loops in ``code/``, which are compiled at first use and kept on disk. Every kernel may return NotImplemented.
"""
import importlib.util

_MODULES = {
    "optim": "fused_adam_ fused_sgd_ fused_rmsprop_ fused_adagrad_",
    "rows": "softmax softmax_backward log_softmax log_softmax_backward layer_norm layer_norm_backward",
    "elementwise": "relu threshold_backward gelu gelu_backward dropout_backward cast_bfloat16",
    "channels": "batch_norm batch_norm_backward",
    "pool": "max_pool2d_with_indices max_pool_backward",
    "loss": "nll_loss nll_loss_backward",
    "random": "normal_blocks shuffle",
}
INDEX = {name: module for module, names in _MODULES.items() for name in names.split()}


def available():
    """(whether numba can be used, why not)."""
    if importlib.util.find_spec("numba") is None:
        return False, "numba is not installed"
    return True, ""

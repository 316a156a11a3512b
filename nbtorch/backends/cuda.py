"""torch.backends.cuda."""


class _Matmul:
    """Switches of CUDA matrix products."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built():
    """Whether CuPy is installed."""
    import importlib.util
    return importlib.util.find_spec("cupy") is not None

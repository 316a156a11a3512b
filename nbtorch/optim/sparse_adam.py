"""SparseAdam: there are no sparse tensors here, so it can only say so."""

__all__ = ["SparseAdam"]


class SparseAdam:
    """Adam for sparse gradients. https://docs.pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html"""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        raise NotImplementedError("SparseAdam works on sparse gradients, and nbtorch has no sparse tensors; use "
                                  "nbtorch.optim.Adam")

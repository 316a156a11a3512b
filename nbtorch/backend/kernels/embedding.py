"""Lookup tables: rows picked by index, their gradients, and bags of rows."""
from ..registry import kernel
from ._common import narrow, wide


def add_rows(xp, shape, index, rows):
    """Zeros of `shape` with each of `rows` added at its `index`; sorting beats adding one row at a time."""
    out = xp.zeros(shape, rows.dtype)
    if not index.size:
        return out
    if xp.__name__ != "numpy":
        xp.add.at(out, index, rows)
        return out
    order = xp.argsort(index, kind="stable")
    index = index[order]
    firsts = xp.flatnonzero(xp.concatenate((xp.ones(1, bool), index[1:] != index[:-1])))
    out[index[firsts]] = xp.add.reduceat(rows[order], firsts, 0)
    return out


def _check(xp, weight, indices):
    if xp.__name__ == "numpy" and indices.size and (indices.min() < 0 or indices.max() >= weight.shape[0]):
        raise IndexError("index out of range in self")


@kernel("embedding")
def embedding(xp, weight, indices, padding_idx=-1, scale_grad_by_freq=False):
    """Rows of weight (rows, features), one for each index."""
    _check(xp, weight, indices)
    if weight.shape[0] == 0:
        return xp.zeros((*indices.shape, *weight.shape[1:]), weight.dtype)
    return xp.take(weight, indices, 0)


@kernel("embedding_backward")
def embedding_backward(xp, grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    """The gradient of the table: rows of grad added up by index, none for padding_idx."""
    features = grad.shape[-1]
    rows, index = wide(xp, grad).reshape(-1, features), indices.reshape(-1).astype(xp.int64)
    if padding_idx >= 0:
        kept = index != padding_idx
        rows, index = rows[kept], index[kept]
    if scale_grad_by_freq and index.size:
        rows = rows / xp.bincount(index)[index][:, None].astype(rows.dtype)
    return narrow(xp, add_rows(xp, (num_weights, features), index, rows), grad)


@kernel("bag_max")
def bag_max(xp, rows, bags, num_bags):
    """(largest element per bag and feature, the row it came from; 0 and -1 for an empty bag). `bags` is sorted."""
    out = xp.zeros((num_bags, rows.shape[1]), rows.dtype)
    where = xp.full(out.shape, -1, xp.int64)
    for bag in range(num_bags):
        lo, hi = int((bags < bag).sum()), int((bags <= bag).sum())
        if hi > lo:
            where[bag] = lo + rows[lo:hi].argmax(0)
            out[bag] = rows[lo:hi].max(0)
    return out, where

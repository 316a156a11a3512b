"""Dropout. Source: https://docs.pytorch.org/docs/stable/nn.functional.html#dropout-functions"""
import warnings

from ... import ops

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def _apply(name, input, p, training, inplace):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return getattr(ops, name + "_" if inplace else name)(input, p, training)


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with probability p and scales the others by 1 / (1 - p).

    Raises ValueError for p outside [0, 1].
    """
    return _apply("dropout", input, p, training, inplace)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of selu's outputs (arXiv:1706.02515)."""
    return _apply("alpha_dropout", input, p, training, inplace)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Alpha dropout of whole channels of input (batch, channels, *)."""
    return _apply("feature_alpha_dropout", input, p, training, inplace)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of input (batch, channels, length) or (channels, length)."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that "
                           "dropout1d "
                           "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel "
                           "dimension, "
                           "and an optional batch dimension (i.e. 2D or 3D inputs).")
    return _batched(input, 3, p, training, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of input (batch, channels, height, width)."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    dims = input.dim()
    if dims not in (3, 4):
        warnings.warn(f"dropout2d: Received a {dims}-D input to dropout2d, which is deprecated and will result in an "
                      "error in a "
                      "future release. To retain the behavior and silence this warning, please use dropout instead. "
                      "Note that "
                      "dropout2d exists to provide channel-wise dropout on inputs with 2 spatial dimensions, a channel "
                      "dimension, and an optional batch dimension (i.e. 3D or 4D inputs).", stacklevel=2)
    if dims == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
                      "behavior is "
                      "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
                      "will "
                      "change in a future release to interpret the input as one without a batch dimension, i.e. "
                      "shape (C, H, "
                      "W). To maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
                      stacklevel=2)
    return _apply("feature_dropout", input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of input (batch, channels, depth, height, width), the batch optional."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if input.dim() not in (4, 5):
        warnings.warn(f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated and will "
                      "result in an "
                      "error in a future release. To retain the behavior and silence this warning, please use dropout "
                      "instead. Note that dropout3d exists to provide channel-wise dropout on inputs with 3 spatial "
                      "dimensions, a channel dimension, and an optional batch dimension (i.e. 4D or 5D inputs).",
                      stacklevel=2)
    return _batched(input, 5, p, training, inplace)


def _batched(input, dims, p, training, inplace):
    if input.dim() == dims:
        return _apply("feature_dropout", input, p, training, inplace)
    result = _apply("feature_dropout", input.unsqueeze(0), p, training, inplace)
    return input if inplace else result.squeeze(0)

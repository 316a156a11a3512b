"""Normalisation. Source: https://docs.pytorch.org/docs/stable/nn.functional.html#normalization-functions"""
from ... import ops

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]


def _check_count(size, what, text):
    count = size[0]
    for n in size[2:]:
        count *= n
    if what is None:
        count //= max(size[0], 1)
    if count == 1:
        raise ValueError(f"Expected more than 1 {text} when training, got input size {size}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalises every channel of input (batch, channels, *); in training also moves the running statistics.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.batch_norm.html
    """
    if training:
        _check_count(input.size(), "batch", "value per channel")
    if eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive, but got {eps}")
    return ops.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1,
                  eps=1e-5):
    """Normalises every channel of every example.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.instance_norm.html
    """
    if use_input_stats:
        _check_count(input.size(), None, "spatial element")
    if eps <= 0.0:
        raise ValueError(f"instance_norm eps must be positive, but got {eps}")
    return ops.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalises over the last dimensions, of shape normalized_shape.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.layer_norm.html
    """
    return ops.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalises groups of channels of each example.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.group_norm.html
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    size = input.size()
    count = size[0] * size[1] // num_groups if num_groups else 0
    for n in size[2:]:
        count *= n
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(size)}")
    return ops.group_norm(input, num_groups, weight, bias, eps)

"""Small conversions of layer arguments."""

from itertools import repeat


def ntuple(n):
    """A function that repeats a number n times and leaves sequences as tuples."""

    def parse(x):
        return tuple(x) if hasattr(x, "__iter__") else tuple(repeat(x, n))

    return parse


single, pair, triple, quadruple = ntuple(1), ntuple(2), ntuple(3), ntuple(4)
_ntuple, _single, _pair, _triple, _quadruple = ntuple, single, pair, triple, quadruple  # PyTorch's names


def reverse_repeat_tuple(t, n):
    """Each element n times, last element first: the order ``F.pad`` wants."""
    return tuple(x for x in reversed(t) for _ in range(n))


_reverse_repeat_tuple = reverse_repeat_tuple


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Removes `prefix` (as "module.") from the keys of a state dict, in place."""
    for key in list(state_dict.keys()):
        if key.startswith(prefix):
            state_dict[key[len(prefix):]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for key in list(metadata.keys()):
        if key and (key == prefix.rstrip(".") or key.startswith(prefix)):
            metadata[key[len(prefix):]] = metadata.pop(key)

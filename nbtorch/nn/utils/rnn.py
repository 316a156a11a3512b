"""Batches of sequences of different lengths. Source: https://docs.pytorch.org/docs/stable/nn.html#utilities"""

from collections import namedtuple
from collections.abc import Iterable

from ... import ops
from ...core.dtype import int64
from ...core.interop import as_tensor
from ...core.tensor import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence",
    "unpad_sequence", "pack_sequence", "unpack_sequence",
]

_Fields = namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])
_Fields.__name__ = _Fields.__qualname__ = "PackedSequence_"


def _each(tensor, function):
    return None if tensor is None else function(tensor)


class PackedSequence(_Fields):
    """Sequences packed step by step: `data` (sum of lengths, *), and how many sequences reach each step.

    Made by ``pack_padded_sequence`` and ``pack_sequence``, not by hand.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. "
                "Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence "
                "and pack_padded_sequences in nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """Moves or casts the data as ``Tensor.to`` does; returns self where nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = [_each(t, lambda t: t.to(data.device)) for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *moved)

    def pin_memory(self):
        """A copy in page-locked memory."""
        pinned = [_each(t, lambda t: t.pin_memory()) for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *pinned)

    def cuda(self, *args, **kwargs):
        """On a GPU."""
        return self.to(*args, **kwargs) if args or "device" in kwargs else self.to(device="cuda", **kwargs)

    def cpu(self, *args, **kwargs):
        """On the CPU."""
        return self.to(*args, **kwargs) if args or "device" in kwargs else self.to(device="cpu", **kwargs)

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the data is in page-locked memory."""
        return self.data.is_pinned()


def _add_cast(name):
    def cast(self):
        data = getattr(self.data, name)()
        return self if data is self.data else self.to(dtype=data.dtype)

    cast.__name__, cast.__doc__ = name, f"With its data as ``Tensor.{name}()`` casts it."
    setattr(PackedSequence, name, cast)


for _name in ("double", "float", "half", "long", "int", "short", "char", "byte"):
    _add_cast(_name)


def invert_permutation(permutation):
    """The permutation that undoes `permutation` (None stays None)."""
    if permutation is None:
        return None
    output = ops.empty_like(permutation)
    output[permutation] = ops.arange(permutation.numel(), device=permutation.device)
    return output


def _rows(lengths):
    """Positions, in a flattened (time, batch) grid, that a sequence reaches; and how many reach each step."""
    steps = ops.arange(int(lengths.max()))
    reached = steps.unsqueeze(1) < lengths.unsqueeze(0)  # (time, batch)
    return ops.nonzero(reached.reshape(-1)).reshape(-1), reached.sum(1)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs a padded batch (T, B, *), or (B, T, *) with `batch_first`.

    Raises RuntimeError for lengths that are not positive, not one for each sequence, or not in decreasing order
    (``enforce_sorted=False`` sorts them).
    """
    if isinstance(lengths, Tensor):
        lengths = lengths.to(dtype=int64)
        if lengths.device.type != "cpu":
            raise RuntimeError(
                f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D {lengths.device} "
                f"{str(lengths.dtype)[6:].capitalize()} tensor"
            )
    else:
        lengths = as_tensor(lengths, dtype=int64, device="cpu")
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = ops.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if batch_first:
        input = input.transpose(0, 1)
    _check_lengths(input, lengths)
    rows, batch_sizes = _rows(lengths)
    data = input.reshape(-1, *input.shape[2:]).index_select(0, rows.to(input.device))
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def _check_lengths(input, lengths):
    steps, batch = input.size(0), input.size(1)
    if lengths.dim() != 1 or lengths.size(0) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.numel()} (batch_size={batch})"
        )
    values = lengths.tolist()
    if min(values) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in zip(values, values[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if values[0] > steps:
        raise RuntimeError(f"Expected all lengths to be at most the padded length {steps}, but got {values[0]}")


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded batch and the lengths of a PackedSequence, in the original order.

    Raises ValueError when `total_length` is shorter than the longest sequence.
    """
    steps = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {steps}"
        )
    data, sizes = sequence.data, sequence.batch_sizes
    batch = int(sizes[0])
    lengths = (sizes.unsqueeze(1) > ops.arange(batch).unsqueeze(0)).sum(0)
    rows, _ = _rows(lengths)
    total = steps if total_length is None else total_length
    padded = ops.full((total * batch, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    padded = padded.index_copy(0, rows.to(data.device), data).reshape(total, batch, *data.shape[1:])
    if batch_first:
        padded = padded.transpose(0, 1)
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stacks tensors (L_i, *) into (T, B, *), or (B, T, *) with `batch_first`, padded to the longest."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(s.size(0) for s in sequences)
    rows = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing:
            filler = ops.full(
                (missing, *sequence.shape[1:]), padding_value, dtype=sequence.dtype, device=sequence.device
            )
            sequence = ops.cat([sequence, filler] if padding_side == "right" else [filler, sequence])
        rows.append(sequence)
    return ops.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The list of sequences of a padded batch."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[: int(length)] for sequence, length in zip(padded_sequences, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs a list of sequences (L_i, *)."""
    lengths = as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The list of sequences of a PackedSequence."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)

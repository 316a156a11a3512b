"""Datasets, samplers and collation against PyTorch, with golden facts for machines without it."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import nbtorch
from nbtorch.utils import data

Point = namedtuple("Point", "x y")
GOLDEN = {"random": [2, 5, 4, 6, 1, 7, 0, 3], "split": [[0, 3, 2, 4], [1, 5]]}


@pytest.fixture
def both():
    return nbtorch, pytest.importorskip("torch")


def draws(make, libraries):
    results = []
    for library in libraries:
        library.manual_seed(4)
        results.append([[int(i) if not isinstance(i, list) else i for i in make(library.utils.data, library)]
                        for _ in range(2)])
    return results


@pytest.mark.parametrize("make", [
    lambda d, t: d.RandomSampler(range(10)),
    lambda d, t: d.RandomSampler(range(10), num_samples=23),
    lambda d, t: d.RandomSampler(range(10), replacement=True, num_samples=40),
    lambda d, t: d.RandomSampler(range(10), generator=t.Generator().manual_seed(2)),
    lambda d, t: d.SubsetRandomSampler([3, 1, 4, 1, 5]),
    lambda d, t: d.WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 10),
    lambda d, t: d.WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 3, replacement=False),
    lambda d, t: d.BatchSampler(d.RandomSampler(range(10)), 3, False),
    lambda d, t: d.DistributedSampler(range(11), num_replicas=3, rank=1, seed=5),
    lambda d, t: d.DistributedSampler(range(11), num_replicas=3, rank=2, shuffle=False, drop_last=True),
    lambda d, t: d.DistributedSampler(range(2), num_replicas=5, rank=4),
])
def test_samplers_draw_as_torch(make, both):
    ours, theirs = draws(make, both)
    assert ours == theirs


def test_random_split_as_torch(both):
    splits = []
    for library in both:
        library.manual_seed(9)
        parts = library.utils.data.random_split(range(10), [0.5, 0.25, 0.25])
        again = library.utils.data.random_split(range(6), [4, 2], generator=library.Generator().manual_seed(42))
        splits.append([list(part.indices) for part in parts + again])
    assert splits[0] == splits[1]


def test_golden_draws():
    nbtorch.manual_seed(0)
    assert list(data.RandomSampler(range(8))) == GOLDEN["random"]
    split = data.random_split(range(6), [4, 2], generator=nbtorch.Generator().manual_seed(42))
    assert [list(part.indices) for part in split] == GOLDEN["split"]


def test_split_lengths_must_fit():
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset!"):
        data.random_split(range(3), [1, 1])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        data.random_split(range(1), [0.5, 0.5])


def test_views_of_datasets():
    a = data.TensorDataset(nbtorch.arange(4), nbtorch.arange(4) * 10)
    assert [int(x) for x in a[2]] == [2, 20] and len(a) == 4
    joined = a + data.TensorDataset(nbtorch.arange(2), nbtorch.arange(2))
    assert len(joined) == 6 and int(joined[4][0]) == 0 and int(joined[-1][0]) == 1
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        joined[-7]
    subset = data.Subset(range(10), [7, 8, 9])
    assert subset[1] == 8 and subset.__getitems__([0, 2]) == [7, 9] and len(subset) == 3
    stack = data.StackDataset(one=[1, 2], two=[3, 4])
    assert stack[1] == {"one": 2, "two": 4} and stack.__getitems__([0]) == [{"one": 1, "two": 3}]
    assert data.StackDataset([1, 2], [3, 4])[0] == (1, 3)
    with pytest.raises(ValueError, match="Size mismatch between datasets"):
        data.StackDataset([1], [2, 3])
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data.TensorDataset(nbtorch.zeros(1), nbtorch.zeros(2))

    class Counts(data.IterableDataset):
        def __iter__(self):
            return iter(range(2))

    assert list(Counts() + Counts()) == [0, 1, 0, 1]


BATCHES = [
    [1, 2], [1.5, 2.0], [True, False], ["a", "b"], [b"a"], [np.float32(1), np.float32(2)], [np.arange(3), np.arange(3)],
    [{"a": 1, "b": [2.0, "x"]}, {"a": 3, "b": [4.0, "y"]}], [(1, 2), (3, 4)], [[1, 2], [3, 4]], [Point(1, 2.0), Point(3, 4.0)],
    [OrderedDict(a=1), OrderedDict(a=2)], [np.zeros((2, 0)), np.zeros((2, 0))], [np.int8(1)], [np.bool_(True)],
]


def plain(value, tensor):
    """Types and values, without the library."""
    if isinstance(value, tensor):
        return str(value.dtype), tuple(value.shape), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, {k: plain(v, tensor) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(v, tensor) for v in value]
    return value


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("function", ["default_collate", "default_convert"])
def test_collate_as_torch(batch, function, both):
    ours, theirs = (plain(getattr(lib.utils.data, function)(batch), lib.Tensor) for lib in both)
    assert ours == theirs


def test_collate_of_tensors_and_errors():
    batch = data.default_collate([nbtorch.ones(2), nbtorch.zeros(2)])
    assert batch.tolist() == [[1, 1], [0, 0]]
    with pytest.raises(TypeError, match="default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists"):
        data.default_collate([object()])
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        data.default_collate([[1, 2], [1]])
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        data.default_collate([nbtorch.ones(2), nbtorch.ones(3)])


def test_rows_taken_at_once_are_what_collating_gives():
    dataset = data.TensorDataset(nbtorch.randn(7, 3), nbtorch.arange(7), nbtorch.randn(7, 2, 0))
    subset = data.Subset(dataset, [6, 2, 4])
    for part, indices in ((dataset, [3, 0, 6]), (subset, [2, 0]), (data.Subset(subset, [1]), [0])):
        quick = part._collated(indices)
        slow = data.default_collate([part[i] for i in indices])
        assert type(quick) is type(slow) is list
        for a, b in zip(quick, slow, strict=True):
            assert a.shape == b.shape and a.dtype is b.dtype and (a == b).all()

    class Scaled(data.TensorDataset):
        def __getitem__(self, index):
            return super().__getitem__(index)[0] * 0

    (batch,) = data.DataLoader(Scaled(nbtorch.ones(2, 2)), batch_size=2)
    assert batch.tolist() == [[0, 0], [0, 0]]


def test_bad_sampler_arguments():
    with pytest.raises(ValueError, match="num_samples should be a positive integer value, but got num_samples=0"):
        data.RandomSampler([])
    with pytest.raises(TypeError, match="replacement should be a boolean value"):
        data.RandomSampler([0], replacement=1)
    with pytest.raises(ValueError, match="Invalid rank 3"):
        data.DistributedSampler([0], num_replicas=2, rank=3)
    with pytest.raises(ValueError, match="weights should be a 1d sequence"):
        data.WeightedRandomSampler([[0.5]], 1)

"""Checkpoints between PyTorch and nbtorch, both ways; shared memory, views, parameters, devices."""
import collections
import io
import pathlib
import pickle
import zipfile

import pytest

import nbtorch
from nbtorch.nn.parameter import Parameter

FORMATS = [(True, 2), (True, 3), (True, 4), (True, 5), (False, 2)]


def sample(t, parameter):
    """The same object of either library."""
    base = t.arange(12.0).view(3, 4)
    p = parameter(t.ones(2, 2))
    return {"a": base, "v": base[1:, ::2], "p": p, "b": t.tensor([True, False]), "h": t.tensor([1.5], dtype=t.bfloat16),
            "c": t.ones(2, dtype=t.complex64), "i": t.arange(5), "e": t.empty(0, 3), "s": t.tensor(3.0),
            "od": collections.OrderedDict(x=1), "dtype": t.float16, "again": t.float16, "device": t.device("cpu"),
            "size": t.Size([1, 2]), "plain": [None, True, 1.5, "é", (1,), 2 ** 70, b"abc", {1, 2}, 3 + 4j, -1]}


def saved(save, obj, zipped=True, protocol=2):
    """Bytes of a checkpoint."""
    buffer = io.BytesIO()
    save(obj, buffer, pickle_protocol=protocol, _use_new_zipfile_serialization=zipped)
    buffer.seek(0)
    return buffer


def alike(ours, theirs):
    """Equal contents, whichever library holds them."""
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        mine = ours[key]
        if hasattr(value, "tolist") and hasattr(value, "stride"):
            assert (mine.tolist(), tuple(mine.shape), mine.stride(), str(mine.dtype), mine.requires_grad) == (
                value.tolist(), tuple(value.shape), value.stride(), str(value.dtype), value.requires_grad), key
        else:
            assert repr(mine) == repr(value), key


@pytest.mark.parametrize("zipped, protocol", FORMATS)
def test_pytorch_reads_ours(oracle, zipped, protocol):
    ours = sample(nbtorch, Parameter)
    theirs = oracle.load(saved(nbtorch.save, ours, zipped, protocol), weights_only=protocol == 2)
    alike(ours, theirs)
    assert isinstance(theirs["p"], oracle.nn.Parameter)
    assert theirs["v"].untyped_storage().data_ptr() == theirs["a"].untyped_storage().data_ptr()


@pytest.mark.parametrize("zipped, protocol", FORMATS)
@pytest.mark.parametrize("weights_only", [True, False])
def test_we_read_pytorchs(oracle, zipped, protocol, weights_only):
    theirs = sample(oracle, oracle.nn.Parameter)
    ours = nbtorch.load(saved(oracle.save, theirs, zipped, protocol), weights_only=weights_only)
    alike(ours, theirs)
    assert isinstance(ours["p"], Parameter) and ours["v"]._s is ours["a"]._s
    ours["a"][1, 0] = 77
    assert ours["v"][0, 0].item() == 77


@pytest.mark.parametrize("zipped, protocol", FORMATS)
def test_round_trip(zipped, protocol):
    before = sample(nbtorch, Parameter)
    after = nbtorch.load(saved(nbtorch.save, before, zipped, protocol))
    alike(after, before)
    assert after["v"]._s is after["a"]._s


def test_state_dicts_and_attributes_of_pytorch(oracle):
    model = oracle.nn.Sequential(oracle.nn.Linear(3, 4), oracle.nn.BatchNorm1d(4))
    p = oracle.nn.Parameter(oracle.ones(2))
    p.note = "kept"
    t = oracle.ones(1)
    t.unit = 3
    ours = nbtorch.load(saved(oracle.save, {"sd": model.state_dict(), "p": p, "t": t, "u": oracle.ones(2, dtype=oracle.uint16),
                                            "opt": oracle.optim.Adam(model.parameters()).state_dict()}))
    assert list(ours["sd"]) == list(model.state_dict()) and "version" in ours["sd"]._metadata["0"]
    assert ours["p"].note == "kept" and ours["t"].unit == 3 and str(ours["u"].dtype) == "torch.uint16"
    assert ours["opt"]["param_groups"][0]["lr"] == 0.001


def test_layout_of_the_file(tmp_path):
    path = tmp_path / "model.pt"
    nbtorch.save({"w": nbtorch.ones(3), "v": nbtorch.zeros(5)}, path)
    archive = zipfile.ZipFile(path)
    names = [i.filename for i in archive.infolist()]
    assert names == [f"model/{n}" for n in ("data.pkl", ".format_version", ".storage_alignment", "byteorder", "data/0",
                                            "data/1", "version", ".data/serialization_id")]
    data = path.read_bytes()
    for info in archive.infolist():
        head = data[info.header_offset:info.header_offset + 30]
        start = info.header_offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        assert start % 64 == 0 and info.compress_type == zipfile.ZIP_STORED
    assert b"nbtorch" not in archive.read("model/data.pkl")
    assert archive.testzip() is None


def test_mmap_reads_from_the_file(tmp_path):
    path = tmp_path / "m.pt"
    nbtorch.save({"w": nbtorch.arange(6.0)}, path)
    loaded = nbtorch.load(str(path), mmap=True)["w"]
    loaded[0] = 9
    assert loaded.tolist() == [9, 1, 2, 3, 4, 5]
    assert nbtorch.load(path)["w"].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.pt"
    nbtorch.save(1, path)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        nbtorch.save({"w": nbtorch.ones(3), "f": lambda: 1}, path)
    assert nbtorch.load(path) == 1
    assert [p.name for p in pathlib.Path(tmp_path).iterdir()] == ["m.pt"]


def test_map_location(oracle):
    data = saved(oracle.save, oracle.ones(2)).getvalue()
    seen = []
    for where in ("cpu", nbtorch.device("cpu"), {"cpu": "cpu"}, lambda s, loc: seen.append(loc) or s):
        assert nbtorch.load(io.BytesIO(data), map_location=where).tolist() == [1, 1]
    assert seen == ["cpu"]


def test_writing_to_a_stream_that_cannot_seek():
    class Pipe(io.RawIOBase):
        data = b""

        def writable(self):
            return True

        def write(self, b):
            self.data += bytes(b)
            return len(b)
    pipe = Pipe()
    nbtorch.save({"w": nbtorch.ones(3)}, pipe)
    assert nbtorch.load(io.BytesIO(pipe.data))["w"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_plain_pickle_keeps_sharing(protocol):
    before = sample(nbtorch, Parameter)
    after = pickle.loads(pickle.dumps(before, protocol))
    alike(after, before)
    assert after["v"]._s is after["a"]._s and isinstance(after["p"], Parameter)


def test_buffers_travel_out_of_band():
    buffers = []
    data = pickle.dumps(nbtorch.arange(1000.0), 5, buffer_callback=buffers.append)
    assert len(data) < 1000 and len(buffers) == 1
    assert pickle.loads(data, buffers=buffers).tolist() == list(range(1000))

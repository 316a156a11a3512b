"""What load refuses: code, lies about sizes, cut and altered files. Never a crash, a hang, or a call."""
import io
import os
import pickle
import random
import struct
import zipfile
import zlib

import numpy as np
import pytest

import nbtorch
from nbtorch.serialization import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    get_unsafe_globals_in_checkpoint,
    safe_globals,
)

CLEAN = (pickle.UnpicklingError, RuntimeError, EOFError, ValueError)


class Evil:
    """Pickles to a call of os.system."""

    def __reduce__(self):
        return os.system, ("echo executed > /dev/null",)


class Mine:
    """A user's class."""

    def __init__(self):
        self.x = 1


def checkpoint(body, storages=(b"\0" * 16,), compress=zipfile.ZIP_STORED):
    """A zip checkpoint around a hand-made pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compress) as z:
        z.writestr("archive/data.pkl", body)
        for i, data in enumerate(storages):
            z.writestr(f"archive/data/{i}", data)
    buffer.seek(0)
    return buffer


def tensor_pickle(count, offset, size, stride, key="0"):
    """The pickle of one float32 tensor with any numbers in it."""
    def number(n):
        return b"\x8a\x09" + n.to_bytes(9, "little", signed=True)

    def text(s):
        return b"X" + struct.pack("<I", len(s)) + s.encode()
    numbers = [b"(" + b"".join(map(number, v)) + b"t" for v in (size, stride)]
    return (b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\nFloatStorage\n" + text(key)
            + text("cpu") + number(count) + b"tQ" + number(offset) + numbers[0] + numbers[1]
            + b"\x89ccollections\nOrderedDict\n)RtR.")


def test_a_hand_made_tensor_loads():
    assert nbtorch.load(checkpoint(tensor_pickle(4, 1, (3,), (1,)))).tolist() == [0, 0, 0]


@pytest.mark.parametrize("numbers", [
    (4, 0, (5,), (1,)), (4, 2, (3,), (1,)), (4, 0, (2,), (4,)), (4, -1, (2,), (1,)), (4, 0, (-2,), (1,)),
    (4, 0, (2,), (-1,)), (1 << 40, 0, (2,), (1,)), (-4, 0, (2,), (1,)), (4, 0, (1 << 40, 1 << 40), (1, 1)),
    (4, 0, (2, 2), (1,)), (4, 1 << 62, (1,), (1,)), (4, 0, (1,) * 70, (1,) * 70)])
def test_tensors_outside_their_storage(numbers):
    with pytest.raises(CLEAN):
        nbtorch.load(checkpoint(tensor_pickle(*numbers)))


def test_a_record_that_is_not_there():
    with pytest.raises(RuntimeError, match="file not found"):
        nbtorch.load(checkpoint(tensor_pickle(4, 0, (1,), (1,), key="7")))
    with pytest.raises(pickle.UnpicklingError, match="key"):
        nbtorch.load(checkpoint(tensor_pickle(4, 0, (1,), (1,), key="../0")))


@pytest.mark.parametrize("thing, name", [(Evil(), "posix.system whose module posix is blocked"),
                                         ({"x": [Mine()]}, "tests.serialization.test_safety.Mine"),
                                         (np.ones(2), "numpy._core.multiarray._reconstruct"), (slice(1), "slice")])
def test_globals_are_refused_by_name(thing, name):
    buffer = io.BytesIO()
    nbtorch.save(thing, buffer)
    buffer.seek(0)
    if "posix" in name and os.name == "nt":
        name = "blocked"
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed") as error:
        nbtorch.load(buffer)
    assert name in str(error.value)


def test_safe_globals():
    buffer = io.BytesIO()
    nbtorch.save({"m": Mine()}, buffer)
    assert get_unsafe_globals_in_checkpoint(io.BytesIO(buffer.getvalue())) == ["tests.serialization.test_safety.Mine"]
    with safe_globals([Mine]):
        assert nbtorch.load(io.BytesIO(buffer.getvalue()))["m"].x == 1
        assert get_safe_globals() == [Mine]
    with pytest.raises(pickle.UnpicklingError):
        nbtorch.load(io.BytesIO(buffer.getvalue()))
    add_safe_globals([(Mine, "tests.serialization.test_safety.Mine")])
    try:
        assert nbtorch.load(io.BytesIO(buffer.getvalue()))["m"].x == 1
    finally:
        clear_safe_globals()
    assert nbtorch.load(io.BytesIO(buffer.getvalue()), weights_only=False)["m"].x == 1


@pytest.mark.parametrize("body", [
    b"\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R.", b"\x80\x02cos\nsystem\n.", b"\x80\x02ios\nsystem\n.",
    b"\x80\x02cbuiltins\nbytearray\n\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85R.",
    b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00hex\x86R.", b"\x80\x02ctorch\nTensor\nK\x05\x85R.",
    b"\x80\x02ctorch\nFloatStorage\n)R.", b"\x80\x02]}b.", b"\x80\x02}}b.", b"\x80\x02K\x01K\x02a.", b"\x80\x02t.", b"\x80\x02.",
    b"\x80\x02(((((((.", b"\x80\x02h\x05.", b"\x80\x09N.", b"\x80\x02X\xff\xff\xff\xffa.", b"\x80\x02P0\n.", b"", b"\x80",
    b"\x80\x02ctorch._utils\n_rebuild_parameter\n(K\x01\x88}tR.", b"\x80\x02" + b"(" * (1 << 21) + b".",
    b"\x80\x02X\x07\x00\x00\x00storageQ.", b"\x80\x02ccollections\nOrderedDict\n)\x81X\x01\x00\x00\x00ab.",
    b"\x80\x02ctorch.nn\nLinear\n)\x81.", b"\x80\x02]]\x85Q.", b"\x80\x02\x8a\xff.",
], ids=range(26))
def test_hostile_pickles(body):
    with pytest.raises(CLEAN):
        nbtorch.load(checkpoint(body))


def test_a_zip_bomb_is_refused():
    with pytest.raises(RuntimeError, match="claim"):
        nbtorch.load(checkpoint(tensor_pickle(1 << 26, 0, (1,), (1,)), [bytes(1 << 28)], zipfile.ZIP_DEFLATED))


def test_honest_compression_is_read():
    data = np.arange(64, dtype=np.float32).tobytes()
    loaded = nbtorch.load(checkpoint(tensor_pickle(64, 0, (64,), (1,)), [data], zipfile.ZIP_DEFLATED))
    assert loaded.tolist() == list(range(64))


def test_cut_and_altered_files():
    buffer = io.BytesIO()
    nbtorch.save({"w": nbtorch.arange(100.0), "v": [1, "text", nbtorch.ones(3, 4)]}, buffer)
    data, rng = buffer.getvalue(), random.Random(0)
    for cut in (1, 4, 30, 100, len(data) // 2, len(data) - 1):
        with pytest.raises(CLEAN):
            nbtorch.load(io.BytesIO(data[:cut]))
    for _ in range(1500):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 8)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        try:
            nbtorch.load(io.BytesIO(bytes(changed)))
        except CLEAN:
            continue


def test_altered_pickles_with_a_right_checksum():
    buffer = io.BytesIO()
    nbtorch.save({"w": nbtorch.arange(4.0), "v": [1, "text", (nbtorch.ones(2, 2), 2.5)]}, buffer)
    body, rng = zipfile.ZipFile(buffer).read("archive/data.pkl"), random.Random(1)
    for _ in range(1500):
        changed = bytearray(body)
        for _ in range(rng.randint(1, 6)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        try:
            nbtorch.load(checkpoint(bytes(changed), [bytes(16), bytes(16)]))
        except CLEAN:
            continue


def test_a_wrong_checksum_is_noticed():
    buffer = io.BytesIO()
    nbtorch.save(nbtorch.ones(1000), buffer)
    data = bytearray(buffer.getvalue())
    at = data.index(nbtorch.ones(100).numpy().tobytes())
    data[at + 40] ^= 1
    assert zlib.crc32(bytes(data)) != zlib.crc32(buffer.getvalue())
    with pytest.raises(RuntimeError, match="CRC"):
        nbtorch.load(io.BytesIO(bytes(data)))


def test_arguments():
    with pytest.raises(AttributeError, match="write"):
        nbtorch.save(1, 5)
    with pytest.raises(AttributeError, match="seek"):
        nbtorch.load(5)
    with pytest.raises(FileNotFoundError):
        nbtorch.load("no such file.pt")
    with pytest.raises(RuntimeError, match="does not exist"):
        nbtorch.save(1, os.path.join("no such folder", "m.pt"))
    with pytest.raises(ValueError, match="mmap"):
        nbtorch.load(io.BytesIO(b"x"), mmap=True)
    with pytest.raises(RuntimeError, match="pickle_module"):
        nbtorch.load(io.BytesIO(b"x"), pickle_module=pickle, weights_only=True)
    with pytest.raises(RuntimeError, match="CUDA"):
        buffer = io.BytesIO()
        nbtorch.save(nbtorch.ones(1), buffer)
        nbtorch.load(io.BytesIO(buffer.getvalue()), map_location="cuda")
    with pytest.raises(EOFError):
        nbtorch.load(io.BytesIO(b""))

"""Frames on an authenticated connection: a small JSON header, then one raw buffer. Nothing is ever unpickled."""

import json
import socket

import numpy as np

HEADER_LIMIT = 1 << 20


def named_dtype(name):
    """The NumPy dtype of a name on the wire; the half types NumPy lacks come from ml_dtypes."""
    if name == "bfloat16":
        from ...backend.dtypes import bfloat16

        return np.dtype(bfloat16())
    dtype = np.dtype(name)
    if dtype.kind not in "biufc":
        raise ValueError(f"dtype {name!r} does not travel")
    return dtype


def prompt(conn):
    """Send small frames at once: TCP otherwise holds the second of two back until the first is acknowledged
    (40 ms).
    """
    raw = socket.socket(fileno=conn.fileno())
    try:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    finally:
        raw.detach()  # the descriptor stays the connection's


def send(conn, header, array=None):
    """Send a header and, with an array, its bytes in C order."""
    if array is not None:
        array = np.asarray(array, order="C")
        header = {**header, "dtype": array.dtype.name, "shape": list(array.shape)}
    conn.send_bytes(json.dumps(header).encode())
    if array is not None:
        conn.send_bytes(array.reshape(-1).view(np.uint8).data if array.size else b"")


def receive(conn):
    """(header, array or None); raises EOFError or OSError when the peer is gone, ValueError on a malformed
    frame.
    """
    header = json.loads(conn.recv_bytes(HEADER_LIMIT))
    if not isinstance(header, dict):
        raise ValueError("malformed frame")
    if "dtype" not in header:
        return header, None
    dtype, shape = named_dtype(header["dtype"]), tuple(int(n) for n in header["shape"])
    expected = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if expected == 0:
        conn.recv_bytes(1)
        return header, np.zeros(shape, dtype)
    data = bytearray(expected)
    got = conn.recv_bytes_into(data)
    if got != expected:
        raise ValueError(f"frame of {got} bytes where {expected} were announced")
    return header, np.frombuffer(data, dtype).reshape(shape)


_REDUCE = {
    "sum": np.add,
    "avg": np.add,
    "product": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
}


def reduce(op, arrays):
    """Reduce equal-shaped arrays in rank order, so the same ranks always give the same bits.

    Half types are summed in float32 and rounded once.
    """
    first = arrays[0]
    if first.dtype.kind == "c" and op in ("max", "min"):
        raise ValueError(f"all_reduce does not support {op.upper()} on complex tensors")
    if op == "avg" and first.dtype.kind in "biu":
        raise ValueError("AVG needs a floating point tensor")
    half = first.dtype.itemsize == 2 and first.dtype.kind not in "iu"
    total = first.astype(np.float32) if half else np.array(first)
    for array in arrays[1:]:
        total = _REDUCE[op](total, array.astype(np.float32) if half else array)
    if op == "avg":
        total = total / np.asarray(len(arrays), total.real.dtype)
    return total.astype(first.dtype, copy=False)


def compute(kind, header, arrays):
    """{rank: result array} of one complete collective."""
    size, root = len(arrays), header.get("root")
    everyone = range(size)
    if kind == "barrier":
        return {}
    if kind == "all_reduce":
        return dict.fromkeys(everyone, reduce(header["op"], arrays))
    if kind == "reduce":
        return {root: reduce(header["op"], arrays)}
    if kind == "broadcast":
        return {rank: arrays[root] for rank in everyone if rank != root}
    if kind == "all_gather":
        return dict.fromkeys(everyone, np.stack(arrays))
    if kind == "gather":
        return {root: np.stack(arrays)}
    if kind == "scatter":
        if arrays[root] is None or len(arrays[root]) != size:
            raise ValueError("scatter needs one tensor per rank on its source")
        return dict(enumerate(arrays[root]))
    if kind == "reduce_scatter":
        total = reduce(header["op"], arrays)
        return dict(enumerate(total.reshape((size, total.shape[0] // size, *total.shape[1:]))))
    raise ValueError(f"unknown collective {kind!r}")

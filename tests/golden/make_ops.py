"""Writes ops.json: what torch answers for the first samples of every op. Run: python -m tests.golden.make_ops"""
import json
import warnings
from pathlib import Path

from tests.ops.harness import array_of, function_of, load, public_records, tensors_of, to
from tests.ops.test_matrix import gradients

FILE = Path(__file__).with_name("ops.json")
MOST = 24                                         # numbers kept of each result


def numbers(array):
    """The first numbers of an array, as JSON can hold them."""
    flat = array.reshape(-1)[:MOST]
    if array.dtype.kind == "c":
        return [[float(f"{v.real:.7g}"), float(f"{v.imag:.7g}")] for v in flat]
    return [v if isinstance(v, (bool, int)) else float(f"{v:.7g}") for v in flat.tolist()]


def facts(tensors):
    """[dtype, shape, numbers] of each tensor."""
    found = []
    for t in tensors:
        array, name = array_of(t)
        found.append([name, list(array.shape), numbers(array)])
    return found


def answers(T, record, samples):
    """{"float32": [...], "grad": [...]} of an op in framework T; None where it refuses."""
    row = {}
    for dtype in ("float32", "complex64", "int64"):
        if dtype in samples.dtypes:
            args, kwargs, _ = to(T, samples.make(record.name, dtype)[0])
            T.manual_seed(7)
            try:
                row[dtype] = facts(tensors_of(function_of(T, record)(*args, **kwargs)))
            except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, ZeroDivisionError):
                row[dtype] = None
    if samples.grad and "float64" in samples.dtypes:
        try:
            grads = gradients(T, record, samples.make(record.name, "float64")[0], 1)
            row["grad"] = None if grads is None else [None if g is None else facts([g])[0] for g in grads]
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
            row["grad"] = None
    return row


def main():
    """Ask torch and write the file."""
    import torch
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    samples, records, table = load(), public_records(), {}
    for name in sorted(samples):
        if name in records and samples[name].values and function_of(torch, records[name]) is not None:
            table[name] = answers(torch, records[name], samples[name])
    FILE.write_text("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(r)}" for n, r in table.items()) + "\n}\n",
                    encoding="utf-8")
    print(f"{len(table)} ops, {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()

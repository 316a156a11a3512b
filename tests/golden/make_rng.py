"""Writes rng.json from PyTorch's CPU generator: run with torch installed, `python tests/golden/make_rng.py`.

For every case the first values (as hexadecimal bytes), a checksum of all of them where they must be equal to
the last bit, and a checksum of the generator's state afterwards.
"""
import json
import pathlib
import warnings
import zlib

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTS = ("bool", "uint8", "int8", "int16", "int32", "int64")
SIZES = (1, 3, 15, 16, 17, 33, 1000, 70001)
SEED = 20240613


def cases():
    """(method, arguments, dtype, size) of every fill."""
    for dtype in FLOATS:
        for n in SIZES:
            for method, args in (("uniform_", ()), ("uniform_", (-0.1, 0.1)), ("uniform_", (-3, 7.3)), ("normal_", ()),
                                 ("normal_", (0, 0.02)), ("normal_", (2, 3)), ("exponential_", (2.5,)),
                                 ("cauchy_", (0.5, 2.5)), ("log_normal_", (0.5, 0.7))):
                yield method, args, dtype, n
    for dtype in FLOATS + INTS:
        for n in (1, 33, 40000):
            yield "random_", (), dtype, n
            yield "bernoulli_", (0.3,), dtype, n
            if dtype != "bool":
                yield "geometric_", (0.3,), dtype, n
    for args in ((3, 100), (-5, 100), (0, 1 << 28), (-(1 << 40), 1 << 40), (0, (1 << 63) - 1), (-(1 << 63), None)):
        for n in (7, 40000):
            yield "random_", args, "int64", n
    for dtype in ("uint8", "int8", "int32", "float32", "float16"):
        yield "random_", (3, 100), dtype, 1000
    for args in ((0, 1 << 28), (-(1 << 40), 1 << 40)):
        for dtype in ("float32", "float64", "bfloat16"):
            yield "random_", args, dtype, 1000


def exact(method, dtype):
    """Whether the values are equal to the last bit, not only to float tolerance."""
    return dtype != "float64" or method in ("uniform_", "random_", "bernoulli_", "geometric_")


def raw(tensor):
    """Bytes of a tensor."""
    import torch
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def main():
    """Write the file."""
    import torch
    warnings.simplefilter("ignore")
    rows = []
    for method, args, dtype, n in cases():
        torch.manual_seed(SEED)
        data = raw(getattr(torch.empty(n, dtype=getattr(torch, dtype)), method)(*args))
        row = {"fill": method, "args": args, "dtype": dtype, "n": n, "first": data[:128].hex(),
               "state": zlib.crc32(torch.get_rng_state().numpy().tobytes())}
        if exact(method, dtype):
            row["all"] = zlib.crc32(data)
        rows.append(row)
    draws = {}
    for n in (0, 1, 2, 10, 5000, 70000):
        torch.manual_seed(SEED)
        draws[f"randperm {n}"] = zlib.crc32(torch.randperm(n).numpy().tobytes())
    for dtype in FLOATS:
        weights = torch.arange(1, 13, dtype=torch.float64).reshape(2, 6).div(16).to(getattr(torch, dtype))
        for count, replacement in ((500, True), (1, False), (4, False), (1, True)):
            torch.manual_seed(SEED)
            draws[f"multinomial {dtype} {count} {replacement}"] = torch.multinomial(weights, count, replacement).tolist()
    out = {"torch": torch.__version__, "seed": SEED, "fills": rows, "draws": draws}
    text = json.dumps(out, separators=(",", ":")).replace('{"fill"', '\n{"fill"').replace('"randperm 0"', '\n"randperm 0"')
    pathlib.Path(__file__).with_name("rng.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

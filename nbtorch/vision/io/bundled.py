"""Reading the data files that ship inside the package, checked against their digests."""
import hashlib
import io
from pathlib import Path

import numpy as np

from ...core.interop import tensor


def read_bundled(path, sha256):
    """{name: tensor} of an .npz file that ships with nbtorch.

    Raises FileNotFoundError when it is missing and RuntimeError when its bytes are not the expected ones; both say
    how to get it back.
    """
    path = Path(path)
    advice = ("To restore it, in nbtorch's source folder: git checkout nbtorch/vision, and if nbtorch is not installed "
              "with -e: pip install --force-reinstall --no-deps .")
    if not path.is_file():
        raise FileNotFoundError(f"the data file {path} is missing. {advice}")
    raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise RuntimeError(f"the data file {path} is damaged ({len(raw)} bytes, its SHA-256 is not the expected one). "
                           f"{advice}")
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        return {name: tensor(arrays[name]) for name in arrays.files}

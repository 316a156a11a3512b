"""How the ranks of a group find each other and the key that lets them in.

``file:///path`` is the usual way: rank 0 takes any free port, makes a fresh key and writes both into a file
that only this user can read.  ``env://`` and ``tcp://127.0.0.1:port`` need the key in ``NBTORCH_DIST_KEY``,
since a port alone would let any local process in.
"""

import json
import os
import secrets
import time
from urllib.parse import unquote, urlparse

_LOOPBACK = ("127.0.0.1", "localhost", "")


def _env(name):
    value = os.environ.get(name)
    if value is None:
        raise ValueError(
            "Error initializing torch.distributed using env:// rendezvous: environment variable "
            f"{name} expected, but not set"
        )
    return value


def _file_path(url):
    path = unquote(url.netloc + url.path) if url.netloc and url.netloc != "localhost" else unquote(url.path)
    if os.name == "nt" and len(path) > 2 and path[0] == "/" and path[2] == ":":
        path = path[1:]
    return path


def publish(path, port, key):
    """Write where the group listens, readable by this user only, all at once."""
    temporary = f"{path}.{os.getpid()}.{secrets.token_hex(4)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"port": port, "key": key.hex()}, file)
    os.replace(temporary, path)


def lookup(path, timeout):
    """(port, key) from the file rank 0 writes; waits until it is there."""
    end = time.monotonic() + timeout
    while True:
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
            return int(found["port"]), bytes.fromhex(found["key"])
        except FileNotFoundError:
            if time.monotonic() > end:
                raise RuntimeError(
                    f"init_process_group: timed out after {timeout:g} s waiting for rank 0 to join the group"
                ) from None
            time.sleep(0.02)


def where(init_method, rank, world_size):
    """(path or None, port, key, rank, world_size) of an init_method."""
    url = urlparse(init_method or "env://")
    if url.scheme == "file":
        return _file_path(url), 0, None, rank, world_size
    if url.scheme not in ("env", "tcp"):
        raise RuntimeError(f"No rendezvous handler for {url.scheme}://")
    if url.scheme == "env":
        rank = int(_env("RANK")) if rank < 0 else rank
        world_size = int(_env("WORLD_SIZE")) if world_size < 0 else world_size
        host, port = os.environ.get("MASTER_ADDR", "127.0.0.1"), int(_env("MASTER_PORT"))
    else:
        host, port = url.hostname or "", url.port or 0
    if host not in _LOOPBACK:
        raise RuntimeError(
            f"init_process_group: this backend joins ranks of one machine only (127.0.0.1), not {host!r}"
        )
    secret = os.environ.get("NBTORCH_DIST_KEY")
    if not secret:
        raise RuntimeError(
            "init_process_group: set NBTORCH_DIST_KEY to the same secret on all ranks, or use "
            "init_method='file:///path' which makes one"
        )
    return None, port, secret.encode(), rank, world_size

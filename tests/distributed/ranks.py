"""Ranks as threads of one process: each has its own connection to the group's hub."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

from nbtorch.distributed.group import form


@contextlib.contextmanager
def groups(size, folder, timeout=10.0):
    """`size` joined process groups."""
    path = "file://" + str(folder / "meet")
    with ThreadPoolExecutor(size) as pool:
        made = list(pool.map(lambda rank: form(path, rank, size, timeout), range(size)))
        try:
            yield made
        finally:
            for group in made[1:] + made[:1]:
                group.close()


def each(made, function):
    """function(group) on every rank at once; results by rank."""
    with ThreadPoolExecutor(len(made)) as pool:
        return [future.result(60) for future in [pool.submit(function, group) for group in made]]

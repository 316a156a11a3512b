"""What runs inside an engine: its rank, its place in the process group, and the watch that ends it with its
kernel.
"""

import datetime
import os
import shutil
import threading
import time


def setup(rank, size, meeting, seed, timeout, owner):
    """Make this engine rank `rank` of `size`; returns its process id.

    owner: (pid, start time) of the kernel, the same of the controller, and the cluster's folder.
    """
    os.environ.update(
        {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_WORLD_SIZE": str(size)}
    )
    import nbtorch
    import nbtorch.distributed as dist

    threading.Thread(target=_watch, args=owner, name="nbtorch-owner-watch", daemon=True).start()
    _load()
    if hasattr(nbtorch, "set_num_threads"):
        nbtorch.set_num_threads(max(1, (os.cpu_count() or 1) // size))
    if hasattr(nbtorch, "manual_seed"):
        nbtorch.manual_seed(seed)
    dist.destroy_process_group()
    dist.init_process_group(
        "nb",
        init_method="file://" + meeting,
        rank=rank,
        world_size=size,
        timeout=datetime.timedelta(seconds=timeout),
    )
    _user_names(nbtorch, dist, rank, size)
    return os.getpid()


def _load():
    """Our magics in the engine's shell, so that a cell for ranks may begin with another of our headers."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.run_line_magic("load_ext", "nbtorch")


def _user_names(nbtorch, dist, rank, size):
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.push({"torch": nbtorch, "dist": dist, "rank": rank, "world_size": size}, interactive=False)


def start_time(pid):
    """When a process began, to tell it from a later one of the same number; None when there is none."""
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def remove(folder, tries=10):
    """Delete a folder in which processes that are ending may still write or delete."""
    for _ in range(tries):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.1)


def _watch(pid, began, controller, folder):
    """End this engine, and the controller, when the kernel that started them is gone without having said so."""
    while start_time(pid) == began:
        time.sleep(1.0)
    if controller is not None and start_time(controller[0]) == controller[1]:
        import psutil

        try:
            psutil.Process(controller[0]).terminate()
        except psutil.Error:
            controller = None  # somebody else was faster
    remove(folder)
    os._exit(1)


def leave():
    """Leave the process group."""
    import nbtorch.distributed as dist

    dist.destroy_process_group()


def resync(generation):
    """Step over collectives that an interrupted cell left half done."""
    from nbtorch.distributed.collectives import get_default_group

    get_default_group().resync(generation)

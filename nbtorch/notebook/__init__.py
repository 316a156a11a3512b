"""Everything of Jupyter is here: magics, cell contexts, views, comms and engines. ``%load_ext nbtorch`` calls
``load``.
"""


def load_ipython_extension(ip):
    """Install nbtorch's magics and observers in a shell; loading twice does nothing."""
    from .extension import load

    load(ip)


def unload_ipython_extension(ip):
    """Remove every hook that ``load_ipython_extension`` installed."""
    from .extension import unload

    unload(ip)

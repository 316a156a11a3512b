"""Anomaly detection: which forward call made the node whose gradient became NaN.

An observer of the node stream and a hook on each node; the engine knows nothing of it.
"""
import traceback
import warnings

from .. import ops
from ..events.bus import subscribe
from ..events.records import NodeMade

_mode = {"enabled": False, "check_nan": True, "subscription": None}


def is_anomaly_enabled():
    """Whether anomaly detection is on."""
    return _mode["enabled"]


def is_anomaly_check_nan_enabled():
    """Whether NaN gradients raise while anomaly detection is on."""
    return _mode["check_nan"]


def _observe(record):
    """Remember where a node was made, as text, and check what it returns."""
    if isinstance(record, NodeMade):
        place = "".join(traceback.format_list(_outside(traceback.extract_stack())))
        record.node.metadata["traceback_"] = place
        if _mode["check_nan"]:
            record.node.register_hook(_checker(record.node.name(), place))


def _outside(frames):
    """The user's frames: up to the first one inside this package."""
    inside = __name__.partition(".")[0]
    kept = []
    for frame in frames:
        if f"/{inside}/core/" in frame.filename.replace("\\", "/") or frame.filename.startswith(f"<{inside} op"):
            break
        kept.append(frame)
    return kept


def _checker(name, place):
    def check(grad_inputs, grad_outputs):
        for i, g in enumerate(grad_inputs):
            if g is not None and bool(ops.isnan(g.detach()).any()):
                warnings.warn(f"Error detected in {name}. Traceback of forward call that caused the error:\n{place}",
                              UserWarning, stacklevel=2)
                raise RuntimeError(f"Function '{name}' returned nan values in its {i}th output.")
    return check


def _switch(enabled, check_nan):
    if enabled and _mode["subscription"] is None:
        _mode["subscription"] = subscribe(_observe, light=True)
    elif not enabled and _mode["subscription"] is not None:
        _mode["subscription"].close()
        _mode["subscription"] = None
    _mode["enabled"], _mode["check_nan"] = enabled, check_nan


class set_detect_anomaly:
    """Turn anomaly detection on or off, at once and as a context manager.

    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.set_detect_anomaly
    """

    def __init__(self, mode, check_nan=True):
        self.before = _mode["enabled"], _mode["check_nan"]
        _switch(bool(mode), bool(check_nan))

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        _switch(*self.before)


class detect_anomaly(set_detect_anomaly):
    """Inside, each node remembers the forward call that made it, and a NaN gradient is an error naming it.

    Only nodes made inside are watched. Costs a stack walk per node.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.detect_anomaly
    """

    def __init__(self, check_nan=True):
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled "
                      "for debugging.", stacklevel=2)
        self.before = _mode["enabled"], _mode["check_nan"]
        self.wanted = bool(check_nan)

    def __enter__(self):
        _switch(True, self.wanted)

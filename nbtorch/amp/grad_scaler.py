"""Dynamic loss scaling, so that small float16 gradients do not vanish."""

import warnings
from collections import defaultdict
from enum import Enum

from ..core.dtype import float16, float32, int32
from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..events.bus import bus, emit
from ..events.records import Scale


class OptState(Enum):
    """Where an optimizer is between two updates."""

    READY, UNSCALED, STEPPED = 0, 1, 2


def _fresh():
    return {"stage": OptState.READY, "found_inf": None}


def _scalar(value, dtype, device):
    from .. import ops

    return ops.full((), value, dtype=dtype, device=device)


class GradScaler:
    """Multiplies the loss, divides the gradients again, and skips steps whose gradients overflowed.

    https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
    """

    def __init__(
        self,
        device="cuda",
        init_scale=2.0**16,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        self._device, self._enabled = device, enabled
        if device == "cuda" and enabled:
            from ..cuda import is_available

            if not is_available():
                warnings.warn(
                    "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                    stacklevel=2,
                )
                self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale, self._init_growth_tracker = init_scale, 0
            self._growth_factor, self._backoff_factor, self._growth_interval = (
                growth_factor,
                backoff_factor,
                growth_interval,
            )
            self._scale = self._growth_tracker = None
            self._states = defaultdict(_fresh)

    # ---- scaling --------------------------------------------------------------------

    def _start(self, device):
        if self._scale is None:
            self._scale = _scalar(self._init_scale, float32, device)
            self._growth_tracker = _scalar(self._init_growth_tracker, int32, device)

    def _check(self, caller):
        fix = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        if self._scale is None:
            raise AssertionError(f"Attempted {caller} but _scale is None.  " + fix)

    def scale(self, outputs):
        """Outputs (a Tensor or nested iterables of them) times the current scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            self._start(outputs.device)
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(each) for each in outputs)
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(self, optimizer, inverse, allow_fp16):
        """Divide all gradients by the scale; whether one of them is not finite."""
        found = False
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    grad = param.grad
                    if grad is None:
                        continue
                    if grad.dtype is float16 and not allow_fp16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    if inverse != 1.0:
                        grad.mul_(inverse)
                    found = found or not grad.isfinite().all().item()
        return found

    def unscale_(self, optimizer):
        """Divide this optimizer's gradients by the scale, once between updates. RuntimeError when repeated."""
        if not self._enabled:
            return
        self._check("unscale_")
        state = self._states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = (self._scale.double().reciprocal()).item()
        state["found_inf"] = self._unscale_grads_(optimizer, inverse, False)
        state["stage"] = OptState.UNSCALED

    # ---- stepping --------------------------------------------------------------------

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), unless its gradients overflowed; unscales them first if that was not done.
        Returns what the optimizer's step returned, None for a skipped one.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check("step")
        state = self._states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not any(p.grad is not None for group in optimizer.param_groups for p in group["params"]):
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if state["found_inf"] else optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """Back off after an overflow, grow after growth_interval clean steps; or set new_scale."""
        if not self._enabled:
            return
        self._check("update")
        old, overflow = self._scale.item(), False
        if new_scale is not None:
            self._set(new_scale)
        else:
            found = [state["found_inf"] for state in self._states.values() if state["found_inf"] is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            overflow = any(found)
            self._move(overflow)
        self._states = defaultdict(_fresh)
        if bus.subscribers:
            emit(Scale(old, self._scale.item(), overflow))

    def _set(self, new_scale):
        if isinstance(new_scale, float):
            self._scale.fill_(new_scale)
            return
        reason = (
            "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
            "requires_grad=False."
        )
        if not isinstance(new_scale, Tensor) or new_scale.numel() != 1 or new_scale.requires_grad:
            raise AssertionError(reason)
        self._scale.copy_(new_scale.reshape(()))

    def _move(self, overflow):
        if overflow:
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker.fill_(0)
            return
        successful = self._growth_tracker.item() + 1
        if successful == self._growth_interval:
            grown = self._scale * self._growth_factor
            if grown.isfinite().item():  # the scale stops at float32's end
                self._scale.copy_(grown)
            successful = 0
        self._growth_tracker.fill_(successful)

    # ---- state --------------------------------------------------------------------

    def get_scale(self):
        """The current scale as a Python float; 1.0 when disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        """Factor of growth."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Set the factor of growth."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """Factor of backing off."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Set the factor of backing off."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """Clean steps between two growths."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Set the number of clean steps between two growths."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self):
        """Whether scaling is on."""
        return self._enabled

    def state_dict(self):
        """Scale, factors, interval and tracker; empty when disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict):
        """Take over what state_dict() returned. RuntimeError for an empty one (saved by a disabled scaler)."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved "
                "from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self):
        state = self.__dict__.copy()
        if self._enabled:
            if len(self._states) != 0:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, "
                    "or at the end after scaler.update()."
                )
            state.update(
                _init_scale=self.get_scale(),
                _init_growth_tracker=self._get_growth_tracker(),
                _scale=None,
                _growth_tracker=None,
            )
        return state

"""L-BFGS, with a line search that satisfies the strong Wolfe conditions."""
from .. import ops
from ..core.modes import enable_grad, no_grad
from .optimizer import Optimizer, number, one_element

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Limited-memory BFGS. https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html"""

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None):
        one_element("lr", lr)
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
                                      tolerance_grad=tolerance_grad, tolerance_change=tolerance_change,
                                      history_size=history_size, line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # ------------------------------------------------------------ all parameters as one vector

    def _gather_flat_grad(self):
        pieces = []
        for p in self._params:
            g = ops.zeros_like(p) if p.grad is None else p.grad
            pieces.append((ops.view_as_real(g) if g.is_complex() else g).reshape(-1))
        return ops.cat(pieces, 0)

    def _add_grad(self, step, direction):
        offset = 0
        for p in self._params:
            real = ops.view_as_real(p) if p.is_complex() else p
            n = real.numel()
            real.add_(direction[offset:offset + n].view_as(real), alpha=step)
            offset += n

    def _evaluate(self, closure, start, step, direction):
        """(loss, gradient) at `start` + step * direction; the parameters are put back."""
        self._add_grad(step, direction)
        loss = float(closure())
        gradient = self._gather_flat_grad()
        for p, value in zip(self._params, start):
            p.copy_(value)
        return loss, gradient

    # ------------------------------------------------------------ the step

    @no_grad()
    def step(self, closure):
        """Up to `max_iter` iterations; `closure` clears the gradients, computes the loss and its gradients."""
        def evaluate():
            with enable_grad():
                return closure()
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss, evals = float(first), 1
        state["func_evals"] += 1
        g = self._gather_flat_grad()
        if g.abs().max().item() <= group["tolerance_grad"]:
            return first
        for i in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            self._direction(state, g, group["history_size"])
            before, state["prev_flat_grad"], state["prev_loss"] = loss, g.clone(), loss
            lr = number(group["lr"])
            t = min(1.0, 1.0 / g.abs().sum().item()) * lr if state["n_iter"] == 1 else lr
            state["t"] = t
            d = state["d"]
            slope = g.dot(d).item()
            if slope > -group["tolerance_change"]:
                break
            loss, g, used = self._move(evaluate, state, loss, g, slope, group, evals, i == group["max_iter"])
            evals += used
            state["func_evals"] += used
            if i == group["max_iter"] or evals >= group["max_eval"]:
                break
            if g.abs().max().item() <= group["tolerance_grad"]:
                break
            if (d * state["t"]).abs().max().item() <= group["tolerance_change"]:
                break
            if abs(loss - before) < group["tolerance_change"]:
                break
        return first

    def _direction(self, state, g, history):
        """Set state["d"] to the quasi-Newton direction."""
        if state["n_iter"] == 1:
            state.update(d=-g, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        y, s = g - state["prev_flat_grad"], state["d"] * state["t"]
        ys = y.dot(s).item()
        if ys > 1e-10:
            if len(dirs) == history:
                for kept in (dirs, steps, ro):
                    kept.pop(0)
            dirs.append(y)
            steps.append(s)
            ro.append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y).item()
        q, al = -g, [0.0] * len(dirs)
        for i in range(len(dirs) - 1, -1, -1):
            al[i] = steps[i].dot(q).item() * ro[i]
            q.add_(dirs[i], alpha=-al[i])
        r = q * state["H_diag"]
        for i in range(len(dirs)):
            r.add_(steps[i], alpha=al[i] - dirs[i].dot(r).item() * ro[i])
        state["d"], state["al"] = r, al + [None] * (history - len(al))

    def _move(self, evaluate, state, loss, g, slope, group, evals, last):
        """Go along the direction; (loss, gradient, evaluations used)."""
        d = state["d"]
        if group["line_search_fn"] is None:
            self._add_grad(state["t"], d)
            if last:                                  # nobody looks at the gradient of the last iteration
                return loss, g, 0
            loss = float(evaluate())
            return loss, self._gather_flat_grad(), 1
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = [p.clone() for p in self._params]
        search = _Wolfe(lambda t: self._evaluate(evaluate, start, t, d), d, loss, g, slope, group["max_eval"] - evals)
        loss, g, state["t"] = search.run(state["t"])
        self._add_grad(state["t"], d)
        return loss, g, search.evals


class _Point:
    """A place on the line: step, loss, gradient, slope."""

    __slots__ = ("t", "f", "g", "slope")

    def __init__(self, t, f, g, slope):
        self.t, self.f, self.g, self.slope = t, f, g, slope


class _Wolfe:
    """Line search: find a bracket by growing steps, then narrow it by cubic interpolation."""

    ENOUGH, FLAT, TINY = 1e-4, 0.9, 1e-9

    def __init__(self, function, direction, f, g, slope, most):
        self.function, self.direction, self.most = function, direction, most
        self.start = _Point(0, f, g.clone(), slope)
        self.size, self.evals, self.rounds = direction.abs().max().item(), 0, 0

    def at(self, t):
        f, g = self.function(t)
        self.evals += 1
        return _Point(t, f, g, g.dot(self.direction).item())

    def too_high(self, p):
        return p.f > self.start.f + self.ENOUGH * p.t * self.start.slope

    def flat(self, p):
        return abs(p.slope) <= -self.FLAT * self.start.slope

    def run(self, t):
        """(loss, gradient, step) found from the first guess `t`."""
        bracket, done = self.bracket(t)
        if not done:
            bracket = self.narrow(bracket)
        best = min(bracket, key=lambda p: p.f)
        return best.f, best.g, best.t

    def bracket(self, t):
        before, p = self.start, self.at(t)
        while self.rounds < self.most:
            if self.too_high(p) or (self.rounds > 1 and p.f >= before.f):
                return [before, p], False
            if self.flat(p):
                return [p], True
            if p.slope >= 0:
                return [before, p], False
            t = _cubic(before, p, p.t + 0.01 * (p.t - before.t), p.t * 10)
            before, p = p, self.at(t)
            self.rounds += 1
        return [self.start, p], True

    def narrow(self, bracket):
        low, high = sorted(bracket, key=lambda p: p.f)
        slow = False
        while self.rounds < self.most:
            left, right = min(low.t, high.t), max(low.t, high.t)
            if (right - left) * self.size < self.TINY:
                break
            t = _cubic(bracket[0], bracket[1], left, right)
            margin = 0.1 * (right - left)
            if min(right - t, t - left) < margin:     # close to an end: at the second time keep away from it
                if slow or t >= right or t <= left:
                    t = right - margin if abs(t - right) < abs(t - left) else left + margin
                    slow = False
                else:
                    slow = True
            else:
                slow = False
            p = self.at(t)
            self.rounds += 1
            at_low = 0 if bracket[0] is low else 1
            if self.too_high(p) or p.f >= low.f:
                bracket[1 - at_low] = p
                low, high = bracket if bracket[0].f <= bracket[1].f else bracket[::-1]
                continue
            if self.flat(p):
                bracket[at_low] = p
                break
            if p.slope * (high.t - low.t) >= 0:
                bracket[1 - at_low] = low
            bracket[at_low] = p
            low, high = p, bracket[1 - at_low]
        return bracket


def _cubic(a, b, least, most):
    """Where the cubic through two points with their slopes is smallest, within bounds."""
    if a.t == b.t:
        return (least + most) / 2
    d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if square < 0 or square != square:
        return (least + most) / 2
    d2 = square ** 0.5
    if a.t > b.t:
        a, b = b, a
    divisor = b.slope - a.slope + 2 * d2
    if divisor == 0:
        return (least + most) / 2
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / divisor)
    return min(max(t, least), most)

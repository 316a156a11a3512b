"""nn.Module to the letter: every scenario is run with nbtorch and with PyTorch and must give the same record.

A scenario takes the library and returns plain values; errors are recorded as (type, text).
"""

import copy
import pickle
import re
import warnings

import pytest

import nbtorch

torch = pytest.importorskip("torch")


def attempt(function, *args, **kwargs):
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, re.sub(r"nbtorch", "torch", str(error)).split("\nin module ")[0]
    return result if isinstance(result, (int, float, str, list, tuple, dict, bool, type(None))) else "done"


def model(t):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.one = t.nn.Linear(3, 2)
            self.body = t.nn.Sequential(t.nn.ReLU(), t.nn.BatchNorm1d(2))
            self.register_buffer("steps", t.zeros(2, dtype=t.int64))
            self.register_buffer("hidden", t.ones(1), persistent=False)
            self.scale = t.nn.Parameter(t.ones(2))
            self.tied = self.one

        def forward(self, x, *, shift=0.0):
            return self.body(self.one(x)) * self.scale + shift

    t.manual_seed(0)
    return Net()


def attributes(t):
    Module, Parameter, Linear = t.nn.Module, t.nn.Parameter, t.nn.Linear

    class Early(Module):
        def __init__(self, kind):
            if kind == "module":
                self.a = Linear(1, 1)
            elif kind == "parameter":
                self.a = Parameter(t.ones(1))
            elif kind == "buffer":
                self.register_buffer("a", t.ones(1))
            else:
                self.register_parameter("a", None)

    class Plain(Module):
        pass

    m = Plain()
    m.p, m.m = Parameter(t.ones(1)), Linear(1, 1)
    m.register_buffer("b", t.ones(1))
    out = [attempt(Early, kind) for kind in ("module", "parameter", "buffer", "other")]
    out += [attempt(getattr, m, "nothing"), attempt(Plain, 3), attempt(Plain, a=3), attempt(m, 1)]
    out += [attempt(setattr, m, name, value) for name, value in
            (("p", t.ones(1)), ("p", 3), ("m", 3), ("b", "text"), ("m", t.ones(1)), ("b", Linear(1, 1)), ("p", None),
             ("m", None), ("p", Parameter(t.ones(2))))]
    out += [attempt(m.register_parameter, *args) for args in
            (("a.b", None), ("", None), (3, None), ("training", None), ("q", t.ones(1)), ("q", 3),
             ("q", Parameter(t.ones(1)) * 2))]
    out += [attempt(m.register_buffer, *args) for args in (("a.b", None), ("", None), (3, None), ("p", None), ("q", 3))]
    out += [attempt(m.add_module, *args) for args in (("a.b", None), ("", None), (3, None), ("p", None), ("q", 3))]
    out.append(sorted(k for table in (m._parameters, m._buffers, m._modules) for k in table))
    del m.p
    out += [attempt(getattr, m, "p"), attempt(delattr, m, "zzz"), "p" in dir(m), "training" in dir(m)]
    m.x = t.nn.Buffer(t.ones(1), persistent=False)
    m.y = t.ones(1)
    out += [sorted(m._buffers), sorted(m._non_persistent_buffers_set), "y" in m.__dict__]
    m.y = Parameter(t.ones(1))
    return [*out, "y" in m.__dict__, "y" in m._parameters]


def walking(t):
    m = model(t)
    names = lambda pairs: [name for name, _ in pairs]
    out = [names(m.named_parameters()), names(m.named_parameters(remove_duplicate=False)), names(m.named_buffers()),
           names(m.named_modules()), names(m.named_modules(remove_duplicate=False)), names(m.named_children()),
           names(m.named_parameters("pre", recurse=False)), len(list(m.modules())), len(list(m.children()))]
    out += [attempt(m.get_submodule, path) for path in ("", "body.0", "body.5", "one.weight", "zzz")]
    out += [attempt(m.get_parameter, path) for path in ("scale", "one.weight", "steps", "one.zzz")]
    out += [attempt(m.get_buffer, path) for path in ("steps", "body.1.running_mean", "scale", "zzz")]
    out += [attempt(m.set_submodule, *args) for args in
            (("body.0", t.nn.Tanh()), ("", t.nn.Tanh()), ("scale", t.nn.Tanh()), ("body.9", t.nn.Tanh(), True), ("one", 3))]
    seen = []
    m.apply(lambda module: seen.append(type(module).__name__))
    out += [seen, repr(m), m.eval() is m, [x.training for x in m.modules()], attempt(m.train, 1)]
    m.requires_grad_(False)
    return [*out, any(p.requires_grad for p in m.parameters())]


def state(t):
    m = model(t)
    saved = m.state_dict()
    out = [list(saved), {k: dict(v) for k, v in saved._metadata.items()}, list(m.state_dict(prefix="x.")),
           any(v.requires_grad for v in saved.values()), m.state_dict(keep_vars=True)["scale"] is m.scale,
           saved["scale"].data_ptr() == m.scale.data_ptr()]
    short = {k: v for k, v in saved.items() if k != "scale"}
    short["extra"], short["one.deep.x"], short["body.7.z"] = t.ones(1), t.ones(1), t.ones(1)
    out.append(attempt(m.load_state_dict, short))
    result = m.load_state_dict(short, strict=False)
    out += [str(result), result.missing_keys, result.unexpected_keys, str(m.load_state_dict(saved))]
    wrong = {**saved, "scale": t.ones(3), "one.weight": 5}
    out += [attempt(m.load_state_dict, wrong), attempt(m.load_state_dict, wrong, strict=False),
            attempt(m.load_state_dict, [1])]
    before = m.scale
    m.load_state_dict({k: v + 1 for k, v in saved.items()})
    out += [m.scale is before, m.scale.tolist()]
    m.load_state_dict({k: v.clone() for k, v in saved.items()}, assign=True)
    out += [m.scale is before, isinstance(m.scale, t.nn.Parameter), m.scale.requires_grad]
    old = {k: v for k, v in saved.items() if "num_batches" not in k}
    return [*out, str(m.load_state_dict(old))]


def state_hooks(t):
    log = []

    class Extra(t.nn.Linear):
        def get_extra_state(self):
            return {"n": 3}

        def set_extra_state(self, value):
            log.append(value)

    m = t.nn.Sequential(Extra(1, 1), t.nn.ReLU())
    m.register_state_dict_pre_hook(lambda module, prefix, keep: log.append(("pre", prefix, keep)))
    m.register_state_dict_post_hook(lambda module, d, prefix, meta: d.update(added=t.ones(1)))
    saved = m.state_dict()
    m.register_load_state_dict_pre_hook(
        lambda module, d, prefix, meta, strict, missing, unexpected, errors: (d.pop("added", None), log.append(len(errors)))[1])
    m.register_load_state_dict_post_hook(lambda module, keys: log.append((module is m, keys.missing_keys)))
    m.load_state_dict(saved)
    m.register_state_dict_post_hook(lambda *args: {})
    out = [attempt(m.state_dict)]
    del saved["0._extra_state"]
    out.append(attempt(m.load_state_dict, saved))
    return [list(saved), log, out, attempt(t.nn.Linear(1, 1).load_state_dict, {"weight": t.ones(1, 1), "bias": t.ones(1), "_extra_state": 1})]


def forward_hooks(t):
    m, log = model(t), []
    x = t.ones(4, 3)
    handles = [
        m.register_forward_pre_hook(lambda mod, args: log.append(("pre", len(args)))),
        m.register_forward_pre_hook(lambda mod, args, kwargs: (args, {**kwargs, "shift": 5.0}), with_kwargs=True),
        m.register_forward_hook(lambda mod, args, out: log.append(("post", tuple(out.shape)))),
        m.register_forward_hook(lambda mod, args, kwargs, out: out * 0 + kwargs["shift"], with_kwargs=True),
        m.register_forward_hook(lambda mod, args, out: log.append("first"), prepend=True),
    ]
    out = [m(x).sum().item()]
    handles[1].remove()
    handles[3].remove()
    handles[1].remove()
    m(x)
    m.register_forward_hook(lambda mod, args, out: log.append(("always", out is None)), always_call=True)
    out.append(attempt(m, t.ones(4, 7))[0])
    m.register_forward_pre_hook(lambda mod, args, kwargs: 3, with_kwargs=True)
    out.append(attempt(m, x))
    single = t.nn.Identity()
    single.register_forward_pre_hook(lambda mod, args: args[0] + 1)
    with single.register_forward_hook(lambda mod, args, out: out * 10):
        out.append(single(t.ones(1)).item())
    return [*out, single(t.ones(1)).item(), log]


def global_hooks(t):
    log, module = [], t.nn.modules.module
    handles = [
        module.register_module_forward_pre_hook(lambda m, args: log.append("pre " + type(m).__name__)),
        module.register_module_forward_hook(lambda m, args, out: log.append("post " + type(m).__name__)),
        module.register_module_full_backward_hook(lambda m, gi, go: log.append("back " + type(m).__name__)),
        module.register_module_parameter_registration_hook(lambda m, name, p: log.append("param " + name)),
        module.register_module_buffer_registration_hook(lambda m, name, p: log.append("buffer " + name)),
        module.register_module_module_registration_hook(lambda m, name, p: log.append("module " + name)),
    ]
    try:
        net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2), t.nn.ReLU())
        net(t.ones(3, 2)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    net(t.ones(3, 2))
    return log


def backward_hooks(t):
    log = []
    t.manual_seed(1)
    net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Tanh(), t.nn.Linear(2, 1))
    shape = lambda grads: [None if g is None else (tuple(g.shape), round(g.sum().item(), 4)) for g in grads]
    net[0].register_full_backward_hook(lambda m, gi, go: log.append(("first", shape(gi), shape(go))))
    net[1].register_full_backward_hook(lambda m, gi, go: log.append(("tanh", shape(gi), shape(go))))
    net[2].register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    net[2].register_full_backward_hook(lambda m, gi, go: tuple(None if g is None else g * 10 for g in gi))
    net(t.ones(3, 2)).sum().backward()
    out = [round(net[0].weight.grad.sum().item(), 3), round(net[2].weight.grad.sum().item(), 3)]
    x = t.ones(3, 2, requires_grad=True)
    net(x).sum().backward()
    out.append(round(x.grad.sum().item(), 3))
    out.append(attempt(net[0].register_backward_hook, print))

    class Two(t.nn.Module):
        def forward(self, a, b, scale):
            return a * scale, b, 3

    two = Two()
    two.register_full_backward_hook(lambda m, gi, go: log.append(("two", shape(gi), shape(go))))
    a, b = t.ones(2, requires_grad=True), t.ones(3)
    result = two(a, b, 2)
    result[0].sum().backward()
    bad = t.nn.Identity()
    bad.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    out.append(attempt(bad(t.ones(1, requires_grad=True)).backward))
    return [*out, a.grad.tolist(), result[2], log]


def conversions(t):
    m = model(t)
    before = (m.scale, m.one.weight, m.steps)
    m(t.ones(4, 3)).sum().backward()
    grad = m.scale.grad
    out = [m.to(t.float64) is m, str(m.scale.dtype), str(m.steps.dtype), m.scale is before[0], m.one.weight is before[1],
           str(m.scale.grad.dtype), m.scale.grad is grad, m.scale.requires_grad, m.scale.is_leaf]
    for call in (lambda: m.half(), lambda: m.bfloat16(), lambda: m.float(), lambda: m.double(), lambda: m.to("cpu", t.float32),
                 lambda: m.to(t.ones(1, dtype=t.float64)), lambda: m.to(device="cpu", dtype=t.float16),
                 lambda: m.type(t.float32), lambda: m.cpu()):
        call()
        out.append((str(m.scale.dtype), str(m.body[1].running_mean.dtype), str(m.body[1].num_batches_tracked.dtype)))
    out += [attempt(m.to, t.int64), attempt(m.to, "nonsense")[0], attempt(m.to, zzz=1)[0]]
    m = model(t)
    m(t.ones(4, 3)).sum().backward()
    m.zero_grad(set_to_none=False)
    out.append([p.grad.sum().item() for p in m.parameters()])
    m.zero_grad()
    return [*out, [p.grad for p in m.parameters()]]


def copies(t):
    m = model(t)
    m.register_forward_pre_hook(_nothing)
    twin = copy.deepcopy(m)
    out = [repr(twin) == repr(m), twin.tied is twin.one, twin.one.weight is m.one.weight,
           bool((twin.one.weight == m.one.weight).all()), isinstance(twin.scale, t.nn.Parameter), len(twin._forward_pre_hooks)]
    lin = pickle.loads(pickle.dumps(t.nn.Sequential(t.nn.Linear(2, 3), t.nn.LSTM(3, 2))))
    out += [repr(lin), isinstance(lin[0].weight, t.nn.Parameter), tuple(lin[1](lin[0](t.ones(4, 1, 2)))[0].shape)]
    p = t.nn.Parameter(t.ones(2))
    q = copy.deepcopy(p)
    return [*out, type(q).__name__, q.requires_grad, q is p, repr(p), repr(t.nn.Parameter(t.ones(2), requires_grad=False)),
            type(pickle.loads(pickle.dumps(p))).__name__, (p * 2).__class__.__name__, tuple(t.nn.Parameter().shape)]


def _nothing(module, args):
    return None


def containers(t):
    nn = t.nn
    seq = nn.Sequential(nn.ReLU(), nn.Linear(2, 2), nn.Tanh())
    out = [repr(seq[1:]), repr(seq[-1]), len(seq), attempt(seq.__getitem__, 5), repr(seq.append(nn.ELU())),
           repr(seq.insert(1, nn.GELU())), repr(seq.extend([nn.CELU()])), repr(seq.pop(0)), repr(seq)]
    del seq[0], seq[1:3]
    seq[0] = nn.Sigmoid()
    out += [repr(seq), repr(seq * 2), repr(seq + seq), attempt(seq.__mul__, 0), attempt(seq.__mul__, 1.5),
            attempt(seq.__add__, 3), attempt(seq.insert, 9, nn.ReLU()), attempt(seq.insert, 0, 3), attempt(nn.Sequential, 3)]
    items = nn.ModuleList([nn.Linear(1, 2), nn.Linear(1, 2), nn.ReLU()])
    items += [nn.Tanh()]
    items.insert(0, nn.ELU())
    out += [repr(items), repr(items[1:3]), attempt(items.__getitem__, 9), attempt(items.__getitem__, "a"), repr(items.pop(-1)),
            attempt(nn.ModuleList, 3), repr(nn.ModuleList([nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU())])),
            repr(items + [nn.ReLU()]), attempt(items, 3)[0]]
    del items[0]
    out.append([name for name, _ in items.named_parameters()])
    d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    d["c"] = nn.ELU()
    out += [repr(d), list(d), "a" in d, len(d), repr(d.pop("a")), list(d.keys()), attempt(nn.ModuleDict, [1]),
            attempt(nn.ModuleDict, [(1, 2, 3)]), attempt(nn.ModuleDict, 3), attempt(nn.ModuleDict, {"a": 1})]
    ps = nn.ParameterList([nn.Parameter(t.ones(2, 3)), t.ones(2, dtype=t.float64), "x"])
    ps.append(t.zeros(1))
    out += [repr(ps), len(ps), [n for n, _ in ps.named_parameters()], len(ps[1:]), attempt(ps), attempt(nn.ParameterList, 3)]
    pd = nn.ParameterDict({"b": t.ones(2), "a": 3})
    pd.update({"z": t.ones(1), "c": t.ones(1)})
    out += [repr(pd), list(pd), pd.setdefault("q", 4), list(pd.copy()), pd.pop("a"), pd.popitem()[0], list(pd | {"w": 1}),
            attempt(pd.__getitem__, 3), attempt(nn.ParameterDict, 3), attempt(nn.ParameterDict, [(1,)]), "b" in pd, pd.get("no")]
    return out


def lazy(t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t.manual_seed(3)
        net = t.nn.Sequential(t.nn.LazyConv2d(4, 3), t.nn.LazyBatchNorm2d(), t.nn.Flatten(), t.nn.LazyLinear(2))
        waiting = t.nn.LazyLinear(3)
    out = [repr(net), attempt(lambda: net[0].weight.shape), repr(net[3].weight), net[3].has_uninitialized_params()]
    t.manual_seed(3)
    result = net(t.ones(2, 3, 5, 5))
    out += [tuple(result.shape), repr(net), [type(m).__name__ for m in net], tuple(net[0].weight.shape),
            isinstance(net[0].weight, t.nn.Parameter), round(net[3].weight.sum().item(), 4), len(net[3]._forward_pre_hooks)]
    waiting.load_state_dict(t.nn.Linear(5, 3).state_dict())
    return [*out, tuple(waiting.weight.shape), tuple(waiting(t.ones(1, 5)).shape), waiting.in_features]


SCENARIOS = [attributes, walking, state, state_hooks, forward_hooks, global_hooks, backward_hooks, conversions, copies,
             containers, lazy]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda f: f.__name__)
def test_same_as_torch(scenario):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.filterwarnings("ignore", "Full backward hook is firing")
        ours, theirs = scenario(nbtorch), scenario(torch)
    assert len(ours) == len(theirs)
    for at, (mine, reference) in enumerate(zip(ours, theirs)):
        assert mine == reference, f"value {at}"

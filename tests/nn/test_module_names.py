"""Errors and spans say which module of which model they come from."""

import pickle

import pytest

import nbtorch
from nbtorch import nn
from nbtorch.events.bus import subscribe
from nbtorch.events.records import SpanEnter, SpanExit


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(11, 5))
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(4, 4)), nn.Linear(3, 3)])
        self.loose = [nn.Linear(3, 3)]

    def forward(self, x, which="layers"):
        if which == "layers":
            return self.layers(x)
        return self.loose[0](x) if which == "loose" else self.blocks[1](self.blocks[0](x))


def message(error):
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@pytest.mark.parametrize(("which", "line"), [
    ("layers", "in module layers.2 (Linear(in_features=11, out_features=5, bias=True)) of Net"),
    ("blocks", "in module blocks.1 (Linear(in_features=3, out_features=3, bias=True)) of Net"),
    ("loose", "in module (unregistered) (Linear(in_features=3, out_features=3, bias=True)) of Net"),
])
def test_error_names_its_module_once(which, line):
    with pytest.raises(RuntimeError) as caught:
        Net()(nbtorch.ones(2, 4), which)
    text = message(caught.value)
    assert text.count("in module") == 1 and line in text
    again = pickle.loads(pickle.dumps(caught.value))
    assert line in message(again)


def test_error_of_a_single_module():
    with pytest.raises(RuntimeError) as caught:
        nn.Linear(3, 2)(nbtorch.ones(1, 7))
    assert message(caught.value).endswith("\nin module Linear(in_features=3, out_features=2, bias=True)")


def test_error_keeps_type_and_text():
    class Refuses(nn.Module):
        def forward(self, x):
            raise KeyError("own words")

    with pytest.raises(KeyError) as caught:
        nn.Sequential(Refuses())(1)
    assert caught.value.args == ("own words",)


def test_spans_carry_dotted_paths():
    seen = []

    def observe(record):
        if isinstance(record, (SpanEnter, SpanExit)) and record.kind == "module":
            seen.append((type(record).__name__, record.name, record.path))

    net = Net()
    net.layers[2] = nn.Linear(10, 5)
    with subscribe(observe):
        net(nbtorch.ones(2, 4))
    assert seen == [
        ("SpanEnter", "Net", ""), ("SpanEnter", "Sequential", "layers"), ("SpanEnter", "Linear", "layers.0"),
        ("SpanExit", "Linear", "layers.0"), ("SpanEnter", "ReLU", "layers.1"), ("SpanExit", "ReLU", "layers.1"),
        ("SpanEnter", "Linear", "layers.2"), ("SpanExit", "Linear", "layers.2"), ("SpanExit", "Sequential", "layers"),
        ("SpanExit", "Net", "")]


def test_spans_close_when_a_call_fails():
    seen = []
    with subscribe(lambda record: seen.append(type(record).__name__) if isinstance(record, (SpanEnter, SpanExit)) else None):
        with pytest.raises(RuntimeError):
            Net()(nbtorch.ones(2, 4))
    assert seen.count("SpanEnter") == seen.count("SpanExit") == 5


def test_message_carries_the_line_where_python_has_no_notes(monkeypatch):
    from nbtorch.nn.modules import _trace
    monkeypatch.setattr(_trace, "_HAS_NOTES", False)
    with pytest.raises(RuntimeError) as caught:
        Net()(nbtorch.ones(2, 4))
    text = str(caught.value)
    assert text.count("in module") == 1
    assert text.endswith("\nin module layers.2 (Linear(in_features=11, out_features=5, bias=True)) of Net")

    class Refuses(nn.Module):
        def forward(self, x):
            raise KeyError("own words")

    with pytest.raises(KeyError) as caught:
        nn.Sequential(Refuses())(1)
    assert caught.value.args == ("own words",)

"""What is compared with PyTorch where PyTorch is not installed. ``python -m tests.nn.facts`` writes the golden file."""

import json
import warnings
from pathlib import Path

import numpy as np

from .specs import ACTIVATIONS, LAYERS

SPECS = LAYERS + ACTIVATIONS


def spec_id(spec):
    """Class and arguments, as they are written in Python."""
    extra = ",".join([str(a) for a in spec["args"]] + [f"{k}={v}" for k, v in spec["kwargs"].items()])
    return f"{spec['name']}({extra})".replace(" ", "")


def build(library, spec):
    """The module, drawn from seed 7."""
    library.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(library.nn, spec["name"])(*spec["args"], **spec["kwargs"])


def make_inputs(shapes, seed=3):
    """NumPy arrays of these shapes; 'i' stands for indices below 10."""
    random = np.random.RandomState(seed)
    return [
        random.randint(0, 10, (3, 5)) if shape == "i" else random.randn(*shape).astype(np.float32) for shape in shapes
    ]


def tensors_in(value):
    """The tensors of a result, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors_in(v)]
    return [] if value is None else [value]


def facts(library, spec):
    """Printed form, state and output in evaluation mode: shapes, and sums that notice a change of order."""
    module = build(library, spec)
    told = {"repr": repr(module), "state": {k: digest(v) for k, v in module.state_dict().items()}}
    if spec["inputs"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs = module.eval()(*[library.tensor(a) for a in make_inputs(spec["inputs"])])
        told["out"] = [digest(t) for t in tensors_in(outputs)]
    return told


def digest(tensor):
    """[shape, sum, weighted sum]."""
    values = tensor.detach().numpy().astype(np.float64).ravel()
    return [list(tensor.shape), round(float(values.sum()), 4), round(float((values * np.cos(np.arange(values.size))).sum()), 4)]


def main():
    """Writes tests/golden/nn.json from real PyTorch."""
    import torch
    path = Path(__file__).parents[1] / "golden" / "nn.json"
    table = {spec_id(spec): facts(torch, spec) for spec in SPECS}
    lines = [f"{json.dumps(name)}: {json.dumps(told)}" for name, told in table.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

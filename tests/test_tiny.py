"""Ten seconds before each commit: an MLP and a convnet learn, a file comes back, the records are whole."""
import io

import nbtorch as torch
from nbtorch import nn
from nbtorch.nn import functional as F


def test_an_mlp_learns():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = torch.tensor([0, 1, 1, 0])
    for _ in range(100):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    assert model(x).argmax(1).tolist() == [0, 1, 1, 0]


def test_a_convnet_takes_a_step():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(64, 10))
    x, y = torch.randn(8, 1, 8, 8), torch.arange(8)
    before = F.cross_entropy(model(x), y)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before.backward()
    optimizer.step()
    assert F.cross_entropy(model(x), y) < before
    assert all(p.grad is not None and p.grad.shape == p.shape for p in model.parameters())


def test_a_checkpoint_comes_back():
    model = nn.Linear(3, 2)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    again = nn.Linear(3, 2)
    again.load_state_dict(torch.load(file))
    assert torch.equal(again.weight, model.weight) and torch.equal(again.bias, model.bias)


def test_double_backward_of_a_composite():
    x = torch.linspace(-1, 1, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda t: torch.softmax(t * t, 0), [x])


def test_every_kernel_a_record_names_exists():
    from nbtorch.backend.registry import kernels_for
    from nbtorch.core.op import OPS
    missing = []
    for record in OPS.values():
        if record.kernel is not None:
            try:
                kernels_for(record.kernel)
            except LookupError:
                missing.append((record.name, record.kernel))
    assert not missing

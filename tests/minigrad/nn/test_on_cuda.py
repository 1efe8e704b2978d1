"""Networks on the device "cuda", in the simulator where there is no GPU: the same training step as on the CPU."""

import numpy as np
import pytest

import minigrad as mg
from minigrad import nn, optim

OPTIMIZERS = [("SGD", {"lr": 0.1, "momentum": 0.9}), ("SGD", {"lr": 0.1}), ("AdamW", {"lr": 0.1})]


def two_steps(device, kind, settings):
    """Train a small network for two steps, and return its losses and its parameters."""
    mg.manual_seed(4)
    net = nn.Sequential(nn.Conv2d(1, 2, 2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2, 3)).to(device)
    optimizer = getattr(optim, kind)(net.parameters(), **settings)
    x, y = mg.randn(2, 1, 3, 3).to(device), mg.tensor([2, 0]).to(device)
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    assert {p.device for p in net.parameters()} == {device}
    return losses, np.concatenate([p.detach().to("cpu").numpy().ravel() for p in net.parameters()])


@pytest.mark.parametrize(("kind", "settings"), OPTIMIZERS)
def test_training_on_the_device(kind, settings):
    """Two steps on the device give the losses and parameters of two steps on the CPU."""
    losses, parameters = two_steps("cpu", kind, settings)
    on_device, moved = two_steps("cuda", kind, settings)
    np.testing.assert_allclose(on_device, losses, rtol=1e-5)
    np.testing.assert_allclose(moved, parameters, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("loss", ["MSELoss", "BCEWithLogitsLoss"])
def test_losses_on_the_device(loss):
    """Losses of numbers and their gradients are those of the CPU."""
    found = []
    for device in ("cpu", "cuda"):
        x = mg.tensor([[-3.0, 0.5], [2.0, 0.0]]).to(device).requires_grad_()
        value = getattr(nn, loss)()(x, mg.tensor([[0.0, 1.0], [1.0, 0.25]]).to(device))
        value.backward()
        found.append([value.item(), *x.grad.to("cpu").numpy().ravel()])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)

"""functional_call: a module is a function of a tree of parameters, and stays as it was."""

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad import nn
from minigrad.transforms import grad, hessian, tree_map, vmap


def network():
    mg.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def test_it_computes_with_what_is_given():
    """All parameters or some, by path or as a tree of dicts; the module keeps its own."""
    net, x = network(), mg.randn(5, 3)
    own = dict(net.named_parameters())
    twice = tree_map(lambda p: p.detach() * 2, own)
    wanted = (x @ twice["0.weight"].T + twice["0.bias"]).tanh() @ twice["2.weight"].T + twice["2.bias"]
    tree = {"0": {"weight": twice["0.weight"], "bias": twice["0.bias"]}}
    tree["2"] = {"weight": twice["2.weight"], "bias": twice["2.bias"]}
    for given in (twice, tree):
        assert nn.functional_call(net, given, x).allclose(wanted, 1e-4, 1e-5)
    some = nn.functional_call(net, {"2.bias": own["2.bias"] + 1.0}, x)
    assert some.allclose(net(x) + 1.0, 1e-4, 1e-5)
    assert nn.functional_call(net, own, (x,)).equal(net(x))
    assert all(mine is theirs for mine, theirs in zip(net.parameters(), own.values(), strict=True))
    assert net[0].weight is own["0.weight"]


def test_gradients_are_those_of_backward():
    """grad of the functional form, and backward of the module; no parameter gets a gradient from the first."""
    net, x = network(), mg.randn(5, 3)
    params = {name: p.detach() for name, p in net.named_parameters()}
    loss = lambda p: nn.functional_call(net, p, x).square().mean()  # noqa: E731
    found = grad(loss)(params)
    assert all(p.grad is None for p in net.parameters())
    net(x).square().mean().backward()
    for name, p in net.named_parameters():
        assert found[name].allclose(p.grad, 1e-5, 1e-7)
        assert not found[name].requires_grad


def test_gradients_of_each_example_are_those_of_pytorch():
    """vmap(grad) over a network: as torch.func gives them."""
    net, x = network(), mg.randn(5, 3)
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    params = {name: p.detach() for name, p in net.named_parameters()}
    found = vmap(grad(lambda p, x: nn.functional_call(net, p, x).square().sum()), in_axes=(None, 0))(params, x)
    of_torch = {name: torch.tensor(p.numpy()) for name, p in params.items()}
    f = torch.func.grad(lambda p, x: torch.func.functional_call(theirs, p, (x,)).square().sum())
    wanted = torch.func.vmap(f, in_dims=(None, 0))(of_torch, torch.tensor(x.numpy()))
    for name, each in wanted.items():
        np.testing.assert_allclose(found[name].numpy(), each.numpy(), rtol=1e-4, atol=1e-6)


def test_an_ensemble_is_a_vmap_over_parameters():
    """One call for several sets of parameters."""
    nets, x = [network(), network()], mg.randn(5, 3)
    stacked = tree_map(lambda *ps: mg.stack(ps).detach(), *[dict(net.named_parameters()) for net in nets])
    found = vmap(lambda p: nn.functional_call(nets[0], p, x))(stacked)
    assert found.allclose(mg.stack([net(x) for net in nets]), 1e-5, 1e-6)


def test_second_derivatives_of_a_convolution():
    """The Hessian of a small convolutional network is symmetric."""
    net = nn.Sequential(nn.Conv2d(1, 2, 2, dtype=mg.float64), nn.Tanh(), nn.MaxPool2d(2))
    x = mg.randn(2, 1, 5, 5).double()
    params = {name: p.detach() for name, p in net.named_parameters()}
    blocks = hessian(lambda p: nn.functional_call(net, p, x).square().sum())(params)
    h = blocks["0.weight"]["0.weight"].reshape(8, 8)
    assert h.allclose(h.T)
    assert h.abs().max().item() > 0.1


def test_shared_parameters_are_replaced_together():
    """A tensor that two layers share is one parameter."""
    layer = nn.Linear(2, 2, bias=False)
    net = nn.Sequential(layer, nn.Tanh())
    net.add_module("again", nn.Linear(2, 2, bias=False))
    net.again.weight = layer.weight
    x = mg.ones(1, 2)
    weight = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert nn.functional_call(net, {"0.weight": weight}, x).equal((x @ weight.T).tanh() @ weight.T)


def test_the_module_is_restored_after_an_error():
    """Also where forward raises."""
    net = network()
    before = list(net.parameters())
    with pytest.raises(ValueError, match="last axis"):
        nn.functional_call(net, {"0.bias": mg.zeros(4)}, mg.ones(7))
    assert all(a is b for a, b in zip(net.parameters(), before, strict=True))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        (
            {"0.wight": mg.ones(1)},
            ValueError,
            "Sequential has no parameter '0.wight'; it has 0.weight, 0.bias, 2.weight",
        ),
        ({"0": {"bias": mg.ones(3)}}, ValueError, r"'0.bias' has shape \(3,\), but the module's has \(4,\)"),
        ({"0.bias": [1.0]}, TypeError, "list at '0.bias'; give a dict of tensors by path"),
        ([mg.ones(4)], TypeError, "list as parameters; give a dict of tensors by path"),
    ],
)
def test_mistakes(parameters, error, message):
    """The message names the path."""
    with pytest.raises(error, match=f"functional_call: {message}"):
        nn.functional_call(network(), parameters, mg.ones(1, 3))

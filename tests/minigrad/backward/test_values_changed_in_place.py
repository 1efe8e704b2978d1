"""Which changes in place a backward pass allows: those of values that no wanted gradient uses, as in PyTorch."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from pytorch import torch

import minigrad as mg
from minigrad.backends import arrays
from minigrad.errors import GraphError

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")

# Functions of a tensor (2, 2) and a constant (2, 2) of the same library; PyTorch computes all of them after `x += 1`.
SAFE = {
    "times a number": lambda m, x, c: x * 3.0,
    "a number times": lambda m, x, c: 3.0 * x,
    "divided by a number": lambda m, x, c: x / 4.0,
    "times a constant": lambda m, x, c: x * c,
    "divided by a constant": lambda m, x, c: x / c,
    "minus, plus, negative": lambda m, x, c: -(x - c) + x,
    "relu": lambda m, x, c: m.relu(x),
    "where": lambda m, x, c: m.where(c > 0.5, x, x * 2.0),
    "where, of itself": lambda m, x, c: m.where(x > 0.0, x, 0.0),
    "masked_fill": lambda m, x, c: x.masked_fill(c > 0.5, 0.0),
    "tril": lambda m, x, c: m.tril(x),
    "triu": lambda m, x, c: m.triu(x),
    "matmul": lambda m, x, c: x @ c,
    "matmul on the right": lambda m, x, c: c @ x,
    "linear": lambda m, x, c: m.nn.functional.linear(x, c, c[0]),
    "einsum": lambda m, x, c: m.einsum("ij,jk->ki", x, c),
    "outer": lambda m, x, c: m.outer(x[0], c[1]),
    "remainder": lambda m, x, c: x % 1.5,
    "lerp": lambda m, x, c: m.lerp(x, c, 0.25),
    "exp": lambda m, x, c: m.exp(x),
    "softmax": lambda m, x, c: x.softmax(1),
    "attention": lambda m, x, c: m.nn.functional.scaled_dot_product_attention(
        (x * 2.0)[None, None], c[None, None], (x * 3.0)[None, None], is_causal=True
    ),
}

# What needs the values that it was computed from, in PyTorch too.
UNSAFE = {
    "times itself": lambda m, x, c: x * x,
    "times what is wanted": lambda m, x, c: x * (x * 2.0),
    "square": lambda m, x, c: x**2,
    "divided by it": lambda m, x, c: c / x,
    "matmul with itself": lambda m, x, c: x @ x,
    "sin": lambda m, x, c: m.sin(x),
    "gelu": lambda m, x, c: m.nn.functional.gelu(x),
    "maximum": lambda m, x, c: m.maximum(x, c),
    "mse_loss": lambda m, x, c: m.nn.functional.mse_loss(x, c),
    "norm": lambda m, x, c: x.norm(),
}

LIBRARIES = [mg, pytest.param(torch, marks=needs_torch)]


def gradient(m, function, change, *, recorded=False):
    """The gradient of a function of x, which is changed in place before the pass."""
    p = m.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    c = m.tensor([[0.5, 2.0], [3.0, -1.0]])
    x = p * 1.0
    y = function(m, x, c)
    change(x, y)
    (found,) = m.autograd.grad((y * 2.0).sum(), p, create_graph=recorded)
    return found.detach()


@pytest.fixture(params=["quick", "readable", "compiled"])
def way(request, monkeypatch):
    """The quick pass, the specification's, and fused loops as for large tensors."""
    if request.param == "compiled":
        for name in ("LARGE", "LARGE_AND_DEAR"):
            monkeypatch.setattr(arrays, name, 0)
    with mg.backend("python") if request.param == "readable" else nullcontext():
        yield request.param


def add_one(x, y):
    """Change what the function was given."""
    x += 1.0


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", SAFE)
def test_a_value_that_no_gradient_uses_may_change(name, recorded, way):
    """The gradient is the one without the change. The readable pass gives relu's rule the input, and refuses."""
    unchanged = gradient(mg, SAFE[name], lambda x, y: None)
    refused = name == "relu" and way == "readable"
    with pytest.raises(GraphError, match="ReLU needs a value") if refused else nullcontext():
        assert gradient(mg, SAFE[name], add_one, recorded=recorded).tolist() == unchanged.tolist()


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", UNSAFE)
def test_a_value_that_a_gradient_uses_may_not(name, recorded, way):
    """The pass names the function, and gives no gradient."""
    with pytest.raises(GraphError, match=r"needs a value of shape .* changed in place after it was used"):
        gradient(mg, UNSAFE[name], add_one, recorded=recorded)


@needs_torch
@pytest.mark.parametrize("name", SAFE | UNSAFE)
def test_pytorch_allows_and_refuses_the_same(name):
    """Where it computes, it gives what minigrad gives."""
    if name in UNSAFE:
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            gradient(torch, UNSAFE[name], add_one)
    else:
        wanted = torch.tensor(gradient(mg, SAFE[name], add_one).tolist())
        assert torch.allclose(gradient(torch, SAFE[name], add_one), wanted)


@pytest.mark.parametrize("recorded", [False, True])
def test_relu_needs_its_input_or_its_output(recorded, way):
    """Either tells where the gradient goes on; when both were changed, neither does."""

    def both(x, y):
        x += 1.0
        y += 1.0

    assert gradient(mg, SAFE["relu"], lambda x, y: y.add_(1.0), recorded=recorded).tolist() == [[2.0, 0.0], [2.0, 2.0]]
    with pytest.raises(GraphError, match="ReLU needs a value"):
        gradient(mg, SAFE["relu"], both, recorded=recorded)


@pytest.mark.parametrize("m", LIBRARIES, ids=["minigrad", "torch"])
def test_dropout_and_convolution_use_what_they_drew_and_the_weights(m):
    """The image may change after both; the gradient of the weights needs it."""
    image, weights = m.ones(1, 1, 3, 3, requires_grad=True), m.ones(1, 1, 2, 2)
    x = image * 1.0
    y = m.nn.functional.dropout(x, 0.5)
    kept = (y.detach() != 0.0).tolist()
    x += 1.0
    y.sum().backward()
    assert (image.grad != 0.0).tolist() == kept
    if m is torch:  # which keeps the image even so
        return
    x = image * 1.0
    y = m.nn.functional.conv2d(x, weights)
    x += 1.0
    assert m.autograd.grad(y.sum(), image)[0].flatten().tolist() == [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]
    x, weights = image * 1.0, weights.requires_grad_()
    y = m.nn.functional.conv2d(x, weights)
    x += 1.0
    with pytest.raises(GraphError, match="Conv2d needs a value"):
        y.sum().backward()

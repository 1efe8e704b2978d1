"""Options of `autograd.grad` and `backward`, beside PyTorch."""

from __future__ import annotations

import pytest
from pytorch import torch

import minigrad as mg
from minigrad.errors import GraphError

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")
both = pytest.mark.parametrize("m", [mg, pytest.param(torch, marks=needs_torch)], ids=["minigrad", "torch"])


@pytest.fixture(params=["numba", "python"], autouse=True)
def way(request):
    """Both backward passes: the quick one, and the specification's."""
    with mg.backend(request.param):
        yield


def leaves(m):
    """Two leaves that are used, and one that is not."""
    return [m.tensor(values, requires_grad=True) for values in ([1.0, 2.0], [3.0, 4.0], [5.0])]


@both
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_batch_of_gradients_to_start_from(m, create_graph):
    """Each place of the first axis is a pass of its own; results are stacked, and those of several outputs added up."""
    x, w, z = leaves(m)
    outputs = [x**2 * w, (x * w).sum()]
    starts = [m.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]), m.tensor([0.0, 1.0, 10.0])]
    d_x, d_w, d_z = m.autograd.grad(
        outputs, [x, w, z], starts, create_graph=create_graph, is_grads_batched=True, materialize_grads=True
    )
    assert d_x.tolist() == [[6.0, 0.0], [3.0, 20.0], [42.0, 88.0]]
    assert d_w.tolist() == [[1.0, 0.0], [1.0, 6.0], [12.0, 32.0]]
    assert d_z.tolist() == [0.0]
    assert d_x.requires_grad == create_graph
    if create_graph:
        assert m.autograd.grad(d_x.sum(), w)[0].tolist() == [17.0, 27.0]
    else:
        with pytest.raises(RuntimeError):
            outputs[0].sum().backward()  # the graph is freed


@both
def test_gradients_of_what_is_not_used(m):
    """An error, None, or zeros."""
    x, _, z = leaves(m)
    with pytest.raises(RuntimeError):
        m.autograd.grad((x**2).sum(), [x, z])
    with pytest.raises(RuntimeError):
        m.autograd.grad((x**2).sum(), [x, z], allow_unused=False)
    assert m.autograd.grad((x**2).sum(), [x, z], allow_unused=True)[1] is None
    assert m.autograd.grad((x**2).sum(), [x, z], materialize_grads=True)[1].tolist() == [0.0]
    assert m.autograd.grad((x**2).sum(), [x, z], materialize_grads=True, allow_unused=True)[1].tolist() == [0.0]
    with pytest.raises(ValueError, match="materialize_grads=True"):
        m.autograd.grad((x**2).sum(), [x, z], materialize_grads=True, allow_unused=False)


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")
@both
@pytest.mark.parametrize("how", ["method", "function"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_backward_adds_to_the_inputs_alone(m, how, create_graph):
    """Leaves and results that are named get the gradient, once each; other leaves keep what they have."""

    def backward(y, inputs):
        if how == "method":
            y.backward(retain_graph=True, create_graph=create_graph, inputs=inputs)
        else:
            m.autograd.backward(y, retain_graph=True, create_graph=create_graph, inputs=inputs)

    x, w, z = leaves(m)
    on_the_way = x * w
    y = (on_the_way**2).sum()
    backward(y, [x])
    backward(y, x)
    assert x.grad.tolist() == [36.0, 128.0]
    assert x.grad.requires_grad == create_graph
    backward(y, [z])
    assert w.grad is z.grad is None
    backward(y, [on_the_way, w, w])
    assert on_the_way.grad.tolist() == [6.0, 16.0]
    assert w.grad.tolist() == [6.0, 32.0]
    assert x.grad.tolist() == [36.0, 128.0]
    handle = x.register_hook(lambda d: d * 10.0)
    backward(y, [x])
    handle.remove()
    assert x.grad.tolist() == [216.0, 768.0]


@both
@pytest.mark.parametrize("inputs", [[], (), "a constant"])
def test_inputs_are_tensors_that_require_gradients(m, inputs):
    """None at all, and constants, are refused before anything is computed."""
    x, _, _ = leaves(m)
    y = (x * x).sum()
    inputs = [m.ones(2)] if inputs == "a constant" else inputs
    with pytest.raises((ValueError, RuntimeError)):
        y.backward(inputs=inputs)
    with pytest.raises((ValueError, RuntimeError)):
        m.autograd.grad(y, inputs)
    assert x.grad is None


def test_one_gradient_to_start_from_for_each_output():
    """One for two outputs is no gradient of both."""
    x, _, _ = leaves(mg)
    for start in (mg.ones(2), [mg.ones(2)], [mg.ones(2)] * 3):
        with pytest.raises(ValueError, match="to start from for 2 outputs"):
            mg.autograd.grad([x * 2.0, x * 5.0], x, start)
        with pytest.raises(ValueError, match="to start from for 2 outputs"):
            mg.autograd.backward([x * 2.0, x * 5.0], start)


def test_what_is_said_of_wrong_arguments():
    """The sentences name the argument, and what it should be."""
    x, _, _ = leaves(mg)
    with pytest.raises(ValueError, match="grad: 1 gradients to start from for 2 outputs; give one each"):
        mg.autograd.grad([x * 2.0, x * 5.0], x, mg.ones(2))
    for start in (mg.ones(2), mg.ones(3, 3), mg.ones(0, 2), None):
        with pytest.raises(ValueError, match=r"is_grads_batched .* output's shape \(2,\) behind a first axis"):
            mg.autograd.grad(x * 2.0, x, start, is_grads_batched=True)
    with pytest.raises(ValueError, match="backward: inputs has no tensors"):
        (x * x).sum().backward(inputs=[])
    with pytest.raises(GraphError, match="backward: input 0 does not require gradients"):
        (x * x).sum().backward(inputs=[mg.ones(2)])
    with pytest.raises(ValueError, match=r"grad: only_inputs=False has no effect in PyTorch; .* use backward"):
        mg.autograd.grad((x * x).sum(), x, only_inputs=False)


def test_grad_takes_pytorchs_arguments_in_their_order():
    """Its sixth one, only_inputs, says what always holds; penalties of gradients name it."""
    for m in (mg, torch):
        x = m.tensor([3.0], requires_grad=True)
        (named,) = m.autograd.grad(outputs=(x * x).sum(), inputs=x, create_graph=True, only_inputs=True)
        (placed, none) = m.autograd.grad(
            (x * x).sum(), (x, m.ones(1, requires_grad=True)), None, None, False, True, True
        )
        assert (named.item(), placed.item(), none) == (6.0, 6.0, None)


RESULTS = {
    "square": lambda m, x, w: x**2,
    "product": lambda m, x, w: x * w + x,
    "matrix product": lambda m, x, w: m.outer(w, w) @ x,
    "softmax": lambda m, x, w: x.softmax(0),
    "sum along an axis": lambda m, x, w: m.outer(x, w).cumsum(0).sum(1),
    "index": lambda m, x, w: x[m.tensor([0, 0, 1])],
    "large": lambda m, x, w: (m.ones(20_000, 1, dtype=m.float64) * x).exp().sum(0),
}


@pytest.mark.parametrize(
    ("inside", "name"),
    [
        *((inside, name) for inside in (False, True) for name in RESULTS if (inside, name) != (True, "large")),
        pytest.param(True, "large", marks=pytest.mark.full("the largest graph is made anew for each start", share=4)),
    ],
)
def test_gradients_to_start_from_may_be_mapped_or_traced(name, inside):
    """`vmap` and `jit` of autograd.grad and of backward, as in PyTorch's docstring of vmap: the graph is outside."""
    wanted = None
    for m in (torch, mg) if torch else (mg,):
        x, w = (m.tensor(values, dtype=m.float64, requires_grad=True) for values in ([1.0, 2.0], [3.0, 4.0]))
        y = RESULTS[name](m, x, w)
        starts = m.tensor([[1.0, 0.5, 2.0], [0.0, 1.0, -1.0]], dtype=m.float64)[:, : y.shape[0]]

        def pull(start, m=m, x=x, w=w, y=y):
            result = RESULTS[name](m, x, w) if inside else y
            return m.autograd.grad(result, (x, w), start, retain_graph=True, materialize_grads=True)

        found = [each.tolist() for each in m.vmap(pull)(starts)]
        wanted = found if wanted is None else wanted
        for mine, theirs in zip(found, wanted, strict=True):
            for row, each in zip(mine, theirs, strict=True):
                assert row == pytest.approx(each, rel=1e-6)
    one_by_one = [mg.jit(pull)(start) for start in starts]
    for place in (0, 1):
        for row, each in zip(wanted[place], one_by_one, strict=True):
            assert each[place].tolist() == pytest.approx(row, rel=1e-6)
    if not inside:

        def back(start):
            x.grad = None
            y.backward(start, retain_graph=True)
            return x.grad

        for row, each in zip(mg.vmap(back)(starts).tolist(), wanted[0], strict=True):
            assert row == pytest.approx(each, rel=1e-6)

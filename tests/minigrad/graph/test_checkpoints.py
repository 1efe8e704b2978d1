"""`checkpoint` in a trace: what is computed again stays apart, takes less memory, and draws the same random numbers."""

import loops_in_python
import numpy as np
import pytest

import minigrad as mg
from minigrad.graph import optimize, plan_memory, prepare, trace
from minigrad.graph.compiled import Program
from minigrad.transforms import checkpoint, grad, jvp, tree_leaves, value_and_grad, vmap
from minigrad.transforms.checkpointing import Barrier

W = mg.tensor(np.random.default_rng(0).normal(size=(8, 8)) * 0.3)
X = mg.tensor(np.random.default_rng(1).normal(size=(8, 8)))


def chain(piece, wrap, pieces=6):
    """A chain of layers in pieces."""

    def run(x):
        for _ in range(pieces):
            x = wrap(piece)(x)
        return x.sum()

    return run


def layers(x):
    for _ in range(6):
        x = (x @ W).sin()
    return x


def noisy(x):
    return (x * mg.rand(*x.shape)).sin() + mg.randn(*x.shape).double()


def test_memory_grows_with_the_square_root():
    """The plan of a gradient with checkpoints needs a third of the memory, though equal expressions are one."""
    size = X.nbytes
    plans = [plan_memory(prepare(trace(grad(chain(layers, wrap)), X))) for wrap in (lambda f: f, checkpoint)]
    assert plans[0].after > 36 * size and plans[1].after <= 13 * size


@pytest.mark.parametrize(
    "transform",
    [
        grad,
        lambda f: grad(lambda x: (grad(f)(x) * x).sum()),
        lambda f: lambda x: jvp(f, (x,), (x * 0.5,)),
        lambda f: lambda x: vmap(grad(f))(mg.stack([x, 2.0 * x])),
        lambda f: grad(lambda x: vmap(f)(mg.stack([x, 2.0 * x])).sum()),
        lambda f: grad(checkpoint(lambda x: grad(f)(x).sum())),
    ],
    ids=["grad", "second", "jvp", "vmap of grad", "grad of vmap", "nested"],
)
def test_derivatives_are_those_of_the_function(transform):
    """In every mode, interpreted and compiled."""
    fun = transform(chain(layers, checkpoint, pieces=2))
    wanted = [y.numpy() for y in tree_leaves(transform(chain(layers, lambda f: f, pieces=2))(X))]
    graph = optimize(trace(fun, X))
    for found in (graph.run(X.numpy()), loops_in_python.run(Program(graph), X.numpy())):
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: checkpoint(lambda x: f(x))], ids=["once", "nested"])
def test_random_numbers_are_those_of_the_value(wrap):
    """The second run has the numbers of the first one, which are new at each run of the graph."""

    def f(x):
        def drawn(x):
            return (x * mg.rand(8, 8)).sum()

        value, slope = value_and_grad(checkpoint(wrap(drawn)))(x)
        return value, (x * slope).sum()

    graph = optimize(trace(f, X))
    first, second = graph.run(X.numpy()), graph.run(X.numpy())
    assert first[0] == pytest.approx(first[1]) and second[0] == pytest.approx(second[1])
    assert first[0] != second[0]


def test_a_backward_pass_that_is_traced_alone():
    """Numbers drawn before the trace are constants in it."""
    mg.manual_seed(1)
    _, back = mg.transforms.vjp(checkpoint(noisy), X)
    wanted = back(X)[0].numpy()
    for _ in range(2):
        np.testing.assert_allclose(trace(lambda c: back(c)[0], X).run(X.numpy())[0], wanted, rtol=1e-12)


def test_results_behind_a_barrier_are_arrays_of_their_own():
    """A barrier makes no copy; two results do not share memory by it."""

    def f(x):
        y = x * 2.0
        return y, Barrier.apply(y, x), Barrier.apply(x, y)

    graph = optimize(trace(f, X))
    for results in (graph.run(X.numpy()), loops_in_python.run(Program(graph), X.numpy())):
        assert not np.shares_memory(results[0], results[1]) and np.shares_memory(results[2], X.numpy())
        np.testing.assert_array_equal(results[1], 2.0 * X.numpy())

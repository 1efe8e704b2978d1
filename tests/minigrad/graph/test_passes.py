"""Passes: what each removes, what IEEE 754 forbids, and random programs whose values stay, bit for bit."""

import random

import numpy as np
import pytest

import minigrad as mg
from minigrad.graph import (
    bind,
    cancel_inverses,
    eliminate_common,
    fold_constants,
    optimize,
    remove_dead,
    trace,
)
from minigrad.graph.passes import PASSES
from minigrad.tensors import abstract_mode
from minigrad.transforms import grad

X = mg.tensor([[0.5, -1.0, 2.0], [3.0, 0.0, -0.25]])


def ops(graph):
    return [each.op.__name__ for each in graph.equations]


def same_bits(found, wanted):
    assert len(found) == len(wanted)
    for x, y in zip(found, wanted, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert x.tobytes() == y.tobytes()


def test_dead_code():
    """What no output needs goes, with its captured tensors; a draw stays, for the draws after it."""
    big = mg.ones(100)

    def f(x):
        (x.exp() + big.sum()).log()
        mg.rand(2)
        return x * 2.0

    graph = remove_dead(trace(f, X))
    assert "Exp" not in ops(graph) and "Draw" in ops(graph) and ops(graph)[-1] == "Mul"
    assert not graph.constants


def test_saved_arrays_are_dead_too():
    """An array that a forward rule saves is kept only where a gradient needs it."""
    graph = trace(grad(lambda x: x.max(1)[0].sum()), X)
    (most,) = [e for e in graph.equations if e.op.__name__ == "Max"]
    assert len(most.outputs) == 2
    whole = remove_dead(trace(lambda x: grad(lambda x: x.max(1)[0].sum())(x) * 0 + x.max(1)[0][:, None], X))
    assert any(len(e.outputs) == 2 for e in whole.equations)
    unused = remove_dead(trace(lambda x: (grad(lambda x: x.max(1)[0].sum())(x), x)[1], X))
    assert not unused.equations


def test_folding():
    """With some arguments given, what depends on them alone is computed ahead."""
    graph = trace(lambda w, x: (w.exp() * 2.0).sum() * x, X, X)
    folded = optimize(bind(graph, X))
    assert ops(folded) == ["Mul"]
    same_bits(folded.run(X.numpy()), graph.run(X.numpy(), X.numpy()))
    assert ops(fold_constants(trace(lambda x: mg.rand(2) * 2.0, X))) == ["Draw", "Cast", "Min", "Mul"]


def test_large_constants_are_not_folded():
    """A value that would take much memory is computed at each run."""
    graph = bind(trace(lambda s: s.expand(400, 400) * 2.0, mg.zeros(1)), mg.ones(1))
    assert ops(fold_constants(graph)) == ["Expand", "Mul"]


def test_common_subexpressions():
    """Equal expressions are computed once, numbers of different types or signs apart."""
    graph = optimize(trace(lambda x: (x.exp() + 1.0) * (x.exp() + 1.0), X))
    assert ops(graph) == ["Exp", "Add", "Mul"]
    for other in (lambda x: (x * 0.0, x * -0.0), lambda x: (x**2.5, x**3.5), lambda x: (x.sum(0), x.sum(1))):
        assert len(eliminate_common(trace(other, X)).equations) == 2


def test_two_draws_are_two():
    """Two draws of random numbers stay two, and what is computed from them."""
    graph = optimize(trace(lambda x: (mg.rand(3) + x, mg.rand(3) + x), X))
    assert ops(graph).count("Draw") == 2 and ops(graph).count("Add") == 2
    a, b = graph.run(X.numpy())
    assert not np.array_equal(a, b)

    def numbers(sizes):
        return np.zeros(sizes)

    same = trace(lambda x: abstract_mode.draw(numbers, (3,), None) + abstract_mode.draw(numbers, (3,), None) + x, X)
    assert ops(eliminate_common(same)).count("Draw") == 2


def test_inverses():
    """Negations and transposes cancel; nothing else does."""
    assert not ops(optimize(trace(lambda x: x.neg().neg(), X)))
    assert not ops(optimize(trace(lambda x: x.T.T, X)))
    assert not ops(optimize(trace(lambda x: x.permute(1, 0).permute(0, 1).permute(1, 0).view(2, 3), X)))
    x = mg.zeros(2, 3, 4)
    assert ops(optimize(trace(lambda x: x.permute(1, 2, 0).permute(1, 2, 0), x))) == ["Permute", "Permute"]
    assert not ops(optimize(trace(lambda x: x.permute(1, 2, 0).permute(2, 0, 1), x)))
    assert ops(cancel_inverses(trace(lambda x: x.neg().neg().neg(), X))) == ["Neg", "Neg"]
    assert ops(optimize(trace(lambda x: x.neg().neg().neg(), X))) == ["Neg"]


IEEE = [
    lambda x: x * 0.0,
    lambda x: x - x,
    lambda x: x + 0.0,
    lambda x: x + -0.0,
    lambda x: 0.0 - x,
    lambda x: x / x,
    lambda x: x * 1.0,
    lambda x: (x * 3.0) / 3.0,
    lambda x: x.exp().log(),
    lambda x: x == x,
    lambda x: x.maximum(x),
    lambda x: x.neg().neg(),
]


@pytest.mark.parametrize("fun", IEEE, ids=range(len(IEEE)))
@pytest.mark.parametrize("dtype", [mg.float32, mg.float64])
def test_ieee_values_stay(fun, dtype):
    """At nan, infinities and both zeros an optimized graph has the bits of eager code."""
    x = mg.tensor([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-40, -1e-310], dtype=dtype)
    same_bits(optimize(trace(fun, x)).run(x.numpy()), [fun(x).numpy()])


UNARY = {
    **{
        name: (lambda x, name=name: getattr(x, name)())
        for name in ["sin", "cos", "tanh", "sigmoid", "erf", "relu", "abs", "square", "neg"]
    },
    "exp": lambda x: (x * 0.1).exp(),
    "log": lambda x: x.abs().log(),
    "transpose": lambda x: x.T,
    "flat": lambda x: x.reshape(-1).view(*x.shape),
    "flip": lambda x: x.flip(0),
    "softmax": lambda x: x.softmax(-1),
    "sum": lambda x: x.sum(0, keepdim=True).expand_as(x),
    "prod": lambda x: x.prod(1, keepdim=True) + x * 0.0,
    "amax": lambda x: x - x.amax(1, keepdim=True),
    "half": lambda x: 0.5 * x - 1.0,
    "number": lambda x: 1.0 / (x + 0.0),
    "clamp": lambda x: x.clamp(-1.0, 1.0),
    "sorted": lambda x: x[x.argmax(0)[0]].expand_as(x),
    "gradient": grad(lambda x: (x.tanh() * x).sum()),
}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "max": lambda x, y: x.maximum(y),
    "where": lambda x, y: mg.where(x > y, x, -y),
    "matmul": lambda x, y: x @ y,
    "join": lambda x, y: mg.cat([x, y])[::2],
}


def program(seed):
    """A random function of two square matrices, and how many operations it has."""
    rng = random.Random(seed)
    steps = []
    for n in range(2, 22):
        if rng.random() < 0.5:
            steps.append((UNARY[rng.choice(sorted(UNARY))], (rng.randrange(n),)))
        else:
            steps.append((BINARY[rng.choice(sorted(BINARY))], (rng.randrange(n), rng.randrange(n))))
        if rng.random() < 0.2:  # something to find: the same again
            steps[-1] = rng.choice(steps)
    outputs = [rng.randrange(len(steps) + 2) for _ in range(3)]

    def run(x, y):
        values = [x, y]
        for f, places in steps:
            values.append(f(*[values[n] for n in places]))
        return [values[n] for n in outputs]

    return run, rng


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("dtype", [mg.float32, mg.float64])
def test_random_programs(seed, dtype):
    """Interpreter, each pass, and passes in any order keep every bit of eager code, and never add an equation."""
    run, rng = program(seed)
    numbers = np.random.default_rng(seed)
    x, y = (mg.tensor(numbers.normal(size=(4, 4)), dtype=dtype) for _ in range(2))
    graph = trace(run, x, y)
    wanted = [each.numpy() for each in run(x, y)]
    given = x.numpy(), y.numpy()
    same_bits(graph.run(*given), wanted)
    for each in PASSES:
        same_bits(each(graph).run(*given), wanted)
    smaller = graph
    for _ in range(8):
        before = len(smaller.equations)
        smaller = rng.choice(PASSES)(smaller)
        assert len(smaller.equations) <= before
        same_bits(smaller.run(*given), wanted)
    final = optimize(graph)
    same_bits(final.run(*given), wanted)
    assert final == optimize(final)
    same_bits(optimize(bind(graph, x)).run(given[1]), wanted)

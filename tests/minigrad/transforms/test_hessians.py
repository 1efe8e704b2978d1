"""Second derivatives of 500 random programs of 30 operations: symmetric, and JAX's, in float64."""

import random
from collections import Counter

import numpy as np
import pytest

import minigrad as mg
from minigrad import transforms

SEEDS, CHUNK, STEPS, SIZE = 500, 25, 30, 3

UNARY = {
    "exp": lambda lib, x: lib.exp(-lib.abs(x)),
    "log": lambda lib, x: lib.log(x * x + 0.5),
    "tanh": lambda lib, x: lib.tanh(x),
    "sin": lambda lib, x: lib.sin(x),
    "cos": lambda lib, x: lib.cos(x),
    "sqrt": lambda lib, x: lib.sqrt(x * x + 0.3),
    "square": lambda lib, x: lib.square(lib.sin(x)),
    "cube": lambda lib, x: lib.tanh(x) ** 3,
    "power": lambda lib, x: (lib.abs(lib.sin(x)) + 0.2) ** 1.7,
    "inverse": lambda lib, x: 1.0 / (1.2 + lib.cos(x)),
    "logistic": lambda lib, x: 1.0 / (1.0 + lib.exp(-lib.tanh(x))),
    "half": lambda lib, x: 0.5 * x - 0.25,
    "transpose": lambda lib, x: x.T,
    "turned": lambda lib, x: x.reshape(-1)[1:].sum() * 0.1 + x.T.reshape(SIZE, SIZE),
    "row": lambda lib, x: x[1] + x * 0.5,
    "column": lambda lib, x: x[:, :1] * lib.tanh(x),
    "sum": lambda lib, x: x - 0.3 * x.sum(axis=1)[:, None],
    "mean": lambda lib, x: x - x.mean(axis=0),
    "largest": lambda lib, x: x - lib.amax(x, 1)[:, None],
    "smallest": lambda lib, x: x * 0.5 + lib.amin(x, 0),
    "softmax": lambda lib, x: lib.exp(lib.tanh(x)) / lib.exp(lib.tanh(x)).sum(axis=1)[:, None],
    "product": lambda lib, x: lib.prod(lib.cos(x), 1)[:, None] + x,
    "flip": lambda lib, x: lib.flip(x, (0,)),
}
BINARY = {
    "add": lambda lib, x, y: x + y,
    "sub": lambda lib, x, y: x - 0.5 * y,
    "mul": lambda lib, x, y: lib.tanh(x) * y,
    "div": lambda lib, x, y: x / (1.5 + lib.sin(y)),
    "maximum": lambda lib, x, y: lib.maximum(x, y + 0.0123),
    "minimum": lambda lib, x, y: lib.minimum(x, y - 0.0123),
    "where": lambda lib, x, y: lib.where(x > 0.12345, lib.sin(y), x * 0.5),
    "matmul": lambda lib, x, y: lib.tanh(x) @ lib.tanh(y),
    "stack": lambda lib, x, y: lib.stack([x, y]).sum(axis=0) * 0.5,
}
NAMES = sorted([*UNARY, *BINARY])
worst = [0.0]
"""The largest difference from JAX, as a share of the largest second derivative."""


class Program:
    """A random function of a square matrix, for any library with NumPy's names, whose result is one number."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.ops = [rng.choice(NAMES) for _ in range(STEPS)]
        # The last value, or one of the five before it: most of the program reaches the result.
        self.places = [(n, max(0, n - rng.randint(0, 5))) for n in range(STEPS)]
        self.x = np.random.default_rng(seed).normal(size=(SIZE, SIZE))

    def __call__(self, lib, x):
        values = [x]
        for name, (last, other) in zip(self.ops, self.places, strict=True):
            given = (values[last],) if name in UNARY else (values[last], values[other])
            values.append((UNARY.get(name) or BINARY[name])(lib, *given))
        return (values[-1] * values[-2]).sum()


def hessian(program):
    """The second derivatives, as a square matrix."""
    found = transforms.hessian(lambda x: program(mg, x))(mg.tensor(program.x))
    return np.array(found.detach().numpy()).reshape(SIZE**2, SIZE**2)


def close(found, wanted):
    assert np.isfinite(wanted).all()
    size = max(np.abs(wanted).max(), 1e-3)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-6 * size)
    worst[0] = max(worst[0], float(np.abs(found - wanted).max() / size))


def check_symmetry(seed):
    """Compare the second derivatives with those in the other order."""
    found = hessian(Program(seed))
    close(found, found.T)


def check_peer(seed, jax):
    """Compare the second derivatives with JAX's."""
    program = Program(seed)
    x = jax.numpy.asarray(program.x)
    wanted = np.asarray(jax.hessian(lambda x: program(jax.numpy, x))(x))
    close(hessian(program), wanted.reshape(SIZE**2, SIZE**2))


@pytest.mark.full("second derivatives of 500 random programs", share=160)
@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_hessians_are_symmetric(first):
    """The order of two derivatives makes no difference."""
    for seed in range(first, first + CHUNK):
        check_symmetry(seed)


@pytest.mark.full("JAX differentiates 500 random programs twice", share=160)
@pytest.mark.no_cover
@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_hessians_are_those_of_jax(first):
    """Second derivatives are JAX's to 1e-6 of the largest one."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: pip install jax to compare with it")
    jax.config.update("jax_enable_x64", True)
    for seed in range(first, first + CHUNK):
        check_peer(seed, jax)


def test_every_operation_is_drawn_often():
    """Each operation stands in the programs at least 20 times."""
    count = Counter(op for seed in range(SEEDS) for op in Program(seed).ops)
    assert {op: count[op] for op in NAMES if count[op] < 20} == {}

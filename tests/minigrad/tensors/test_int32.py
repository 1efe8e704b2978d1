"""int32 as in PyTorch: what operations give, promotion, indices; small arrays, compiled loops, and compiled graphs."""

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad import backends, graph
from minigrad.backends import arrays

# Of a library and x, a vector of int32 with the numbers 1, 2 and 3.
EXPRESSIONS = {
    "add 1": lambda m, x: x + 1,
    "add 1.5": lambda m, x: x + 1.5,
    "add int64": lambda m, x: x + m.tensor([1, 2, 3]),
    "add one int64": lambda m, x: x + m.tensor(5),
    "add float64": lambda m, x: x + m.tensor([1.0, 2.0, 3.0], dtype=m.float64),
    "times True": lambda m, x: x * True,
    "times itself": lambda m, x: x * x,
    "one of each": lambda m, x: m.tensor([5]) + m.tensor(3, dtype=m.int32),
    "two without axes": lambda m, x: m.tensor(5, dtype=m.int32) + m.tensor(5),
    "without axes, and a number": lambda m, x: m.tensor(5, dtype=m.int32) - 1,
    "divided": lambda m, x: x / 2,
    "floor of a division": lambda m, x: x // 2,
    "rest of a division": lambda m, x: x % 2,
    "negative": lambda m, x: -x,
    "absolute": lambda m, x: (-x).abs(),
    "sign": lambda m, x: x.sign(),
    "square": lambda m, x: x**2,
    "power": lambda m, x: x**x,
    "power of a number": lambda m, x: 2**x,
    "exp": lambda m, x: x.exp(),
    "reciprocal": lambda m, x: x.reciprocal(),
    "floor": lambda m, x: x.floor(),
    "clamp": lambda m, x: x.clamp(2, 3),
    "clamp to floats": lambda m, x: x.clamp(1.5, 2.5),
    "maximum": lambda m, x: x.maximum(m.tensor([2, 2, 2])),
    "less": lambda m, x: x < 2,
    "equal": lambda m, x: x == m.tensor([1, 3, 3]),
    "where": lambda m, x: m.where(x > 1, x, 0),
    "where a float": lambda m, x: m.where(x > 1, x, 0.5),
    "masked": lambda m, x: x.masked_fill(x > 1, 7),
    "bits": lambda m, x: (x & 3) | (x ^ 1),
    "inverted": lambda m, x: ~x,
    "sum": lambda m, x: x.sum(),
    "sum along an axis": lambda m, x: x.sum(0, keepdim=True),
    "sum of one": lambda m, x: m.tensor(5, dtype=m.int32).sum(),
    "product": lambda m, x: x.prod(),
    "running sum": lambda m, x: x.cumsum(0),
    "running product": lambda m, x: x.cumprod(0),
    "largest": lambda m, x: x.max(),
    "amax": lambda m, x: x.amax(0),
    "place of the largest": lambda m, x: x.argmax(),
    "any": lambda m, x: x.any(),
    "matmul": lambda m, x: x.view(3, 1) @ x.view(1, 3),
    "dot": lambda m, x: x.dot(x),
    "einsum": lambda m, x: m.einsum("i,j->ij", x, x),
    "sorted": lambda m, x: x.sort(descending=True)[0],
    "unique": lambda m, x: m.unique(x),
    "counted": lambda m, x: m.bincount(x),
    "cat": lambda m, x: m.cat([x, x]),
    "cat with int64": lambda m, x: m.cat([x, m.tensor([1])]),
    "repeated": lambda m, x: x.repeat(2),
    "float": lambda m, x: x.float(),
    "long": lambda m, x: x.long(),
    "bool": lambda m, x: x.bool(),
    "int of floats": lambda m, x: m.tensor([1.7, -1.7]).int(),
    "like": lambda m, x: m.ones_like(x),
    "full": lambda m, x: m.full((2,), 3, dtype=m.int32),
    "arange": lambda m, x: m.arange(3, dtype=m.int),
    "as an index": lambda m, x: m.arange(6)[x],
    "as an index of rows": lambda m, x: m.index_select(m.eye(4), 0, x),
    "as places": lambda m, x: m.gather(m.arange(6), 0, x),
    "as rows of a table": lambda m, x: m.nn.functional.embedding(x, m.eye(4)),
}
NUMBERS = np.array([1, 2, 3], np.int32)


def assert_alike(theirs, ours):
    assert (f"torch.{ours.dtype}", ours.shape) == (str(theirs.dtype), tuple(theirs.shape))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


@pytest.fixture(params=["quick", "compiled", "python"])
def loops(request, monkeypatch):
    """Small arrays by NumPy, by loops that Numba compiles, and by the specification."""
    if request.param == "compiled":
        monkeypatch.setattr(backends, "is_quick", lambda *_: False)
        monkeypatch.setattr(backends.here.choice, "quick", False)
    with mg.backend("python" if request.param == "python" else "numba"):
        yield


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_values_and_types_are_pytorchs(name, loops):
    """Operations give PyTorch's numbers, in PyTorch's types."""
    assert_alike(EXPRESSIONS[name](torch, torch.tensor(NUMBERS)), EXPRESSIONS[name](mg, mg.tensor(NUMBERS)))


@pytest.mark.parametrize("name", [name for name in EXPRESSIONS if name not in ("unique", "counted")])
def test_a_compiled_graph_gives_the_same(name):
    """`jit` keeps numbers and types."""
    x = mg.tensor(NUMBERS)
    compiled = graph.jit(lambda x: EXPRESSIONS[name](mg, x))
    for _ in range(2):
        assert_alike(EXPRESSIONS[name](torch, torch.tensor(NUMBERS)), compiled(x))


def test_int32_has_no_gradient():
    """A derivative in integers is refused, and none flows through a conversion."""
    with pytest.raises(TypeError, match="int32 has no derivative"):
        mg.tensor(NUMBERS, requires_grad=True)
    x = mg.ones(2, requires_grad=True)
    assert not x.int().requires_grad
    (x * mg.tensor([2, 3]).int()).sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]


def test_int32_is_shared_saved_and_printed(tmp_path):
    """An array of int32 shares its memory, a file keeps the type, and it is printed where it is not the usual one."""
    array = NUMBERS.copy()
    x = mg.from_numpy(array)
    array[0] = 9
    assert x.tolist() == [9, 2, 3]
    mg.save(x, tmp_path / "x.npz")
    assert mg.load(tmp_path / "x.npz").dtype == mg.int32
    assert repr(x) == "tensor([9, 2, 3], dtype=int32)"
    assert mg.int is mg.int32 or mg.int == mg.int32


def test_sums_do_not_wrap_around():
    """A sum of int32 is added up in int64, also where it is large."""
    large = mg.full((arrays.LARGE * 2,), 2**30, dtype=mg.int32)
    assert large.sum().item() == 2**31 * arrays.LARGE
    assert large.view(2, -1).sum(0)[0].item() == 2**31

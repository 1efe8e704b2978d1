"""Values and derivatives at the corners of the number line: 0, -0, infinities, nan, ties. They are PyTorch's."""

import itertools
import math

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg

INF, NAN = math.inf, math.nan
CORNERS = (0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, -2.5, 0.5)
ELEMENTARY = ["exp", "log", "sqrt", "square", "sin", "cos", "tanh", "sigmoid", "relu", "erf"]
ELEMENTARY += ["abs", "sign", "neg", "reciprocal"]
UNARY = {
    **{
        name: lambda m, x, name=name: getattr(x, name)()
        for name in [
            "exp",
            "log",
            "sqrt",
            "square",
            "sin",
            "cos",
            "tanh",
            "sigmoid",
            "relu",
            "erf",
            "abs",
            "sign",
            "neg",
            "reciprocal",
        ]
    },
    **{
        f"x ** {p}": lambda m, x, p=p: x**p for p in (0, 1, 2, 3, 0.5, -1, -2, 1.5, -0.5, INF, -INF, NAN, 0.0, 1.0, 2.0)
    },
    **{f"{b} ** x": lambda m, x, b=b: b**x for b in (0.0, 1.0, -1.0, 2.0, -2.0, INF, -INF, NAN, 0.5)},
    "gelu": lambda m, x: x.gelu() if m is mg else m.nn.functional.gelu(x),
    "1 / x": lambda m, x: 1.0 / x,
    "x / x": lambda m, x: x / x,
    "x * x": lambda m, x: x * x,
    "x - x": lambda m, x: x - x,
    "clamp": lambda m, x: x.clamp(-1.0, 1.0),
    "clamp from below": lambda m, x: x.clamp(min=0.0),
    "clamp from above": lambda m, x: x.clamp(max=0.0),
    "where": lambda m, x: m.where(x > 0, x, 0.0),
    "log beside where": lambda m, x: m.where(x > 0, x.log(), 0.0),
    "sqrt beside where": lambda m, x: m.where(x > 0, x.sqrt(), 0.0),
    "masked_fill": lambda m, x: x.masked_fill(x > 0, 3.0),
}
BINARY = {
    "add": lambda m, x, y: x + y,
    "sub": lambda m, x, y: x - y,
    "mul": lambda m, x, y: x * y,
    "div": lambda m, x, y: x / y,
    "pow": lambda m, x, y: x**y,
    "maximum": lambda m, x, y: m.maximum(x, y),
    "minimum": lambda m, x, y: m.minimum(x, y),
    "where": lambda m, x, y: m.where(x > y, x, y),
    "clamp by tensors from below": lambda m, x, y: x.clamp(min=y),
    "clamp by tensors from above": lambda m, x, y: x.clamp(max=y),
}
ROWS = (
    [1.0, 2.0, 2.0],
    [0.0, 0.0, 3.0],
    [0.0, -0.0, 0.0],
    [INF, 1.0, 2.0],
    [-INF, 1.0, 2.0],
    [-INF, -INF, -INF],
    [INF, INF, 1.0],
    [NAN, 1.0, 2.0],
    [5.0, 5.0, 5.0],
    [0.0, 2.0, 3.0],
)
REDUCTIONS = {
    **{
        name: lambda m, x, name=name: getattr(x, name)(1)
        for name in ["sum", "mean", "var", "std", "prod", "amax", "amin", "logsumexp", "softmax", "log_softmax"]
    },
    "max": lambda m, x: x.max(1)[0],
    "min": lambda m, x: x.min(1)[0],
    "all": lambda m, x: m.stack([row.max() + row.min() for row in x]),
    "mse_loss": lambda m, x: m.nn.functional.mse_loss(x, x * 0.5, reduction="none"),
    "with logits": lambda m, x: m.nn.functional.binary_cross_entropy_with_logits(x, x * 0.0 + 1.0, reduction="none"),
    "cross_entropy": lambda m, x: m.nn.functional.cross_entropy(x, m.tensor([0] * len(ROWS)), reduction="none"),
}

FINITE = "a derivative that PyTorch gives as nan, from 0 * inf, is a number"
ROOTS = "PyTorch computes x ** 0.5 as sqrt(x), and so does NumPy in part; the IEEE power differs at -0.0 and -inf"
BOUND = "an infinite lower bound counts as one that is not below the upper bound, here infinity: its derivative is 0"
KEPT = {
    ("x ** 0.5", "d0"): ROOTS,
    ("x ** 0.5", "d0,u"): ROOTS,
    ("x ** 1.5", "d0,0"): ROOTS,
    ("x ** -0.5", "f"): ROOTS,
    ("0.0 ** x", "d0,0"): FINITE,
    **{("pow", quantity): FINITE for quantity in ("d0,0", "d0,1", "d0,u", "d1,0", "d1,1")},
    ("prod", "d0,0"): FINITE,
    ("std", "d0,u"): FINITE,
    **{(name, quantity): FINITE for name in ("amax", "amin") for quantity in ("d0", "d0,u")},  # the nan is the largest
    ("clamp by tensors from below", "d1"): BOUND,
    ("clamp by tensors from below", "d1,u"): BOUND,
    ("reciprocal", "d0,0"): "the rule -d / (a * a) is that of the exercise functions.arithmetic",
    ("var", "d0"): "nan beside an infinite mean, as the formula x - mean gives it; PyTorch has an infinity",
}
"""What differs from PyTorch, and why; docs/library/pytorch.md says it to users.

A quantity is "f", "d0" (the derivative in the first input), "d0,1" (of that in the second) or "d0,u" (of that in the
upstream gradient).
"""


def derivatives(m, function, values, upstream, create_graph=True):
    """Return the values of a function, its derivatives, and their derivatives in the inputs and the upstream."""

    def tensor(data):
        return m.tensor(data, dtype=m.float64, requires_grad=True)

    inputs = [tensor(list(v)) for v in values]
    out = function(m, *inputs)
    u = tensor(np.full(tuple(out.shape), upstream).tolist())
    found = {"f": out}
    if not out.requires_grad:
        return found
    first = m.autograd.grad(out, inputs, u, create_graph=create_graph, allow_unused=True)
    found |= {f"d{i}": d for i, d in enumerate(first)}
    for i, d in enumerate(first):
        if d is not None and d.requires_grad:
            v = m.tensor(np.full(tuple(d.shape), 0.3).tolist(), dtype=m.float64)
            second = m.autograd.grad(d, [*inputs, u], v, retain_graph=True, allow_unused=True)
            found |= {f"d{i},{j if j < len(inputs) else 'u'}": dd for j, dd in enumerate(second)}
    return found


def plain(value):
    """Return a value of either library as an array; PyTorch's zeros may have no memory of their own."""
    return np.array(value.detach().numpy(force=True) if value.__class__ is not mg.Tensor else value.detach().numpy())


def disagreements(name, function, values, upstream):
    """Return where minigrad and PyTorch differ: (function, quantity), the point, our value, theirs."""
    ours, theirs = (derivatives(m, function, values, upstream) for m in (mg, torch))
    places = []
    for key in sorted({*ours, *theirs}):
        pair = [found.get(key) for found in (ours, theirs)]
        a, b = (0.0 if value is None else plain(value) for value in pair)  # None: no derivative
        a, b = np.broadcast_arrays(a, b)
        for at in np.argwhere(~np.isclose(a, b, equal_nan=True)):
            point = tuple(v[at[0]] for v in values)
            places.append(((name, key), point, float(a[tuple(at)]), float(b[tuple(at)])))
    return places


def compare(name, places, upstream):
    """Require that nothing differs but what is kept on purpose, and that what is said to differ does."""
    kept = {key: why for key, why in KEPT.items() if key[0] == name}
    assert [place for place in places if place[0] not in kept] == []
    assert not upstream or {key for key, *_ in places} == {*kept}  # some differ by a factor of it
    assert [p for p in places if kept[p[0]] is FINITE and not (math.isnan(p[3]) and not math.isnan(p[2]))] == []


@pytest.mark.parametrize("upstream", [1.7, 0.0])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(name, upstream):
    """Value, first and second derivatives are PyTorch's at every corner."""
    compare(name, disagreements(name, UNARY[name], (CORNERS,), upstream), upstream)


@pytest.mark.parametrize("upstream", [1.7, 0.0])
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors(name, upstream):
    """Value, first, second and mixed derivatives are PyTorch's at every pair of corners."""
    pairs = tuple(zip(*itertools.product(CORNERS, CORNERS), strict=True))
    compare(name, disagreements(name, BINARY[name], pairs, upstream), upstream)


@pytest.mark.parametrize("upstream", [1.7])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, upstream):
    """Rows with ties, zeros, infinities and nan have PyTorch's values and derivatives."""
    compare(name, disagreements(name, REDUCTIONS[name], (ROWS,), upstream), upstream)


@pytest.mark.parametrize("functions", [UNARY, BINARY, REDUCTIONS], ids=["unary", "binary", "reductions"])
def test_every_way_back_gives_the_same(functions):
    """The quick rules, the recorded ones, the fused loops and the Python backend agree at the corners."""
    pairs = tuple(zip(*itertools.product(CORNERS, CORNERS), strict=True))
    usual = {id(UNARY): (CORNERS,), id(BINARY): pairs, id(REDUCTIONS): (ROWS,)}[id(functions)]
    for name, function in functions.items():
        values = usual
        if any(key[0] == name and why is ROOTS for key, why in KEPT.items()):
            values = ([x for x in CORNERS if x not in (0.0, -INF)],)
        large = tuple(tuple(v) * (4000 // len(v)) for v in values)
        recorded = derivatives(mg, function, values, 1.7)
        if "d0" not in recorded:
            continue
        quick = derivatives(mg, function, values, 1.7, create_graph=False)
        with mg.backend("python"):
            python = derivatives(mg, function, values, 1.7, create_graph=False)
        fused = derivatives(mg, function, large, 1.7, create_graph=False) if functions is not REDUCTIONS else {}
        for way, found in (("quick", quick), ("python", python), ("fused", fused)):
            for key in [key for key in ("f", "d0", "d1") if recorded.get(key) is not None and found]:
                seen, expected = plain(found[key]), plain(recorded[key])
                np.testing.assert_allclose(seen[: len(expected)], expected, err_msg=f"{name}, {key}, {way}")


OF_SCALARS = {name: f for name, f in UNARY.items() if hasattr(mg.Scalar, name) or set(name) & set("*/-")}
OF_SCALARS |= {"abs": lambda m, x: abs(x)}
PAIRS_OF_SCALARS = ("add", "sub", "mul", "div", "pow")


def of_scalars(function, point, upstream, create_graph):
    """Return the same quantities as `derivatives`, of Scalars at one point."""
    inputs, u = [mg.Scalar(v) for v in point], mg.Scalar(upstream)
    out = function(mg, *inputs)
    found = {"f": out}
    if not create_graph:
        out.backward(upstream)
        return found | {f"d{i}": x.grad for i, x in enumerate(inputs)}
    out.backward(u, create_graph=True)
    first = [x.grad for x in inputs]
    for i, d in enumerate(first):
        found[f"d{i}"] = d
        for x in (*inputs, u):
            x.grad = None
        if isinstance(d, mg.Scalar) and not d.is_constant():
            d.backward(0.3)
        found |= {f"d{i},{j if j < len(inputs) else 'u'}": x.grad for j, x in enumerate((*inputs, u))}
    return found


@pytest.mark.parametrize("name", [*OF_SCALARS, *PAIRS_OF_SCALARS])
def test_functions_of_scalars(name):
    """Scalars have the values and derivatives of tensors, with their quick twins and without."""
    function = OF_SCALARS.get(name) or BINARY[name]
    points = [(x,) for x in CORNERS] if name in OF_SCALARS else list(itertools.product(CORNERS, CORNERS))
    if any(key[0] == name and why is ROOTS for key, why in KEPT.items()):
        points = [(x,) for x in CORNERS if x not in (0.0, -INF)]
    columns = tuple(zip(*points, strict=True))
    expected = derivatives(mg, function, columns, 1.7)
    for n, point in enumerate(points):
        for create_graph in (False, True):
            for key, value in of_scalars(function, point, 1.7, create_graph).items():
                seen = 0.0 if value is None else float(value)
                wanted = 0.0 if expected.get(key) is None else float(plain(expected[key])[n])
                assert np.isclose(seen, wanted, equal_nan=True), (name, key, point, seen, wanted, create_graph)

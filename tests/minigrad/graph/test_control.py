"""Choices and loops that depend on data: the same values and derivatives with and without a trace."""

import numpy as np
import pytest

import minigrad as mg
from minigrad.errors import FunctionError, TraceError
from minigrad.graph import cond, eliminate_common, fori_loop, optimize, scan, trace, while_loop
from minigrad.transforms import grad, jvp, tree_leaves, vmap

SLOW = pytest.mark.full("graphs of graphs are compiled", share=12)
RNG = np.random.default_rng(3)
X, W, H = (mg.tensor(RNG.uniform(-0.6, 0.6, size=shape)) for shape in ((5, 3), (3, 3), (3,)))


def interpreted(fun):
    """Return the function run by the interpreter, where nothing is compiled."""

    def run(*args):
        graph = trace(fun, *args)
        arrays = [x.numpy() for x in tree_leaves(args) if isinstance(x, mg.Tensor)]
        return graph.structure.unflatten(optimize(graph).run(*arrays))

    return run


def assert_equal(found, wanted):
    for x, y in zip(tree_leaves(found), tree_leaves(wanted), strict=True):
        x, y = (np.asarray(each.detach().numpy() if isinstance(each, mg.Tensor) else each) for each in (x, y))
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10)


def network(w, h, xs, reverse=False):
    """A recurrent network: what is captured, what is handed on and what is collected all matter."""

    def step(state, x):
        h, n = state
        h = (h @ w * w.sum() + x).tanh()
        return (h, n + 1), {"y": h.sum() * w[0], "n": n}

    (h, n), collected = scan(step, (h, 0), xs, reverse=reverse)
    return h, n, collected


def loss(w, h, xs):
    h, _, collected = network(w, h, xs, reverse=True)
    return h.sum() + (collected["y"] ** 2).sum()


def through_another(w, h, xs):
    """What is captured is computed, inside of the step, from something outside alone."""
    return scan(lambda h, x: (h * w.sum() * 0.2 + x, None), h, xs)[0].sum()


def choice(x, w):
    return cond(x.sum() > 0.0, lambda x: (x @ w).exp().sum(), lambda x: (x * 3.0).sum() + 1.0, x)


def counted(x):
    return fori_loop(0, 4, lambda i, v: v * 0.5 + i * x, x).sum()


def nested(x, w):
    def step(c, row):
        return cond(row[0] > 0.0, lambda c: c @ w, lambda c: c - row, c), fori_loop(1, 3, lambda i, v: v * i, row)

    c, ys = scan(step, x[0], x)
    return (c * c).sum() + ys.sum() ** 2


CASES = {
    "scan": (network, (W, H, X)),
    "scan backwards": (lambda *a: network(*a, reverse=True), (W, H, X)),
    "gradient": (grad(loss, (0, 1, 2)), (W, H, X)),
    "gradient by way of another value": (grad(through_another, (0, 1)), (W, H, X)),
    "second derivative": (grad(lambda *a: (grad(loss)(*a) ** 2).sum(), (0, 1, 2)), (W, H, X)),
    "forward mode": (lambda *a: jvp(loss, a, (a[0] * 0.5, a[1], a[2] * 2.0)), (W, H, X)),
    "choice": (choice, (X, W)),
    "other choice": (choice, (X - 1.0, W)),
    "gradient of a choice": (grad(choice, (0, 1)), (X, W)),
    "of the other": (grad(choice, (0, 1)), (X - 1.0, W)),
    "forward mode of a choice": (lambda *a: jvp(choice, a, a), (X, W)),
    "counted": (counted, (X,)),
    "gradient of counted": (grad(counted), (X,)),
    "while": (lambda x: while_loop(lambda v: v[0].sum() < 50.0, lambda v: (v[0] * 2.0, v[1] + 1), (x, 0)), (X.abs(),)),
    "nested": (nested, (X, W)),
    "gradient of nested": (grad(nested, (0, 1)), (X, W)),
}


@pytest.mark.parametrize("name", CASES)
def test_traced_is_eager(name):
    """A graph computes what Python's own `if`, `for` and `while` compute, derivatives too."""
    fun, args = CASES[name]
    assert_equal(interpreted(fun)(*args), fun(*args))


@pytest.mark.parametrize("name", ["while", pytest.param("gradient", marks=SLOW), pytest.param("nested", marks=SLOW)])
def test_compiled_is_eager(name):
    """The graphs inside of equations are compiled too."""
    fun, args = CASES[name]
    quick = mg.jit(fun)
    for _ in range(2):
        assert_equal(quick(*args), fun(*args))
    assert quick.cache_info() == (1, 1, 1)


def test_gradients_are_those_of_differences():
    """The gradient of the recurrent network is what a small change shows."""
    slope = interpreted(grad(loss))(W, H, X)
    e = 1e-6
    for i, j in ((0, 0), (2, 1)):
        change = np.zeros((3, 3))
        change[i, j] = e
        d = mg.tensor(change)
        assert slope[i, j] == pytest.approx((loss(W + d, H, X) - loss(W - d, H, X)).item() / (2 * e), rel=1e-6)


def test_a_graph_is_one_equation():
    """The number of equations does not grow with the number of steps; nothing is kept where no gradient is wanted."""
    lengths = []
    for n in (3, 300):
        graph = trace(lambda xs: scan(lambda c, x: (c + x, None), mg.zeros(3).double(), xs), mg.zeros(n, 3).double())
        lengths.append(len(graph.equations))
        (equation,) = (e for e in graph.equations if e.op.__name__ == "Scan")
        assert len(equation.outputs) == 1
    assert lengths[0] == lengths[1]


def test_eager_arguments():
    """JAX's examples: numbers are values, None has no leaves, the length alone may be given, lists are trees."""
    wanted = mg.tensor(16.0), mg.tensor([1.0, 2.0, 4.0, 8.0])
    assert_equal(scan(lambda c, _: (c * 2.0, c), 1.0, None, length=4), wanted)
    assert fori_loop(3, 3, lambda i, v: v + 1, 5) == 5
    assert while_loop(lambda v: v < 10, lambda v: v * 3, 1).item() == 27
    assert cond(False, lambda: 1, lambda: 2) == 2
    assert cond(mg.tensor([1.0]), lambda a, b: a - b, lambda a, b: b, 5, 3) == 2
    total = fori_loop(0, mg.tensor(4), lambda i, v: v + i, 0.0)
    assert float(total) == 6.0


def test_no_steps():
    """Nothing is collected, in tensors of the right shapes and types."""

    def f(xs):
        step = lambda c, x: ((c[0] + x, c[1] + 1), {"y": x * 2.0, "n": c[1], "none": None})  # noqa: E731
        return scan(step, (mg.zeros(3).double(), 0), xs)

    for run in (f, interpreted(f)):
        (total, n), collected = run(X[:0])
        assert np.asarray(total).shape == (3,) and int(n) == 0
        y, m = (np.asarray(collected[name]) for name in ("y", "n"))
        assert (y.shape, y.dtype, m.shape, m.dtype, collected["none"]) == ((0, 3), np.float64, (0,), np.int64, None)


def test_nothing_is_handed_on():
    """The value may be None, and what is collected is all that there is."""
    assert_equal(interpreted(lambda xs: scan(lambda c, x: (c, x * 2.0), None, xs))(X), (None, X * 2.0))


def test_an_end_that_is_traced():
    """The number of steps may be a traced tensor."""
    quick = mg.jit(lambda x, n: fori_loop(1, n, lambda i, v: v * 0.5 + i, x))
    for n in (1, 4):
        assert_equal(quick(X, mg.tensor(n)), fori_loop(1, n, lambda i, v: v * 0.5 + i, X) if n > 1 else X)


def test_random_numbers_in_a_scan():
    """Each step and each run draws anew, and two scans that draw are not one."""

    def noise(x):
        return scan(lambda c, x: (c, x + mg.rand()), 0.0, x)[1]

    quick = interpreted(noise)
    assert len({*quick(mg.zeros(3)).tolist(), *quick(mg.zeros(3)).tolist()}) == 6
    graph = eliminate_common(trace(lambda x: noise(x) + noise(x), mg.zeros(3)))
    assert [e.op.__name__ for e in graph.equations].count("Scan") == 2


DRAWING = {
    "scan": lambda x: scan(lambda c, x: (c + x * mg.rand(3), None), x[0], x)[0].sum(),
    "cond": lambda x: cond(x.sum() > 0, lambda x: (x * mg.rand(5, 3)).sum(), lambda x: x.sum(), x),
    "scan in scan": lambda x: scan(
        lambda c, row: (scan(lambda c, e: (c + e * mg.rand().double(), None), c, row)[0], None), x.sum(), x
    )[0],
}


@pytest.mark.parametrize("name", DRAWING)
def test_random_numbers_have_no_derivative_in_a_trace(name):
    """The derivative would run the function again, with other numbers; without a trace there is one run."""
    fun = DRAWING[name]
    for derivative in (grad(fun), lambda x: jvp(fun, (x,), (x,))):
        with pytest.raises(TraceError, match=rf"{name[:4]}: the function draws random numbers, .*; draw them before"):
            trace(derivative, X)
    assert grad(fun)(X).shape == X.shape


def test_random_numbers_that_are_handed_in():
    """Drawn before, they are those of the value and of its derivative."""

    def handed_in(x):
        return scan(lambda c, each: (c + each[0] * each[1], None), x[0], (x, mg.rand(5, 3).double()))[0].sum()

    value, change = interpreted(lambda x: jvp(handed_in, (x,), (x,)))(X)
    assert value == pytest.approx(change)


def looped(fun, batch):
    return mg.stack([fun(x) for x in batch])


FOR_EACH = {
    "scan": lambda xs: scan(lambda c, x: (c + x, c * x), H, xs)[1],
    "scan with what all share": lambda xs: scan(lambda c, x: (c + x * xs.sum(), c), H, X)[1],
    "choice": lambda xs: cond(xs.sum() > 0.2, lambda x: x * 2.0, lambda x: -x, xs),
    "choice by a number": lambda xs: cond(xs[0, 0].relu(), lambda x: x * 2.0, lambda x: -x, xs),
    "while": lambda xs: while_loop(lambda v: v.sum() < 60.0, lambda v: v * 1.5 + 1.0, xs),
    "as often as": lambda xs: fori_loop(0, (xs.abs().sum() * 2.0).long(), lambda i, v: v * 0.5 + i, xs),
}


@pytest.mark.parametrize("name", FOR_EACH)
def test_inside_vmap(name):
    """Each example gets what it gets alone: its own choice, and as many steps as it needs; gradients as well."""
    fun, batch = FOR_EACH[name], mg.stack([X, X * -2.0, X * 0.1])
    assert_equal(vmap(fun)(batch), looped(fun, batch))
    slope = grad(lambda x: fun(x).sum())
    assert_equal(vmap(slope)(batch), looped(slope, batch))
    if name not in ("while", "as often as"):
        assert_equal(interpreted(vmap(fun))(batch), looped(fun, batch))


def test_a_traced_value_that_all_examples_share():
    """A loop of a vmap in a trace hands on what is traced, and takes what differs from example to example."""

    def f(h, xs, batch):
        return vmap(lambda b: scan(lambda c, x: (c * b + x, c), h, xs)[1])(batch)

    assert_equal(interpreted(f)(H, X, X[0]), f(H, X, X[0]))


def test_a_choice_that_all_examples_share():
    """Under vmap in a trace, a condition that is the same for all examples chooses for all."""
    batch = mg.stack([X, X * -2.0])

    def f(batch, p):
        return vmap(lambda x: cond(p > 0.0, lambda x: x * 2.0, lambda x: -x, x))(batch)

    for p in (1.0, -1.0):
        assert_equal(interpreted(f)(batch, mg.tensor(p)), f(batch, p))


def test_numbers_to_begin_with():
    """The first value may be a number where the condition, the end or the step is traced."""
    n, x = mg.tensor(4), mg.tensor(4.5)
    assert_equal(interpreted(lambda n: fori_loop(0, n, lambda i, v: v + i, 0.0))(n), mg.tensor(6.0))
    assert_equal(interpreted(lambda x: while_loop(lambda v: v < x, lambda v: v + 1.0, 0.0))(x), mg.tensor(5.0))
    assert_equal(interpreted(lambda x: while_loop(lambda v: v < 9.0, lambda v: v + x, 0.0))(x), mg.tensor(9.0))
    assert_equal(interpreted(lambda x: fori_loop(0, 3, lambda i, v: v + x, 0.0))(x), mg.tensor(13.5))


REFUSED = {
    "a pair": (TypeError, lambda x: scan(lambda c, x: c, x[0], x), r"scan: f returned .*; it must return a pair"),
    "another shape": (
        TypeError,
        lambda x: scan(lambda c, x: (c.sum(), c), x[0], x),
        r"scan: the value that f hands on is float64\[\] where it is float64\[3\] elsewhere",
    ),
    "another tree": (TypeError, lambda x: scan(lambda c, x: ((c, c), c), x[0], x), "has another structure, at"),
    "lengths": (ValueError, lambda x: scan(lambda c, y: (c, c), 0.0, (x, x[1:])), r"\(5, 3\), \(4, 3\).*one length"),
    "no length": (ValueError, lambda x: scan(lambda c, y: (c, c), x, None), "there must be a length"),
    "branches": (
        TypeError,
        lambda x: cond(x.sum() > 0, lambda x: x, lambda x: x[0], x),
        r"cond: the result of false_fun is float64\[3\] where it is float64\[5,3\] elsewhere",
    ),
    "many values": (TypeError, lambda x: cond(x > 0, lambda: x, lambda: x), r"cond: pred has shape \(5, 3\)"),
    "no function": (TypeError, lambda x: cond(x.sum(), 3, lambda: x), "cond: needs a function, not int"),
    "a body": (
        TypeError,
        lambda x: while_loop(lambda v: v.sum() < 3, lambda v: v[0], x),
        "while_loop: the value that body_fun returns is",
    ),
    "many truth values": (
        TypeError,
        lambda x: while_loop(lambda v: v < 3, lambda v: v * 2.0, x),
        r"while_loop: cond_fun returned bool\[5,3\]; it must return one truth value, for example by .any\(\)",
    ),
    "no truth value": (
        TypeError,
        lambda x: while_loop(lambda v: 3, lambda v: v * 2.0, x),
        "while_loop: cond_fun returned int; it must return one truth value",
    ),
    "a derivative": (
        FunctionError,
        lambda x: grad(lambda x: while_loop(lambda v: v.sum() < 3, lambda v: v * 2.0, x).sum())(x),
        "while_loop: has no derivative in a trace.*use scan",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """One sentence names the function, the values and what to do."""
    error, fun, said = REFUSED[name]
    with pytest.raises(error, match=said) as caught:
        trace(fun, X)
    assert "\n" not in str(caught.value)


def test_a_tensor_that_escapes():
    """What belongs to a loop's graph is refused outside of it."""
    kept = []

    def f(x):
        scan(lambda c, x: (kept.append(c * 2.0) or c, None), x[0], x)
        return kept[0] + x

    with pytest.raises(TraceError, match="used outside of its trace"):
        trace(f, X)

"""Transforms inside transforms: derivatives of the right variable, to any order, and functions that stay pure."""

import itertools
import math

import numpy as np
import pytest

import minigrad as mg
from minigrad import Scalar
from minigrad.errors import GraphError
from minigrad.quick import backward
from minigrad.transforms import checkpoint, grad, hessian, jacfwd, jacrev, jvp, linearize, stop_gradient, vjp, vmap


def by_jvp(f):
    return lambda x: jvp(f, (x,), (mg.ones_like(x) if isinstance(x, mg.Tensor) else 1.0,))[1]


def by_vjp(f):
    def derivative(x):
        y, back = vjp(f, x)
        return back(mg.ones_like(y) if isinstance(y, mg.Tensor) else 1.0)[0]

    return derivative


def by_linearize(f):
    return lambda x: linearize(f, x)[1](mg.ones_like(x) if isinstance(x, mg.Tensor) else 1.0)


def by_checkpoint(f):
    return grad(checkpoint(f))


def by_vmap(f):
    """The derivative in a batch of one example."""
    return lambda x: vmap(grad(f))(x.unsqueeze(0))[0]


def by_batch(f):
    """The derivative of a mapped function."""
    return grad(lambda x: vmap(f)(x.unsqueeze(0))[0])


WAYS = [grad, by_jvp, by_vjp, by_linearize, by_checkpoint, by_vmap, by_batch, jacfwd, jacrev]
OF_SCALARS = [grad, by_jvp, by_vjp, by_linearize, by_checkpoint, jacfwd, jacrev]
PAIRS = list(itertools.product(WAYS, repeat=2))

THREE = list(itertools.product([grad, by_jvp, by_vmap, by_checkpoint], repeat=3))


def name(way):
    return way.__name__


@pytest.mark.parametrize(("outer", "inner"), PAIRS, ids=name)
def test_perturbations_are_not_confused(outer, inner):
    """d/dx [x * d/dy (x + y)] is 1: the inner derivative sees x as a constant."""
    f = outer(lambda x: x * inner(lambda y: x + y)(mg.tensor(1.0)))
    assert f(mg.tensor(3.0)).item() == 1.0
    # d/dx [x * d/dy (x * y) at y = 2] = d/dx x^2
    f = outer(lambda x: x * inner(lambda y: x * y)(mg.tensor(2.0)))
    assert f(mg.tensor(3.0)).item() == 6.0
    # the inner variable starts at the outer one: d/dx [d/dy (x y^2) at y = x] = d/dx 2 x^2
    f = outer(lambda x: inner(lambda y: x * y * y)(x))
    assert f(mg.tensor(3.0)).item() == 12.0


@pytest.mark.parametrize(("outer", "inner"), list(itertools.product(OF_SCALARS, repeat=2)), ids=name)
def test_perturbations_of_scalars(outer, inner):
    """The same for Scalars, constants and variables alike."""
    for x in (Scalar(3.0), Scalar(3.0, requires_grad=False)):
        assert outer(lambda x: x * inner(lambda y: x + y)(Scalar(1.0)))(x).item() == 1.0
        assert outer(lambda x: inner(lambda y: x * y * y)(x))(x).item() == 12.0


@pytest.mark.parametrize(
    "ways",
    list(itertools.product([grad, by_jvp, by_vmap, by_checkpoint], repeat=3)),
    ids=lambda ways: "-".join(map(name, ways)),
)
def test_third_derivatives_in_every_combination(ways):
    """Of x sin x: -3 sin x - x cos x."""
    f = lambda x: x * x.sin()  # noqa: E731
    for way in ways:
        f = way(f)
    wanted = -3.0 * math.sin(0.7) - 0.7 * math.cos(0.7)
    assert f(mg.tensor(0.7, dtype=mg.float64)).item() == pytest.approx(wanted, rel=1e-12)


def test_high_orders():
    """The seventh derivative of sin is -cos, of tensors and of Scalars."""
    f, g = mg.Tensor.sin, Scalar.sin
    for _ in range(7):
        f, g = grad(f), grad(g)
    assert f(mg.tensor(0.3, dtype=mg.float64)).item() == pytest.approx(-math.cos(0.3))
    assert g(Scalar(0.3)).item() == pytest.approx(-math.cos(0.3))


def test_what_is_closed_over_is_a_variable_outside():
    """A leaf that a function closes over gets its gradient from the outer backward, through inner derivatives."""
    w = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    x = mg.tensor([3.0, 4.0], dtype=mg.float64)
    inner = grad(lambda x: (w * x * x).sum())(x)
    assert inner.requires_grad
    inner.sum().backward()
    assert w.grad.tolist() == [6.0, 8.0]
    w.grad = None
    value, change = jvp(lambda x: (w * x).sum(), (x,), (x,))
    (value + change).backward()
    assert w.grad.tolist() == [6.0, 8.0]
    w.grad = None
    vmap(lambda row: (w * row).sum())(mg.stack([x, x])).sum().backward()
    assert w.grad.tolist() == [6.0, 8.0]


def test_functions_stay_pure():
    """No transform writes a gradient, or leaves one behind in its results."""
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    x = mg.tensor([3.0, 4.0], requires_grad=True)
    s = Scalar(2.0)
    f = lambda x: (w * x * x).sum()  # noqa: E731
    for transform in (grad(f), hessian(f), jacfwd(f), by_jvp(f), vmap(grad(lambda x: x * x))):
        transform(x)
    grad(lambda s: s * s)(s)
    assert (w.grad, x.grad, s.grad) == (None, None, None)
    plain = mg.tensor([3.0, 4.0])
    results = [grad(lambda x: (x * x).sum())(plain), hessian(lambda x: (x**3).sum())(plain), by_jvp(mg.exp)(plain)]
    y, back = vjp(mg.exp, plain)
    assert not any(r.requires_grad for r in [*results, y, *back(plain)])


def test_an_argument_cannot_be_changed_in_place():
    """The function that is differentiated may not write into its caller's tensor."""

    def f(x):
        x[0] = 5.0
        return x.sum()

    x = mg.ones(2)
    with pytest.raises(
        GraphError, match=r"an argument of a function that is .* stays as it is; change a clone\(\) of it"
    ):
        grad(f)(x)
    assert x.tolist() == [1.0, 1.0]

    def g(x):
        y = x * 1.0
        y[0] = 5.0
        y *= 2.0
        return y.sum()

    assert grad(g)(x).tolist() == [0.0, 2.0]


def test_results_are_constants_under_no_grad():
    """Derivatives are computed there too, and not recorded."""
    w = mg.tensor(3.0, requires_grad=True)
    with mg.no_grad():
        slope = grad(lambda x: w * x * x)(2.0)
    assert slope.item() == 12.0
    assert not slope.requires_grad


def test_stop_gradient_stops_every_transform():
    """Outer and inner."""
    f = lambda x: stop_gradient(x * x) * x  # noqa: E731
    assert grad(f)(3.0).item() == 9.0
    assert grad(grad(f))(3.0).item() == 0.0
    assert jvp(f, (3.0,), (1.0,))[1].item() == 9.0
    assert vmap(grad(f))(mg.tensor([3.0])).tolist() == [9.0]
    assert stop_gradient({"a": 1, "b": None, "c": mg.ones(2)})["c"].tolist() == [1.0, 1.0]


def test_vjp_serves_many_cotangents_and_later():
    """What vjp returns can be called again, mapped, and differentiated; what linearize returns, too."""
    x = mg.tensor([1.0, 2.0], dtype=mg.float64)
    y, back = vjp(lambda x: x**3, x)
    eye = mg.eye(2, dtype=mg.float64)
    rows = vmap(back)(eye)[0]
    assert rows.tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert rows.tolist() == [row.tolist() for row in (back(eye[0])[0], back(eye[1])[0])]
    assert grad(lambda c: (back(c)[0] ** 2).sum())(y).tolist() == [18.0, 2304.0]
    change_of = linearize(lambda x: x**3, x)[1]
    assert vmap(change_of)(eye).tolist() == rows.tolist()
    assert grad(lambda t: change_of(t).sum())(x).tolist() == [3.0, 12.0]


def test_each_example_has_many_cotangents_of_its_own():
    """vjp inside vmap, and what it returns mapped again, over cotangents that differ from example to example."""

    def rows(x):
        y, back = vjp(lambda x: x.sin() * x.sum(), x)
        change_of = linearize(lambda x: x.sin() * x.sum(), x)[1]
        weights = mg.stack([y, x, x * x])
        return vmap(lambda c: back(c)[0])(weights), vmap(change_of)(weights)

    batch = mg.arange(8).double().reshape(4, 2)
    for found, wanted in zip(vmap(rows)(batch), zip(*[rows(x) for x in batch], strict=True), strict=True):
        np.testing.assert_allclose(found.numpy(), mg.stack(list(wanted)).numpy(), rtol=1e-12)


def test_mixed_trees_of_scalars_and_tensors():
    """One function, two engines."""
    f = lambda p: (p["x"] * 2.0).sum() + p["s"].item() * 0.0  # noqa: E731
    found = grad(f)({"x": mg.ones(2), "s": Scalar(3.0)})
    assert found["x"].tolist() == [2.0, 2.0]
    assert found["s"].item() == 0.0
    jacobian = jacrev(lambda p: {"t": p["x"] * 2.0, "s": p["s"] * p["s"]})({"x": mg.ones(2), "s": Scalar(3.0)})
    assert jacobian["s"]["s"].item() == 6.0
    assert jacobian["t"]["x"].tolist() == [[2.0, 0.0], [0.0, 2.0]]


@pytest.mark.parametrize("dtype", [mg.float32, mg.float64])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1,), (3, 2)])
def test_shapes_and_types(shape, dtype):
    """Empty tensors and tensors without axes; the type stays."""
    x = mg.full(shape, 0.5, dtype=dtype)
    n = int(np.prod(shape))
    results = {
        "grad": (grad(lambda x: x.sin().sum())(x), shape),
        "jacfwd": (jacfwd(mg.Tensor.sin)(x), shape * 2),
        "jacrev": (jacrev(mg.Tensor.sin)(x), shape * 2),
        "hessian": (hessian(lambda x: x.sin().sum())(x), shape * 2),
        "vmap": (vmap(lambda _: x.sin())(mg.zeros(4)), (4, *shape)),
    }
    for way, (found, wanted) in results.items():
        assert (found.shape, found.dtype) == (wanted, dtype), way
    assert results["jacfwd"][0].reshape(n, n).sum().item() == pytest.approx(n * math.cos(0.5), rel=1e-6)


def test_views_of_any_layout():
    """Inputs that are transposed, strided or repeated."""
    base = mg.arange(12).double().reshape(3, 4)
    for x in (base.T, base[:, ::2], base[0].expand(3, 4), base[1:, 1:]):
        assert grad(lambda x: (x**2).sum())(x).equal(2 * x)
        assert vmap(lambda r: r.sum(), in_axes=1)(x).equal(x.sum(0))
        assert jvp(lambda x: x.T.reshape(-1) ** 2, (x,), (x,))[1].equal(2 * x.T.reshape(-1) ** 2)


def test_an_inner_derivative_leaves_the_outer_graph_alone(monkeypatch):
    """A walk of an inner gradient stops at its own input: it does not look at what the outer function computed."""
    found = []
    newest_first = backward.newest_first
    monkeypatch.setattr(
        backward, "newest_first", lambda *args: found.append(len(newest_first(*args))) or newest_first(*args)
    )

    def loss(x):
        for _ in range(20):
            x = x - 0.1 * grad(lambda y: (y * y).sum() * 0.5)(x)
        return x.sum()

    assert grad(loss)(mg.ones(2, dtype=mg.float64)).tolist() == pytest.approx([0.9**20] * 2)
    assert max(found[:-1]) < 10

"""Rules of one's own, and recomputation: in every mode, for trees and Scalars, and what they keep in memory."""

import gc
import math
import weakref

import numpy as np
import pytest

import minigrad as mg
from minigrad import Scalar
from minigrad.errors import FunctionError
from minigrad.nn import functional as F  # noqa: N812 (PyTorch's habit)
from minigrad.transforms import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stop_gradient,
    vjp,
    vmap,
)

X = mg.tensor([0.3, 0.7], dtype=mg.float64)


@pytest.fixture(autouse=True)
def changed_in_place():
    """Something has been changed in place before: from then on walks look at the clock of every input."""
    x = mg.ones(2, requires_grad=True) * 1.0
    x[0] = 2.0
    x.sum().backward()


def plain(x, p):
    return {"a": x * p["s"].sin(), "b": (x.exp(), p["s"])}


def with_jvp():
    f = custom_jvp(plain)

    @f.defjvp
    def rule(primals, tangents):
        (x, p), (t, d) = primals, tangents
        change = {"a": t * p["s"].sin() + x * p["s"].cos() * d["s"], "b": (x.exp() * t, d["s"])}
        return f(x, p), change

    return f


def with_vjp():
    f = custom_vjp(plain)

    def bwd(kept, c):
        x, s = kept
        return c["a"] * s.sin() + c["b"][0] * x.exp(), {"s": (c["a"] * x * s.cos()).sum() + c["b"][1]}

    f.defvjp(lambda x, p: (f(x, p), (x, p["s"])), bwd)
    return f


def loss(f):
    return lambda x, p: sum(y.square().sum() for y in (f(x, p)["a"], *f(x, p)["b"]))


P = {"s": mg.tensor(0.5, dtype=mg.float64)}
KINDS = {"custom_jvp": with_jvp, "custom_vjp": with_vjp, "checkpoint": lambda: checkpoint(plain)}


def assert_same(found, wanted):
    for x, y in zip(mg.transforms.tree_leaves(found), mg.transforms.tree_leaves(wanted), strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_rules_serve_every_reverse_transform(make):
    """Values, gradients, second derivatives by reverse mode, batches, nested both ways: those of the plain function."""
    f, g = loss(make()), loss(plain)
    batch = mg.stack([X, 2 * X, -X])
    assert_same(make()(X, P), plain(X, P))
    for transform in (
        lambda f: grad(f, (0, 1))(X, P),
        lambda f: jacrev(grad(f, (0, 1)), (0, 1))(X, P),
        lambda f: grad(lambda x: grad(f)(x, P).sin().sum())(X),
        lambda f: vmap(grad(f, (0, 1)), (0, None))(batch, P),
        lambda f: grad(lambda b, p: vmap(f, (0, None))(b, p).sum(), (0, 1))(batch, P),
        lambda f: vmap(vmap(grad(f, 1), (0, None)), (None, 0))(batch, {"s": mg.stack([P["s"], P["s"] + 1.0])}),
    ):
        assert_same(transform(f), transform(g))
    weights = plain(mg.ones(2).double(), {"s": mg.tensor(1.0, dtype=mg.float64)})
    assert_same(vjp(make(), X, P)[1](weights), vjp(plain, X, P)[1](weights))


@pytest.mark.parametrize("make", [with_jvp, lambda: checkpoint(plain)], ids=["custom_jvp", "checkpoint"])
def test_rules_serve_forward_mode(make):
    """Also over and under reverse mode, and inside vmap."""
    f, g = make(), plain
    change = (mg.ones(2).double(), {"s": mg.tensor(2.0, dtype=mg.float64)})
    assert_same(jvp(f, (X, P), change), jvp(g, (X, P), change))
    for transform in (
        lambda f: jacfwd(f, (0, 1))(X, P),
        lambda f: hessian(loss(f), (0, 1))(X, P),
        lambda f: grad(lambda x: jvp(f, (x, P), change)[1]["a"].sum())(X),
        lambda f: jvp(lambda x: jvp(f, (x, P), change)[1], (X,), (X,)),
        lambda f: vmap(lambda x: jvp(f, (x, P), change)[1])(mg.stack([X, -X])),
    ):
        assert_same(transform(f), transform(g))


@pytest.mark.parametrize("wrap", ["custom_jvp", "custom_vjp", "checkpoint"])
def test_rules_of_scalars(wrap):
    """x^2 by a rule, to second order."""
    if wrap == "custom_jvp":
        f = custom_jvp(lambda x: x * x)
        f.defjvp(lambda primals, tangents: (f(*primals), 2.0 * primals[0] * tangents[0]))
    elif wrap == "custom_vjp":
        f = custom_vjp(lambda x: x * x)
        f.defvjp(lambda x: (f(x), x), lambda x, d: (2.0 * x * d,))
    else:
        f = checkpoint(lambda x: x * x)
    x = Scalar(3.0)
    assert (f(x).item(), grad(f)(x).item(), grad(grad(f))(x).item()) == (9.0, 6.0, 2.0)
    (f(x) * 1.0).backward()
    assert x.grad == 6.0
    if wrap != "custom_vjp":
        assert jvp(f, (x,), (1.0,))[1].item() == 6.0


def test_a_rule_replaces_the_derivative():
    """It is the rule that is asked, not the function; and only the rule of what was asked for."""
    calls = []
    f = custom_vjp(lambda x, n: x * n)
    f.defvjp(lambda x, n: (x * n, None), lambda _, d: (calls.append(d) or d * 7.0, None))
    assert grad(f)(2.0, 3).item() == 7.0
    assert len(calls) == 1
    assert f(mg.tensor(2.0), 3).item() == 6.0
    x = mg.tensor(2.0, requires_grad=True)
    f(x, n=3).backward()
    assert x.grad.item() == 7.0
    g = custom_jvp(lambda x, y: x * y)
    g.defjvps(lambda t, ans, x, y: 5.0 * t, None)
    assert [d.item() for d in grad(g, (0, 1))(2.0, 3.0)] == [5.0, 0.0]


def test_functions_may_be_arguments():
    """nondiff_argnums: the rule gets them first."""
    app = custom_jvp(lambda f, x: f(x), nondiff_argnums=(0,))

    @app.defjvp
    def rule(f, primals, tangents):
        return f(*primals), 2.0 * tangents[0]

    assert grad(lambda x: app(lambda y: y**3, x))(5.0).item() == 2.0


def closing_over(kind, y, by_itself):
    """x y with a rule, where y comes from outside; the rule calls the function itself, or computes anew."""
    f = kind(lambda x: x * y)
    value = f if by_itself else (lambda x: x * y)
    if kind is custom_jvp:
        f.defjvp(lambda primals, tangents: (value(*primals), tangents[0] * y))
    else:
        f.defvjp(lambda x: (value(x), None), lambda _, d: (d * y,))
    return f


@pytest.mark.parametrize("by_itself", [True, False])
@pytest.mark.parametrize("kind", [custom_jvp, custom_vjp])
def test_what_a_rule_cannot_differentiate_is_refused(kind, by_itself):
    """A value from outside that wants derivatives gets none by a rule: one sentence says so, in place of a 0."""
    name, w = kind.__name__, mg.tensor(2.0, requires_grad=True)
    for call in (
        lambda: grad(lambda y: closing_over(kind, y, by_itself)(y * 1.0))(2.0),
        lambda: grad(closing_over(kind, w, by_itself))(3.0),
    ):
        with pytest.raises(
            FunctionError, match=rf"{name}: <lambda> takes a value from outside .*; make it an argument"
        ):
            call()
    assert grad(lambda y: closing_over(kind, stop_gradient(y), by_itself)(y * 1.0))(2.0).item() == 2.0
    assert grad(closing_over(kind, w.detach(), by_itself))(3.0).item() == 2.0
    assert vmap(grad(closing_over(kind, w.detach(), by_itself)))(X).tolist() == [2.0, 2.0]


# --- checkpoint ----------------------------------------------------------------------------------------------


def test_checkpoint_gives_closed_over_tensors_their_gradients():
    """Parameters of a module, through backward, vmap and derivatives of derivatives."""
    layer = mg.nn.Linear(2, 2, dtype=mg.float64)
    f = lambda x: layer(x).tanh().sum()  # noqa: E731
    f(X).backward()
    wanted = [p.grad for p in layer.parameters()]
    layer.zero_grad()
    checkpoint(f)(X).backward()
    assert_same([p.grad for p in layer.parameters()], wanted)
    layer.zero_grad()
    vmap(checkpoint(f))(mg.stack([X, X])).sum().backward()
    assert_same([p.grad for p in layer.parameters()], [2 * g for g in wanted])
    both = []
    for g in (f, checkpoint(f)):
        layer.zero_grad()
        grad(g)(X).square().sum().backward()
        both.append(layer.weight.grad)
    assert_same(*both)


def test_checkpoint_draws_the_same_random_numbers_again():
    """The gradient of dropout is that of the mask that the value had; the stream goes on as without."""
    x = mg.ones(100)
    f = lambda x: F.dropout(x).sum()  # noqa: E731
    mg.manual_seed(1)
    value, slope = mg.transforms.value_and_grad(checkpoint(f))(x)
    after = mg.rand(1).item()
    assert slope.sum().item() == value.item()
    mg.manual_seed(1)
    f(x)
    assert mg.rand(1).item() == after


ALIVE = weakref.WeakSet()
MOST = [0]


class Probe(mg.Function):
    """sin, counting the arrays that it has saved and that are alive."""

    @staticmethod
    def forward(ctx, x):
        saved = x.detach().clone()
        ALIVE.add(saved)
        MOST[0] = max(MOST[0], len(ALIVE))
        ctx.save_for_backward(saved)
        return x.sin()

    @staticmethod
    def backward(ctx, d_output):
        return d_output * ctx.saved_values[0].cos()


def saved_at_most(n, piece):
    """The gradient of a chain of n layers in checkpointed pieces; how many saved arrays lived at once, and live on."""

    def run(layers):
        def f(x):
            for _ in range(layers):
                x = Probe.apply(x)
            return x

        return f

    pieces = [run(min(piece, n - start)) for start in range(0, n, piece)]
    pieces = [checkpoint(f) for f in pieces] if piece < n else pieces

    def chain(x):
        for f in pieces:
            x = f(x)
        return x.sum()

    gc.disable()  # nothing may hang in cycles
    try:
        ALIVE.clear()
        MOST[0] = 0
        return grad(chain)(X), MOST[0], len(ALIVE)
    finally:
        gc.enable()


@pytest.mark.parametrize("n", [16, 100])
def test_square_root_checkpoints_keep_square_root_many_arrays(n):
    """n saved arrays without, one piece of sqrt(n) at a time with; none stays after the gradient."""
    slope, without, left = saved_at_most(n, n)
    assert (without, left) == (n, 0)
    again, kept, left = saved_at_most(n, math.isqrt(n))
    assert (kept, left) == (math.isqrt(n), 0)
    assert_same(slope, again)


def test_a_node_is_newer_than_what_is_behind_it():
    """Once a tensor was changed in place, walks compare ages: also those of nodes that are made under vmap."""
    changed = mg.ones(3, requires_grad=True) * 2.0
    changed.add_(1.0)
    x, w = mg.ones(2, 3), mg.ones(3)
    f = vmap(checkpoint(lambda w, x: (w * x).sum()), (None, 0))
    assert grad(lambda w: f(w, x).sum())(w).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("result", [lambda x: None, lambda x: x > 0.0, lambda x: (x.shape, [])])
def test_a_function_with_a_rule_may_return_nothing_to_differentiate(result):
    """Its rule is never asked, and what stands beside it is differentiated, as in JAX."""
    by_jvp, by_vjp = mg.transforms.custom_jvp(result), mg.transforms.custom_vjp(result)
    by_jvp.defjvp(lambda primals, tangents: pytest.fail("there is no change"))
    by_vjp.defvjp(lambda x: (result(x), x), lambda x, slope: pytest.fail("there is no gradient"))
    for f in (by_jvp, by_vjp):
        assert grad(lambda x, f=f: (f(x), x.square().sum())[1])(mg.tensor([1.0, 3.0])).tolist() == [2.0, 6.0]

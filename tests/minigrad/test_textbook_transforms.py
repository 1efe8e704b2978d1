"""The readable functions of lessons 10 and 10b give what the library's own transforms give."""

import math
import random

import pytest

import minigrad
from minigrad import batching, dual, functional, trees
from minigrad.transforms import checkpoint, grad, hessian, hvp, jacfwd, jacrev, jvp, vjp, vmap
from minigrad.transforms import trees as library_trees

X = minigrad.tensor([0.5, 1.25, -0.75], dtype=minigrad.float64)
V = minigrad.tensor([1.0, -2.0, 0.25], dtype=minigrad.float64)
W = minigrad.tensor([[1.0, 0.5, 2.0], [-1.0, 3.0, 0.25]], dtype=minigrad.float64)


def curve(x):
    """Return two numbers of three, by operations that both forms of forward mode know."""
    return W @ (x.sin() * x + (x * x).sum() / (2.0 + x.cos())) - x[1] ** 3


def height(x):
    """Return one number."""
    return (curve(x) * curve(x)).sum()


def close(a, b):
    """Return whether two tensors agree to the last digits, in shape as well."""
    return a.shape == b.shape and (a - b).abs().max().item() < 1e-11


def test_jvp_and_vjp():
    """One run in a direction, and one pass from a cotangent, give values and derivatives of the library."""
    for seen, wanted in zip(dual.jvp(curve, (X,), (V,)), jvp(curve, (X,), (V,)), strict=True):
        assert close(seen, wanted)
    (value, back), (right, way) = functional.vjp(curve, X), vjp(curve, X)
    cotangent = minigrad.tensor([3.0, -1.0], dtype=minigrad.float64)
    assert close(value, right)
    assert close(back(cotangent)[0], way(cotangent)[0])


def test_tables_of_derivatives():
    """Jacobians, Hessians and products with them are those of the library."""
    assert close(functional.jacfwd(curve)(X), jacfwd(curve)(X))
    assert close(functional.jacrev(curve)(X), jacrev(curve)(X))
    assert close(functional.hessian(height)(X), hessian(height)(X))
    assert close(functional.hvp(height, X, V), hvp(height, (X,), (V,)))


def test_nested_in_any_order():
    """Gradients of gradients, and a run with Duals inside a gradient."""
    third = functional.grad(lambda x: functional.grad(lambda x: (functional.grad(height)(x) * V).sum())(x).sum())
    right = grad(lambda x: grad(lambda x: (grad(height)(x) * V).sum())(x).sum())
    assert close(third(X), right(X))
    mixed = functional.grad(lambda x: dual.jvp(height, (x,), (V,))[1])
    assert close(mixed(X), hvp(height, (X,), (V,)))


def test_duals_are_refused_in_reverse_mode():
    """Forward mode around reverse mode is refused in one sentence."""
    with pytest.raises(TypeError, match="put jvp inside"):
        dual.jvp(functional.grad(lambda x: x * x), (2.0,), (1.0,))


def test_dual_numbers_against_mathematics():
    """Random programs of the eight operations have the slope that the library finds."""
    draw = random.Random(0)
    steps = [
        lambda x, y: x * y,
        lambda x, y: x + y,
        lambda x, y: x / (2.5 + y.sin()),
        lambda x, y: (x * 0.25).exp(),
        lambda x, y: (1.5 + y.cos()).log(),
        lambda x, y: 1.0 - y**2,
        lambda x, y: -x,
    ]
    for _ in range(50):
        chosen = [draw.choice(steps) for _ in range(6)]

        def program(x, chosen=chosen):
            y = x
            for step in chosen:
                x, y = step(x, y), x
            return x

        at = draw.uniform(0.5, 2.0)
        value, tangent = dual.jvp(program, (at,), (1.0,))
        x = minigrad.Scalar(at)
        result = program(x)
        result.backward()
        assert math.isclose(value, result.data, rel_tol=1e-12)
        assert math.isclose(tangent, x.grad or 0.0, rel_tol=1e-9, abs_tol=1e-12)


def test_vmap():
    """A batch gives what the library's vmap gives, gradients of each example included."""

    def loss(w, x, y):
        return ((w @ x).tanh() * y).sum() + (x * x).sum()

    x, y = minigrad.randn(5, 3, dtype=minigrad.float64), minigrad.randn(2, 5, dtype=minigrad.float64)
    axes = (None, 0, 1)
    assert close(batching.vmap(loss, axes)(W, x, y), vmap(loss, axes)(W, x, y))
    of_each = batching.vmap(functional.grad(loss, (0, 1)), axes)(W, x, y)
    for seen, wanted in zip(of_each, vmap(grad(loss, (0, 1)), axes)(W, x, y), strict=True):
        assert close(seen, wanted)
    moved = batching.vmap(lambda x: x.permute(1, 0).sum(0).view(2, 1).sum() / (1.0 + x.sum(-1) ** 2))
    like = vmap(lambda x: x.permute(1, 0).sum(0).view(2, 1).sum() / (1.0 + x.sum(-1) ** 2))
    z = minigrad.randn(4, 2, 3, dtype=minigrad.float64)
    assert close(moved(z), like(z))


def test_what_a_batch_cannot_answer():
    """A question to a batch, an operation without a rule and a gradient in what all share are one sentence each."""
    x = minigrad.ones(3)
    for program, message in (
        (lambda x: x if x else -x, "one question for a whole batch"),
        (lambda x: x.cumsum(0), "no batching rule for 'cumsum'"),
        (lambda x: functional.grad(lambda w: (w * x).sum())(2.0), "hand this one to vmap too"),
    ):
        with pytest.raises((TypeError, AttributeError), match=message):
            batching.vmap(program)(x)


def test_checkpoint():
    """Values and gradients are those of the library's checkpoint."""

    def layers(x):
        return (x.sin() * 2.0).exp()

    for wrap, of in ((functional.checkpoint, functional.grad), (checkpoint, grad)):
        assert close(of(lambda x, wrap=wrap: wrap(layers)(x).sum())(X), grad(lambda x: layers(x).sum())(X))


def test_trees():
    """Leaves, their order and what is put together are those of the library."""
    tree = {"b": [1.0, (2.0, None)], "a": {"y": 3.0, "x": ()}}
    leaves, structure = trees.tree_flatten(tree)
    assert leaves == library_trees.tree_leaves(tree) == [3.0, 1.0, 2.0]
    assert trees.tree_unflatten(structure, leaves) == tree
    assert trees.tree_map(lambda x, y: x - y, tree, tree) == library_trees.tree_map(lambda x, y: x - y, tree, tree)


def test_what_may_carry_a_tangent():
    """A list has no tangent, and the message says what has."""
    with pytest.raises(TypeError, match="not to a value of list"):
        dual.jvp(lambda x: [x], (1.0,), (1.0,))


@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, 0)])
@pytest.mark.parametrize("left", [(4,), (3, 4), (2, 3, 4), (5, 2, 3, 4)])
@pytest.mark.parametrize("right", [(4,), (4, 3), (2, 4, 3), (5, 1, 4, 3)])
def test_products_of_all_ranks(left, right, in_axes):
    """A product of one example has its axes aligned as a product of tensors has, whichever of the two is a batch."""
    shapes = [shape if axis is None else (6, *shape) for shape, axis in zip((left, right), in_axes, strict=True)]
    x, y = (minigrad.randn(*shape, dtype=minigrad.float64) for shape in shapes)
    wanted = vmap(lambda a, b: a @ b, in_axes)(x, y)
    assert close(batching.vmap(lambda a, b: a @ b, in_axes)(x, y), wanted)

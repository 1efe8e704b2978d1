"""JAX's documented examples, translated by name only, give the numbers that JAX 0.10.2 gives; so do the seed's.

Sources: the quickstart, the autodiff cookbook, custom derivative rules, pytrees, and the sharp bits of docs.jax.dev.
"""

import itertools

# ruff: noqa: E731, N803, N806 (names and lambdas are those of the documentation)
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

import minigrad as mg
from minigrad.errors import BatchingError
from minigrad.transforms import (
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    register_pytree_node,
    tree_leaves,
    tree_map,
    tree_structure,
    value_and_grad,
    vjp,
    vmap,
)


def assert_close(found, wanted, relative=2e-6):
    found = found.detach().numpy() if isinstance(found, mg.Tensor) else found
    np.testing.assert_allclose(found, wanted, rtol=relative, atol=relative)


def f32(values):
    return mg.tensor(values, dtype=mg.float32)


# --- quickstart ----------------------------------------------------------------------------------------------


def selu(x, alpha=1.67, lmbda=1.05):
    return lmbda * mg.where(x > 0, x, alpha * mg.exp(x) - alpha)


def sum_logistic(x):
    return mg.sum(1.0 / (1.0 + mg.exp(-x)))


def test_quickstart_selu():
    """A function of arrays."""
    assert_close(selu(mg.arange(5.0)), [0.0, 1.05, 2.1, 3.1499999, 4.2])
    assert_close(selu(-mg.arange(5.0)), [0.0, -1.1084234, -1.5161895, -1.6661983, -1.7213835])


def test_quickstart_gradients():
    """First and third derivatives, Jacobian and Hessian."""
    x = mg.arange(3.0)
    assert_close(grad(sum_logistic)(x), [0.25, 0.19661197, 0.10499357])
    assert_close(grad(grad(grad(sum_logistic)))(1.0), -0.035325605, 1e-5)
    for jacobian in (jacfwd, jacrev):
        assert_close(jacobian(mg.exp)(x), np.diag([1.0, 2.7182817, 7.389056]))
    assert_close(hessian(sum_logistic)(x), np.diag([0.0, -0.09085776, -0.07996249]))


def test_quickstart_vmap():
    """A matrix times a batch of vectors is one product."""
    rng = np.random.default_rng(0)
    mat, batched_x = f32(rng.normal(size=(150, 100))), f32(rng.normal(size=(10, 100)))
    found = vmap(partial(mg.matmul, mat))(batched_x)
    assert found.shape == (10, 150)
    assert_close(found, batched_x.numpy() @ mat.numpy().T, 1e-4)


# --- the autodiff cookbook -----------------------------------------------------------------------------------

INPUTS = f32([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39]])
TARGETS = mg.tensor([True, True, False, True])
W = f32([-2.442455768585205, -2.0356805324554443, 0.20554423332214355])
B = f32(1.2956359386444092)
W_GRAD, B_GRAD = [-0.433146, -0.7354605, -1.2598922], -0.69001776


def sigmoid(x):
    return 0.5 * (mg.tanh(x / 2) + 1)


def predict(W, b, inputs):
    return sigmoid(mg.matmul(inputs, W) + b)


def loss(W, b):
    preds = predict(W, b, INPUTS)
    label_probs = preds * TARGETS + (1 - preds) * (1 - TARGETS.float())
    return -mg.sum(mg.log(label_probs))


def test_cookbook_powers_of_grad():
    """Derivatives of tanh and of a polynomial, up to the fourth."""
    assert_close(grad(mg.tanh)(2.0), 0.070650816)
    assert_close(grad(grad(mg.tanh))(2.0), -0.13621868)
    assert_close(grad(grad(grad(mg.tanh)))(2.0), 0.25265405)
    f = lambda x: x**3 + 2 * x**2 - 3 * x + 1
    for wanted in (4.0, 10.0, 6.0, 0.0):
        f = grad(f)
        assert_close(f(1.0), wanted)


def test_cookbook_logistic_regression():
    """Gradients by position, by several positions, and of a dict of parameters."""
    assert_close(grad(loss, argnums=0)(W, B), W_GRAD)
    assert_close(grad(loss, argnums=1)(W, B), B_GRAD)
    value, slopes = value_and_grad(loss, (0, 1))(W, B)
    assert_close(value, 2.9729187)
    assert_close(slopes[0], W_GRAD)
    assert_close(slopes[1], B_GRAD)
    of_dict = grad(lambda params: loss(params["W"], params["b"]))({"W": W, "b": B})
    assert list(of_dict) == ["W", "b"]
    assert_close(of_dict["W"], W_GRAD)
    assert_close(of_dict["b"], B_GRAD)


def test_cookbook_jacobians_and_hessians():
    """Of the predictions and of the loss."""
    wanted = [
        [0.05069415, 0.10918741, 0.07506634],
        [0.14170025, -0.17390487, 0.02415345],
        [0.12579198, 0.01451446, -0.31447995],
        [0.00574409, -0.0193281, 0.01078958],
    ]
    for jacobian in (jacfwd, jacrev):
        assert_close(jacobian(lambda W: predict(W, B, INPUTS))(W), wanted, 1e-5)
        of_dict = jacobian(lambda p: predict(p["W"], p["b"], INPUTS))({"W": W, "b": B})
        assert {name: each.shape for name, each in of_dict.items()} == {"W": (4, 3), "b": (4,)}
    wanted = [
        [0.22071953, -0.103014, -0.09525573],
        [-0.10301427, 0.3591052, 0.0122537],
        [-0.09525587, 0.01225387, 0.48524547],
    ]
    assert_close(hessian(loss)(W, B), wanted, 1e-5)


def test_cookbook_hessian_vector_products():
    """Forward over reverse, reverse over forward and reverse over reverse are the Hessian times the vector."""
    rng = np.random.default_rng(2)
    X, V = mg.tensor(rng.normal(size=(5, 4))), mg.tensor(rng.normal(size=(5, 4)))

    def f(X):
        return mg.sum(mg.tanh(X) ** 2)

    wanted = (hessian(f)(X) * V).sum((2, 3)).numpy()
    assert_close(hvp(f, (X,), (V,)), wanted, 1e-10)
    assert_close(jvp(grad(f), (X,), (V,))[1], wanted, 1e-10)
    assert_close(grad(lambda X: jvp(f, (X,), (V,))[1])(X), wanted, 1e-10)
    assert_close(grad(lambda X: mg.sum(grad(f)(X) * V))(X), wanted, 1e-10)


def test_cookbook_many_vector_products_at_once():
    """A matrix times the Jacobian: vmap of what vjp returns."""
    rng = np.random.default_rng(3)
    W, M = f32(rng.normal(size=3)), f32(rng.normal(size=(10, 4)))
    y, vjp_fun = vjp(lambda W: predict(W, B, INPUTS), W)
    (outs,) = vmap(vjp_fun)(M)
    assert y.shape == (4,)
    assert_close(outs, mg.stack([vjp_fun(m)[0] for m in M]).numpy())


def test_quickstart_per_example_gradients():
    """vmap of grad, with parameters that all examples share."""
    f = lambda W, x: (predict(W, B, x) ** 2).sum()
    found = vmap(grad(f), in_axes=(None, 0))(W, INPUTS)
    assert_close(found, mg.stack([grad(f)(W, x) for x in INPUTS]).numpy())


# --- custom derivative rules ---------------------------------------------------------------------------------


def test_custom_jvp_of_two_arguments():
    """A rule for a function of x and y, used in both modes."""

    @custom_jvp
    def f(x, y):
        return mg.sin(x) * y

    @f.defjvp
    def f_jvp(primals, tangents):
        x, y = primals
        x_dot, y_dot = tangents
        return f(x, y), mg.cos(x) * x_dot * y + mg.sin(x) * y_dot

    assert_close(f(mg.tensor(2.0), mg.tensor(3.0)), 2.7278922)
    y, y_dot = jvp(f, (2.0, 3.0), (1.0, 0.0))
    assert_close(y, 2.7278922)
    assert_close(y_dot, -1.2484405)
    assert_close(grad(f)(2.0, 3.0), -1.2484405)


def test_custom_jvp_of_log1pexp():
    """The stable derivative, far out, mapped, and differentiated again."""

    def plain(x):
        return mg.log(1.0 + mg.exp(x))

    log1pexp = custom_jvp(plain)

    @log1pexp.defjvp
    def log1pexp_jvp(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return log1pexp(x), (1 - 1 / (1 + mg.exp(x))) * x_dot

    assert np.isnan(grad(plain)(100.0).item())
    assert_close(grad(log1pexp)(100.0), 1.0)
    assert_close(vmap(grad(log1pexp))(mg.arange(3.0)), [0.5, 0.7310586, 0.8807971])
    assert_close(grad(grad(log1pexp))(1.0), 0.19661194)


def test_custom_vjp_of_a_fixed_point():
    """Newton's square root: the backward rule solves another fixed point, twice for second derivatives."""

    @partial(custom_vjp, nondiff_argnums=(0,))
    def fixed_point(f, a, x_guess):
        x_prev, x = x_guess, f(a, x_guess)
        while abs(x_prev.item() - x.item()) > 1e-6:
            x_prev, x = x, f(a, x)
        return x

    def fixed_point_fwd(f, a, x_init):
        x_star = fixed_point(f, a, x_init)
        return x_star, (a, x_star)

    def fixed_point_rev(f, res, x_star_bar):
        a, x_star = res
        _, vjp_a = vjp(lambda a: f(a, x_star), a)
        (a_bar,) = vjp_a(fixed_point(partial(rev_iter, f), (a, x_star, x_star_bar), x_star_bar))
        return a_bar, mg.zeros_like(x_star)

    def rev_iter(f, packed, u):
        a, x_star, x_star_bar = packed
        _, vjp_x = vjp(lambda x: f(a, x), x_star)
        return x_star_bar + vjp_x(u)[0]

    fixed_point.defvjp(fixed_point_fwd, fixed_point_rev)

    def newton_sqrt(a):
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)

    assert_close(newton_sqrt(mg.tensor(2.0)), 1.4142135)
    assert_close(grad(newton_sqrt)(2.0), 0.35355338)
    assert_close(grad(grad(newton_sqrt))(2.0), -0.088388346)


# --- pytrees -------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    name: str
    value: object


def test_pytrees_of_the_documentation():
    """How many leaves each example has, and tree_map over lists of lists."""
    a = np.arange(3)
    trees = [[1, "a", object()], (1, (2, 3), ()), [1, {"k1": 2, "k2": (3, 4)}, 5], {"a": 2, "b": (2, 3)}, a]
    assert [len(tree_leaves(tree)) for tree in trees] == [3, 3, 5, 3, 1]
    assert str(tree_structure([1, {"k1": 2, "k2": (3, 4)}, 5])) == "PyTreeDef([*, {'k1': *, 'k2': (*, *)}, *])"
    lists = [[1, 2, 3], [1, 2], [1, 2, 3, 4]]
    assert tree_map(lambda x: x * 2, lists) == [[2, 4, 6], [2, 4], [2, 4, 6, 8]]
    assert tree_map(lambda x, y: x + y, lists, lists) == [[2, 4, 6], [2, 4], [2, 4, 6, 8]]
    assert tree_leaves([None, None]) == []
    assert tree_leaves([Point("a", 1), Point("b", 2)]) == ["a", 1, "b", 2]


def test_pytrees_custom_nodes():
    """A class is a leaf until it is registered."""

    class Special:
        def __init__(self, x, y):
            self.x, self.y = x, y

    assert len(tree_leaves([Special(0, 1), Special(2, 4)])) == 2
    register_pytree_node(Special, lambda v: ((v.x,), v.y), lambda aux, children: Special(*children, aux))
    assert tree_leaves([Special(0, 1), Special(2, 4)]) == [0, 2]
    made = tree_map(lambda x: x + 1, Special(0, "kept"))
    assert (type(made), made.x, made.y) == (Special, 1, "kept")


def test_pytrees_training_a_network():
    """The update by tree_map brings the loss of a small network down."""
    rng = np.random.default_rng(0)
    widths = [1, 16, 16, 1]
    params = [
        {"weights": f32(rng.normal(size=(n, m)) * np.sqrt(2 / n)), "biases": mg.ones(m)}
        for n, m in itertools.pairwise(widths)
    ]

    def forward(params, x):
        *hidden, last = params
        for layer in hidden:
            x = mg.relu(x @ layer["weights"] + layer["biases"])
        return x @ last["weights"] + last["biases"]

    def loss_fn(params, x, y):
        return mg.mean((forward(params, x) - y) ** 2)

    x = f32(rng.normal(size=(64, 1)))
    before = loss_fn(params, x, x**2).item()
    for _ in range(200):
        grads = grad(loss_fn)(params, x, x**2)
        params = tree_map(lambda p, g: p - 0.01 * g, params, grads)
    assert loss_fn(params, x, x**2).item() < 0.1 * before
    assert not any(p.requires_grad for p in tree_leaves(params))


# --- sharp bits ----------------------------------------------------------------------------------------------


def test_where_and_nan():
    """The gradient of the branch that was not taken must be finite, as in JAX."""

    def my_log(x):
        return mg.where(x > 0.0, mg.log(x), 0.0)

    def safe_log(x):
        return mg.where(x > 0.0, mg.log(mg.where(x > 0.0, x, 1.0)), 0.0)

    assert np.isnan(grad(my_log)(0.0).item())
    assert grad(safe_log)(0.0).item() == 0.0


def test_control_flow_in_python():
    """A derivative follows the branch that ran; vmap cannot ask, and says so."""

    def f(x):
        return 3.0 * x**2 if x < 3 else -4 * x

    assert_close(grad(f)(2.0), 12.0)
    assert_close(grad(f)(4.0), -4.0)
    with pytest.raises(BatchingError, match=r"cannot ask for the truth of a batched tensor"):
        vmap(f)(mg.arange(5.0))


# --- the seed's pages ----------------------------------------------------------------------------------------


def test_the_seed_sum_of_squares():
    """14 and [2, 4, 6]. The page prints diag(2, 4, 6) for the Hessian, which is 2 I."""
    x = f32([1.0, 2.0, 3.0])
    sum_squares = lambda x: mg.sum(x**2)
    value, slopes = value_and_grad(sum_squares)(x)
    assert value.item() == 14.0
    assert slopes.tolist() == grad(sum_squares)(x).tolist() == jacfwd(sum_squares)(x).tolist() == [2.0, 4.0, 6.0]
    assert hessian(sum_squares)(x).tolist() == [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]


def test_the_seed_second_derivatives():
    """x^3 at [2, 3]: [12, 27], then [12, 18]."""
    first = grad(lambda x: mg.sum(x**3))
    x = f32([2.0, 3.0])
    assert first(x).tolist() == [12.0, 27.0]
    assert grad(lambda x: mg.sum(first(x)))(x).tolist() == [12.0, 18.0]


def test_the_seed_nested_parameters():
    """One step of gradient descent on nested dicts, by tree_map."""
    params = {"linear1": {"W": mg.ones(2, 3), "b": mg.zeros(2)}, "linear2": {"W": mg.ones(1, 2), "b": mg.zeros(1)}}
    x, y = mg.ones(3), mg.tensor([1.0])

    def loss_fn(params):
        for layer in params.values():
            out = layer["W"] @ (x if layer is params["linear1"] else out) + layer["b"]  # noqa: F821
        return mg.sum((out - y) ** 2)

    grads = grad(loss_fn)(params)
    assert tree_structure(grads) == tree_structure(params)
    updated = tree_map(lambda p, g: p - 0.01 * g, params, grads)
    assert loss_fn(params).item() == 25.0
    assert loss_fn(updated).item() < 25.0
    assert_close(updated["linear2"]["b"], [-0.1])

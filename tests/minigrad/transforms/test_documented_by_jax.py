"""JAX's documented examples run by JAX and, translated by name only, by minigrad: the numbers are the same.

Sources: quickstart, just-in-time compilation, control flow, automatic differentiation and vectorization, the autodiff
cookbook, custom derivative rules, pytrees, stateful computations and the sharp bits of docs.jax.dev. Numbers of the
examples that need no JAX to compare with are in `test_documented`.
"""

# ruff: noqa: E731 (lambdas are those of the documentation)
import itertools
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import minigrad as mg
from minigrad import graph, transforms

RNG = np.random.default_rng(0)
MATRIX, BATCH, COTANGENTS = (RNG.normal(size=shape) for shape in ((15, 10), (10, 10), (6, 4)))
NOISY = RNG.normal(size=(32, 2))
WIDTHS = (1, 8, 8, 1)
LAYERS = [{"weights": RNG.normal(size=sizes), "biases": np.ones(sizes[1])} for sizes in itertools.pairwise(WIDTHS)]

minigrad = SimpleNamespace(
    np=mg,
    arr=lambda x: mg.tensor(x, dtype=mg.float32),
    jit=mg.jit,
    tree_map=transforms.tree_map,
    tree_leaves=transforms.tree_leaves,
    **{name: getattr(transforms, name) for name in transforms.__all__ if name[0] != "P" and "tree_" not in name},
    **{name: getattr(graph, name) for name in ("cond", "scan", "while_loop", "fori_loop")},
)


def jax():
    """JAX, by the same names, in float32 as in its documentation."""
    found = pytest.importorskip("jax", reason="JAX is not installed: pip install jax to compare with it")
    found.config.update("jax_enable_x64", False)  # other tests of this process may have asked for float64
    functions = ("jit", "grad", "vmap", "jvp", "vjp", "jacfwd", "jacrev", "hessian", "value_and_grad", "linearize")
    functions += ("checkpoint", "custom_jvp", "custom_vjp")
    return SimpleNamespace(
        np=found.numpy,
        arr=lambda x: found.numpy.asarray(x, dtype=found.numpy.float32),
        tree_map=found.tree.map,
        tree_leaves=found.tree.leaves,
        **{name: getattr(found, name) for name in functions},
        **{name: getattr(found.lax, name) for name in ("cond", "scan", "while_loop", "fori_loop", "stop_gradient")},
    )


EXAMPLES = {}


def example(run):
    """Put an example into the table: a function of a library."""
    EXAMPLES[run.__name__] = run
    return run


# --- quickstart and just-in-time compilation --------------------------------------------------------------------


@example
def quickstart(lib):
    selu = lib.jit(lambda x, alpha=1.67, lmbda=1.05: lmbda * lib.np.where(x > 0, x, alpha * lib.np.exp(x) - alpha))
    sum_logistic = lambda x: lib.np.sum(1.0 / (1.0 + lib.np.exp(-x)))
    third = lib.grad(lib.jit(lib.grad(lib.jit(lib.grad(sum_logistic)))))(1.0)
    second = lib.jit(lib.jacfwd(lib.jacrev(sum_logistic)))(lib.np.arange(3.0))
    return selu(lib.np.arange(5.0)), selu(-lib.np.arange(5.0)), third, second


@example
def quickstart_batches(lib):
    mat, batched_x = lib.arr(MATRIX), lib.arr(BATCH)
    naively = lib.np.stack([lib.np.matmul(mat, v) for v in batched_x])
    return naively, lib.jit(lib.vmap(lambda v: lib.np.matmul(mat, v)))(batched_x)


def g(x, n):
    i = 0
    while i < n:
        i += 1
    return x + i


@example
def static_arguments(lib):
    f = lambda x: x if x > 0 else 2 * x
    named = lib.jit(g, static_argnames=["n"])(10, 20), partial(lib.jit, static_argnames=["n"])(g)(10, n=20)
    return lib.jit(f, static_argnums=0)(10), lib.jit(g, static_argnums=1)(10, n=20), named


@example
def control_flow_in_jit(lib):
    def f(x):
        for _ in range(3):
            x = 2 * x
        return x

    def total(x, n=None):
        y = 0.0
        for i in range(x.shape[0] if n is None else n):
            y = y + x[i]
        return y

    x = lib.arr([2.0, 3.0, 4.0])
    branches = lib.jit(lambda x: 3.0 * x**2 if x < 3 else -4 * x, static_argnames="x")(2.0)
    filled = lib.jit(lambda length, val: lib.np.ones((length,)) * val, static_argnums=(0,))(5, 4)
    return lib.jit(f)(3), lib.jit(total)(x), lib.jit(total, static_argnames="n")(x, 2), branches, filled


@example
def structured_control_flow(lib):
    operand, array = lib.arr([0.0]), lib.np.arange(10)
    chosen = [lib.cond(p, lambda x: x + 1, lambda x: x - 1, operand) for p in (True, False)]
    loops = lib.while_loop(lambda x: x < 10, lambda x: x + 1, 0), lib.fori_loop(0, 10, lambda i, x: x + i, 0)
    sums = lib.fori_loop(0, 10, lambda i, x: x + array[i], 0), lib.scan(lambda c, x: (c + x, None), 0, array)[0]
    running = lib.scan(lambda c, x: (c + x, c + x), 0.0, lib.np.arange(10.0))
    return chosen, loops, sums, running


@example
def structured_control_flow_in_jit(lib):
    f = lambda w: lib.scan(lambda h, x: (h * w + x, None), lib.arr(0.0), lib.arr([1.0, 2.0, 3.0]))[0]
    chosen = lib.jit(lambda x: lib.cond(x[0] > 0, lambda x: x + 1, lambda x: x - 1, x))(lib.arr([0.5]))
    each = lib.vmap(lambda x: lib.cond(x > 0, lambda x: x * 2, lambda x: -x, x))(lib.arr([1.0, -2.0]))
    grown = lib.vmap(lambda x: lib.while_loop(lambda c: c < 10, lambda c: c * 2, x))(lib.arr([1.0, 3.0]))
    doubled = lib.jit(lambda x: lib.while_loop(lambda x: x < 10.0, lambda x: x * 2, x))(lib.arr(1.5))
    ending = lib.jit(lambda n: lib.fori_loop(0, n, lambda i, x: x + i, 0.0))(4)
    powers = lib.grad(lambda x: lib.fori_loop(0, 3, lambda i, v: v * x, 1.0))(2.0)
    return chosen, each, grown, doubled, ending, lib.grad(f)(0.5), lib.jit(lib.grad(f))(lib.arr(0.5)), powers


@example
def impure_functions(lib):
    f = lib.jit(lambda x: x)
    return f(4.0), f(5.0), f(lib.arr([5.0])), lib.jit(lambda n: (n + 1, n + 1))(0)


# --- automatic differentiation ------------------------------------------------------------------------------------


@example
def meta_learning(lib):
    loss = lambda params, data: ((params * data).sum() - 1.0) ** 2
    meta_loss = lambda params, data: loss(params - 0.1 * lib.grad(loss)(params, data), data)
    return lib.grad(meta_loss)(lib.arr([1.0, 2.0]), lib.arr([0.3, -0.5]))


@example
def temporal_differences(lib):
    value = lambda theta, state: lib.np.dot(theta, state)
    theta = lib.arr([0.1, -0.1, 0.0])
    given = lib.arr([1.0, 2.0, -1.0]), lib.arr(1.0), lib.arr([2.0, 1.0, 0.0])

    def td_loss(theta, s_tm1, r_t, s_t):
        target = r_t + value(theta, s_t)
        return -0.5 * ((lib.stop_gradient(target) - value(theta, s_tm1)) ** 2)

    batches = [lib.np.stack([x, x]) for x in given]
    of_each = lib.jit(lib.vmap(lib.grad(td_loss), in_axes=(None, 0, 0, 0)))
    straight_through = lib.grad(lambda x: x - lib.stop_gradient(x) + lib.stop_gradient(x * 3.0))(3.2)
    return lib.grad(td_loss)(theta, *given), of_each(theta, *batches), straight_through


@example
def hessian_vector_products(lib):
    f = lambda x: lib.np.sum(lib.np.tanh(x) ** 2)
    x, v = lib.arr([[0.1, 0.2], [0.3, -0.4]]), lib.arr([[1.0, 0.0], [0.5, 2.0]])
    reverse_reverse = lib.grad(lambda x: lib.np.sum(lib.grad(f)(x) * v))(x)
    reverse_forward = lib.grad(lambda x: lib.jvp(f, (x,), (v,))[1])(x)
    return reverse_reverse, lib.jvp(lib.grad(f), (x,), (v,))[1], reverse_forward, lib.vjp(lib.grad(f), x)[1](v)


@example
def jacobian_matrix_products(lib):
    f = lambda w: lib.np.tanh(lib.np.matmul(lib.arr(MATRIX[:4, :3]), w))
    w, m = lib.arr([0.1, -0.2, 0.3]), lib.arr(COTANGENTS)
    y, vjp_fun = lib.vjp(f, w)
    (rows,) = lib.vmap(vjp_fun)(m)
    columns = lib.vmap(lambda s: lib.jvp(f, (w,), (s,))[1], out_axes=1)(lib.np.eye(3))
    return y, rows, columns, lib.vmap(lambda s: lib.jvp(f, (w,), (s,))[1])(m[:, :3])


@example
def jacobians_of_trees(lib):
    a, b = lib.arr([1.0, 2.0]), lib.arr([3.0, 4.0])
    p = {"a": a, "b": b}
    f, h = (lambda x, y: x * lib.np.sum(y)), (lambda x, y: lib.np.sum(x * x * y))
    jacobians = lib.jacrev(lambda p: {"o": p["a"] * p["b"]})(p), lib.jacfwd(f, argnums=(0, 1))(a, b)
    return jacobians, lib.hessian(lambda p: lib.np.sum(p["a"] ** 2 * p["b"]))(p), lib.hessian(h, argnums=(0, 1))(a, b)


@example
def linear_functions(lib):
    y, change_of = lib.linearize(lambda x: lib.np.sin(x) * 3, lib.arr([1.0, 2.0]))
    again = lib.grad(lambda x: lib.np.sum(lib.checkpoint(lambda x: lib.np.sin(lib.np.sin(x)))(x)))
    return y, change_of(lib.arr([1.0, 1.0])), again(lib.arr([1.0, 2.0]))


# --- custom derivative rules --------------------------------------------------------------------------------------


@example
def log1pexp_everywhere(lib):
    @lib.custom_jvp
    def log1pexp(x):
        return lib.np.log(1.0 + lib.np.exp(x))

    @log1pexp.defjvp
    def log1pexp_jvp(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return log1pexp(x), (1 - 1 / (1 + lib.np.exp(x))) * x_dot

    x, xs = lib.arr(3.0), lib.np.arange(3.0)
    compiled = lib.jit(log1pexp)(x), lib.jit(lib.grad(log1pexp))(x), lib.vmap(lib.jit(lib.grad(log1pexp)))(xs)
    return lib.grad(log1pexp)(100.0), compiled, lib.jit(lib.vmap(lib.grad(lib.grad(log1pexp))))(xs)


@example
def a_convention(lib):
    @lib.custom_jvp
    def f(x):
        return x / (1 + lib.np.sqrt(x))

    @f.defjvp
    def f_jvp(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return f(x), ((lib.np.sqrt(x) + 2) / (2 * (lib.np.sqrt(x) + 1) ** 2)) * x_dot

    return lib.grad(f)(0.0), lib.grad(f)(2.0)


@example
def gradient_clipping(lib):
    @lib.custom_vjp
    def clip_gradient(lo, hi, x):
        return x

    clip_gradient.defvjp(lambda lo, hi, x: (x, (lo, hi)), lambda res, g: (None, None, lib.np.clip(g, *res)))
    t = lib.np.linspace(0, 10, 20)
    return lib.vmap(lib.grad(lambda x: lib.np.sin(clip_gradient(-0.75, 0.75, x))))(t)


class Point(NamedTuple):
    x: object
    y: object


@example
def rules_of_containers(lib):
    value = lambda pt: {"a": pt.x**2, "b": (lib.np.sin(pt.x), lib.np.cos(pt.y))}
    f, h = lib.custom_jvp(value), lib.custom_vjp(value)

    @f.defjvp
    def f_jvp(primals, tangents):
        (pt,), (d,) = primals, tangents
        return f(pt), {"a": 2 * pt.x * d.x, "b": (lib.np.cos(pt.x) * d.x, -lib.np.sin(pt.y) * d.y)}

    def h_bwd(pt, g):
        return (Point(2 * pt.x * g["a"] + lib.np.cos(pt.x) * g["b"][0], -lib.np.sin(pt.y) * g["b"][1]),)

    h.defvjp(lambda pt: (h(pt), pt), h_bwd)
    pt = Point(lib.arr(1.0), lib.arr(2.0))
    return f(pt), [lib.grad(lambda pt, f=f: f(pt)["a"] + f(pt)["b"][0])(pt) for f in (f, h)]


@example
def functions_as_arguments(lib):
    @partial(lib.custom_jvp, nondiff_argnums=(0,))
    def app(f, x):
        return f(x)

    @partial(lib.custom_jvp, nondiff_argnums=(0, 2))
    def app2(f, x, g):
        return f(g(x))

    @partial(lib.custom_vjp, nondiff_argnums=(0,))
    def app3(f, x):
        return f(x)

    app.defjvp(lambda f, primals, tangents: (f(*primals), 2.0 * tangents[0]))
    app2.defjvp(lambda f, g, primals, tangents: (f(g(*primals)), 3.0 * tangents[0]))
    app3.defvjp(lambda f, x: (f(x), x), lambda f, x, g: (5 * g,))
    cube = lambda x: x**3
    slopes = lib.grad(lambda x: app(cube, x))(3.0), lib.grad(lambda x: app2(cube, x, lambda y: 5 * y))(3.0)
    return app(cube, lib.arr(3.0)), slopes, lib.grad(lambda x: app3(cube, x))(4.0)


@example
def a_rule_for_each_argument(lib):
    f, h = (lib.custom_jvp(lambda x, y: x**2 * y) for _ in range(2))
    f.defjvps(lambda x_dot, ans, x, y: 2 * x * y * x_dot, lambda y_dot, ans, x, y: x**2 * y_dot)
    h.defjvps(lambda x_dot, ans, x, y: 2 * x * y * x_dot, None)
    return [lib.grad(each, n)(2.0, 3.0) for each in (f, h) for n in (0, 1)]


# --- vectorization, trees, whole programs ---------------------------------------------------------------------------


@example
def convolutions(lib):
    x, w = lib.np.arange(5.0), lib.arr([2.0, 3.0, 4.0])

    def convolve(x, w):
        return lib.np.stack([lib.np.dot(x[i - 1 : i + 2], w) for i in range(1, len(x) - 1)])

    xs, ws = lib.np.stack([x, x]), lib.np.stack([w, w])
    columns = lib.vmap(convolve, in_axes=1, out_axes=1)(xs.T, ws.T)
    return (
        lib.vmap(convolve)(xs, ws),
        columns,
        lib.vmap(convolve, in_axes=[0, None])(xs, w),
        lib.jit(lib.vmap(convolve))(xs, ws),
    )


@example
def trees(lib):
    lists, episode = [[1, 2, 3], [1, 2], [1, 2, 3, 4]], [{"t": 1, "obs": 3}, {"t": 2, "obs": 4}]
    shapes = lib.tree_map(lambda x: lib.np.ones(x.shape), [lib.np.zeros((2, 3)), lib.np.zeros((3, 4))])
    transposed = lib.tree_map(lambda *xs: list(xs), *episode)
    return lib.tree_map(lambda x, y: x + y, lists, lists), transposed, shapes, len(lib.tree_leaves([None, None, 1]))


class Params(NamedTuple):
    weight: object
    bias: object


@example
def linear_regression(lib):
    loss = lambda params, x, y: lib.np.mean((params.weight * x + params.bias - y) ** 2)

    @lib.jit
    def update(params, x, y):
        grads = lib.grad(loss)(params, x, y)
        return lib.tree_map(lambda param, g: param - g * 0.005, params, grads)

    params, x, y = Params(lib.arr(0.3), lib.arr(-0.2)), lib.arr(NOISY[:, :1]), lib.arr(NOISY @ [[3.0], [0.5]] - 1.0)
    for _ in range(50):
        params = update(params, x, y)
    return params


@example
def training_a_network(lib):
    def forward(params, x):
        *hidden, last = params
        for layer in hidden:
            x = lib.np.maximum(x @ layer["weights"] + layer["biases"], 0.0)
        return x @ last["weights"] + last["biases"]

    loss = lambda params, x, y: lib.np.mean((forward(params, x) - y) ** 2)

    @lib.jit
    def update(params, x, y):
        return lib.tree_map(lambda p, g: p - 0.0001 * g, params, lib.grad(loss)(params, x, y))

    params, x = [{name: lib.arr(w) for name, w in layer.items()} for layer in LAYERS], lib.arr(NOISY[:, :1])
    for _ in range(20):
        params = update(params, x, x**2)
    return params


@example
def where_and_nan(lib):
    my_log = lambda x: lib.np.where(x > 0.0, lib.np.log(x), 0.0)
    safe_log = lambda x: lib.np.where(x > 0.0, lib.np.log(lib.np.where(x > 0.0, x, 1.0)), 0.0)
    return lib.grad(my_log)(0.0), lib.grad(safe_log)(0.0), lib.grad(safe_log)(2.0)


def arrays(lib, tree):
    found = lib.tree_leaves(tree)
    return [np.asarray(x.detach().numpy() if isinstance(x, mg.Tensor) else x) for x in found]


@pytest.mark.full("JAX compiles its own examples", share=24)
@pytest.mark.no_cover
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    """minigrad's numbers are JAX's."""
    peer = jax()
    found, wanted = arrays(minigrad, EXAMPLES[name](minigrad)), arrays(peer, EXAMPLES[name](peer))
    for x, y in zip(found, wanted, strict=True):
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-5)

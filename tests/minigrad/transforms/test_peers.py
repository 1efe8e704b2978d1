"""The same functions, by name, under minigrad's transforms, JAX's and PyTorch's, in float64."""

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad import transforms

RNG = np.random.default_rng(0)
A, B, V = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=3)
P = np.abs(A) + 0.5

FUNCTIONS = {
    "polynomial": (lambda np, x: np.sum(x**3 - 2.0 * x**2 + x), A),
    "logistic": (lambda np, x: np.sum(1.0 / (1.0 + np.exp(-x))), A),
    "network": (lambda np, x: np.sum(np.tanh(x @ np.tanh(x.T @ x)) ** 2), A),
    "log and sqrt": (lambda np, x: np.sum(np.log(x) * np.sqrt(x)), P),
    "quotient": (lambda np, x: np.sum(x / (1.0 + np.square(x @ x))), A),
    "waves": (lambda np, x: np.sum(np.sin(x) * np.cos(x.T)) * np.sum(x), A),
    "where": (lambda np, x: np.sum(np.where(x > 0.2, x**3, np.sin(x))), A),
    "largest": (lambda np, x: np.max(x) * np.sum(x * x) - np.min(x) ** 2, A),
    "mean": (lambda np, x: np.mean(x * x) / np.sum(np.abs(x)), A),
    "shapes": (lambda np, x: np.sum(x.reshape(9)[2:7] ** 3) + np.sum(x.T[1] * x[0]), A),
    "normalised": (lambda np, x: np.sum(np.exp(x - np.log(np.sum(np.exp(x)))) ** 2), A),
    "powers": (lambda np, x: np.sum(x**1.7) + np.sum(2.0**x), P),
}


class Minigrad:
    """minigrad's names for what the peers share."""

    lib = mg
    grad, vmap, jacfwd, jacrev, hessian = (
        staticmethod(getattr(transforms, name)) for name in ("grad", "vmap", "jacfwd", "jacrev", "hessian")
    )
    jvp = staticmethod(transforms.jvp)

    @staticmethod
    def tensor(x):
        return mg.tensor(x)

    @staticmethod
    def array(x):
        return x.detach().numpy()


def pytorch():
    """PyTorch's torch.func."""

    class PyTorch(Minigrad):
        lib = torch
        grad, vmap, jacfwd, jacrev, hessian = (
            staticmethod(getattr(torch.func, name)) for name in ("grad", "vmap", "jacfwd", "jacrev", "hessian")
        )
        jvp = staticmethod(torch.func.jvp)
        tensor = staticmethod(torch.tensor)

    return PyTorch


def jax():
    """JAX, in float64."""
    found = pytest.importorskip("jax", reason="JAX is not installed: pip install jax to compare with it")
    found.config.update("jax_enable_x64", True)

    class Jax:
        lib = found.numpy
        grad, vmap, jacfwd, jacrev, hessian = found.grad, found.vmap, found.jacfwd, found.jacrev, found.hessian
        jvp, tensor, array = found.jvp, staticmethod(found.numpy.asarray), staticmethod(np.asarray)

    return Jax


@pytest.fixture(params=["torch.func", "jax"])
def peer(request):
    return pytorch() if request.param == "torch.func" else jax()


def results(peer, f, x):
    """What the transforms give, alone and nested."""
    g, x, t = (lambda x: f(peer.lib, x)), peer.tensor(x), peer.tensor(B)
    scaled = peer.lib.stack([x, 0.5 * x + 0.25 * x * x])
    found = {
        "grad": peer.grad(g)(x),
        "jvp": peer.jvp(g, (x,), (t,))[1],
        "hessian": peer.hessian(g)(x),
        "jacrev of grad": peer.jacrev(peer.grad(g))(x),
        "jacfwd of grad": peer.jacfwd(peer.grad(g))(x),
        "grad of grad": peer.grad(lambda x: (peer.grad(g)(x) * t).sum())(x),
        "jvp of grad": peer.jvp(peer.grad(g), (x,), (t,))[1],
        "grad of jvp": peer.grad(lambda x: peer.jvp(g, (x,), (t,))[1])(x),
        "jvp of jvp": peer.jvp(lambda x: peer.jvp(g, (x,), (t,))[1], (x,), (t,))[1],
        "vmap": peer.vmap(g)(scaled),
        "vmap of grad": peer.vmap(peer.grad(g))(scaled),
        "vmap of hessian": peer.vmap(peer.hessian(g))(scaled),
        "grad of vmap": peer.grad(lambda x: (peer.vmap(g)(x) ** 2).sum())(scaled),
        "jvp of vmap": peer.jvp(peer.vmap(g), (scaled,), (scaled,))[1],
        "third": peer.grad(lambda x: (peer.grad(lambda x: (peer.grad(g)(x) * t).sum())(x) * t).sum())(x),
    }
    return {name: peer.array(value) for name, value in found.items()}


@pytest.mark.full("JAX and PyTorch compute each function's derivatives", share=64)
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
@pytest.mark.parametrize(("f", "x"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_transforms_agree(peer, f, x):
    """Values and derivatives to third order, alone, nested and mapped, to 1e-9 of the largest number."""
    found, wanted = results(Minigrad, f, x), results(peer, f, x)
    for name, value in wanted.items():
        assert found[name].shape == value.shape, name
        np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-9 * np.abs(value).max(), err_msg=name)


def test_keyword_arguments_of_vmap_are_shared_in_torch_and_mapped_in_jax(peer):
    """`minigrad.func.vmap` and `minigrad.vmap` follow PyTorch, `minigrad.transforms.vmap` follows JAX."""
    here = (mg.func.vmap, mg.vmap) if peer.lib is torch else (mg.transforms.vmap,)
    rows = B.reshape(-1, 1) * np.arange(1.0, 1.0 + len(B))
    wanted = peer.array(peer.vmap(lambda x, scale: x * scale)(peer.tensor(rows), scale=peer.tensor(rows)))
    for vmap in here:
        found = vmap(lambda x, scale: x * scale)(mg.tensor(rows), scale=mg.tensor(rows))
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12)


def _rule_of_itself(custom_jvp):
    """A linear function whose rule applies it to the change."""
    f = custom_jvp(lambda x: -2.0 * x)
    f.defjvp(lambda primals, tangents: (f(*primals), f(*tangents)))
    return f


def _rules_of_each_other(custom_jvp):
    """Two linear functions, each of which is the other's rule."""
    f, g = custom_jvp(lambda x: 3.0 * x), custom_jvp(lambda x: 3.0 * x)
    f.defjvp(lambda primals, tangents: (f(*primals), g(*tangents)))
    g.defjvp(lambda primals, tangents: (g(*primals), f(*tangents)))
    return f


def _rule_with_value_and_itself(custom_jvp):
    """The value keeps its rule where it stands in a change that is transposed; the change is divided as it is."""
    divide, cube = custom_jvp(lambda x, y: x / y), custom_jvp(lambda x: x**3)
    divide.defjvp(lambda at, by: (divide(*at), divide(by[0], at[1]) - divide(divide(*at) * by[1], at[1])))
    cube.defjvp(lambda at, by: (cube(*at), divide(by[0] * 3.0 * cube(*at), at[0])))
    return cube


@pytest.mark.parametrize(
    "make",
    [
        _rule_of_itself,
        *(
            pytest.param(make, marks=pytest.mark.full("JAX compiles each derivative", share=4))
            for make in (_rules_of_each_other, _rule_with_value_and_itself)
        ),
    ],
)
def test_a_rule_may_apply_itself_to_changes(make):
    """In reverse mode too, to any order, as in JAX; the rule of such a change used to call itself for ever."""
    theirs, x, t = jax(), 1.5, 0.25
    found = []
    for lib, custom_jvp, number in (
        (mg.transforms, mg.transforms.custom_jvp, lambda v: mg.tensor(v, dtype=mg.float64)),
        (theirs, pytest.importorskip("jax").custom_jvp, theirs.tensor),
    ):
        f, at, by, rows = make(custom_jvp), number(x), number(t), number([0.5, 1.5, -2.0])
        slope = lib.grad(f)
        found.append(
            [
                np.asarray(each.detach().numpy() if isinstance(each, mg.Tensor) else each)
                for each in (
                    slope(at),
                    lib.grad(slope)(at),
                    lib.grad(lib.grad(slope))(at),
                    lib.jvp(slope, (at,), (by,))[1],
                    lib.jacfwd(lib.jacfwd(f))(at),
                    lib.vmap(slope)(rows),
                    lib.grad(lambda x, f=f, lib=lib: lib.vmap(f)(x).sum())(rows),
                )
            ]
        )
    for ours, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)

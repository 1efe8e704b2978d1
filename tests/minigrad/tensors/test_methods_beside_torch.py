"""Methods of the modules rounding, along, placing and einsum, beside PyTorch: values, types and derivatives."""

import math
import operator
import re
from types import SimpleNamespace

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg

# A program is given the library and float tensors. Shapes are those of its tensors.
PROGRAMS = {
    "floor": (lambda m, x: x.floor() * x, [(2, 3)]),
    "ceil": (lambda m, x: m.ceil(x) * x, [(2, 3)]),
    "round": (lambda m, x: m.round(x * 2) * x, [(2, 3)]),
    "round to digits": (lambda m, x: x.round(decimals=1) * x, [(2, 3)]),
    "round to tens": (lambda m, x: (x * 30).round(decimals=-1) * x, [(2, 3)]),
    "floor divide": (lambda m, x: (x.detach() // 0.3) * x, [(2, 3)]),
    "floor divide by a tensor": (lambda m, x, y: m.floor_divide(x.detach(), y.detach()) * x * y, [(2, 3), (3,)]),
    "number floor divided": (lambda m, x: (2.0 // x.detach()) * x, [(2, 3)]),
    "remainder": (lambda m, x: x % 0.3, [(2, 3)]),
    "remainder by a negative number": (lambda m, x: x.remainder(-0.3), [(2, 3)]),
    "remainder by a tensor": (lambda m, x, y: m.remainder(x * x, y), [(2, 3), (3,)]),
    "number's remainder": (lambda m, x: (2.0 % x.detach()) * x, [(2, 3)]),
    "log1p": (lambda m, x: (x * x).log1p(), [(2, 3)]),
    "log1p of small numbers": (lambda m, x: m.log1p(x * 1e-9) * 1e9, [(2, 3)]),
    "cumsum": (lambda m, x: (x * x).cumsum(1), [(2, 3)]),
    "cumsum from behind": (lambda m, x: m.cumsum(x * x, dim=-2), [(2, 3, 2)]),
    "cumsum of a number": (lambda m, x: x.cumsum(0), [()]),
    "norm": (lambda m, x: x.norm(), [(2, 3)]),
    "norm along an axis": (lambda m, x: x.norm(dim=1), [(2, 3)]),
    "norm along axes": (lambda m, x: m.norm(x, "fro", (0, 2), True), [(2, 3, 2)]),
    "norm 1": (lambda m, x: x.norm(1, 0), [(2, 3)]),
    "norm 3": (lambda m, x: x.norm(3, 0), [(2, 3)]),
    "norm 1.5": (lambda m, x: x.norm(1.5, (0, 1)), [(2, 3)]),
    "norm -1": (lambda m, x: x.norm(-1, 0), [(2, 3)]),
    "norm inf": (lambda m, x: x.norm(math.inf, 1, keepdim=True), [(2, 3)]),
    "norm -inf": (lambda m, x: x.norm(-math.inf, 1), [(2, 3)]),
    "norm 0": (lambda m, x: x.norm(0, 1) * x.sum(1), [(2, 3)]),
    "sort": (lambda m, x: (x * x).sort()[0], [(2, 3)]),
    "sort down": (lambda m, x: m.sort(x * x, dim=0, descending=True).values, [(4, 3)]),
    "argsort": (lambda m, x: x[x.argsort()] * x, [(5,)]),
    "sort of a number": (lambda m, x: x.sort().values * x, [()]),
    "topk": (lambda m, x: (x * x).topk(2).values, [(2, 3)]),
    "topk of the smallest": (lambda m, x: m.topk(x * x, 2, dim=0, largest=False)[0], [(4, 3)]),
    "topk, none": (lambda m, x: x.topk(0).values.sum() + x.sum(), [(4,)]),
    "tril": (lambda m, x: (x * x).tril(), [(3, 3)]),
    "tril above": (lambda m, x: m.tril(x * x, 1), [(2, 3, 4)]),
    "tril below": (lambda m, x: (x * x).tril(-2), [(4, 3)]),
    "triu": (lambda m, x: (x * x).triu(), [(3, 4)]),
    "triu above": (lambda m, x: m.triu(x * x, diagonal=2), [(2, 3, 4)]),
    "triu below": (lambda m, x: (x * x).triu(-1), [(4, 3)]),
    "diag of a vector": (lambda m, x: (x * x).diag(), [(3,)]),
    "diag of a vector, below": (lambda m, x: m.diag(x * x, -2), [(3,)]),
    "diag of a matrix": (lambda m, x: (x * x).diag(), [(3, 4)]),
    "diag of a matrix, above": (lambda m, x: (x * x).diag(2), [(3, 4)]),
    "diag of a matrix, at its end": (lambda m, x: m.diag(x, 4).sum() + x.sum(), [(3, 4)]),
    "outer": (lambda m, x, y: m.outer(x, y), [(3,), (2,)]),
    "repeat": (lambda m, x: (x * x).repeat(2, 3), [(2, 3)]),
    "repeat into new axes": (lambda m, x: (x * x).repeat((2, 1, 2)), [(2, 3)]),
    "repeat never": (lambda m, x: x.repeat(0, 1).sum() + x.sum(), [(2, 3)]),
    "roll": (lambda m, x: (x * x).roll(2), [(2, 3)]),
    "roll along an axis": (lambda m, x: m.roll(x * x, -1, 1), [(2, 3)]),
    "roll along axes": (lambda m, x: (x * x).roll((4, -2), (0, 1)), [(3, 4)]),
    "roll by a whole circle": (lambda m, x: (x * x).roll(3, 1), [(2, 3)]),
    "index_add": (
        lambda m, x, y: m.index_add(x, 1, m.tensor([2, 0, 2]), y * y),
        [(2, 3), (2, 3)],
    ),
    "index_add with alpha": (
        lambda m, x, y: x.index_add(0, m.tensor([1, 1]), y, alpha=2.5) * x,
        [(3, 2), (2, 2)],
    ),
    "scatter": (
        lambda m, x, y: (x * x).scatter(1, m.tensor([[2, 0], [1, 2]]), y * y),
        [(2, 3), (2, 2)],
    ),
    "scatter a number": (lambda m, x: m.scatter(x * x, 0, m.tensor([[1, 0, 2]]), 7.0), [(3, 4)]),
    "scatter_add": (
        lambda m, x, y: m.scatter_add(x, 0, m.tensor([[1, 0, 1], [1, 2, 0]]), y * y),
        [(3, 3), (2, 3)],
    ),
    "einsum, trace": (lambda m, x: m.einsum("ii", x * x), [(3, 3)]),
    "einsum, diagonal": (lambda m, x: m.einsum("iji->ji", x * x), [(3, 2, 3)]),
    "einsum, transposed": (lambda m, x: m.einsum("ba", x * x), [(2, 3)]),
    "einsum, sums": (lambda m, x: m.einsum("ijk->j", x * x), [(2, 3, 2)]),
    "einsum, product": (lambda m, x, y: m.einsum("ij,jk->ik", x, y), [(2, 3), (3, 4)]),
    "einsum, implicit": (lambda m, x, y: m.einsum("kj, ji", x, y), [(2, 3), (3, 4)]),
    "einsum, elements": (lambda m, x, y: m.einsum("ij,ij->ij", x, y), [(2, 3), (2, 3)]),
    "einsum, rows": (lambda m, x, y: m.einsum("ij,ij->i", x, y), [(2, 3), (2, 3)]),
    "einsum, outer": (lambda m, x, y: m.einsum("i,jk->kij", x, y), [(2,), (3, 2)]),
    "einsum, to a number": (lambda m, x, y: m.einsum("ij,ij->", x, y), [(2, 3), (2, 3)]),
    "einsum, heads": (lambda m, x, y: m.einsum("bqhd,bkhd->bhqk", x, y), [(2, 3, 2, 4), (2, 5, 2, 4)]),
    "einsum, dots": (lambda m, x, y: m.einsum("...ij,...jk->...ik", x, y), [(5, 2, 3), (3, 4)]),
    "einsum, dots that broadcast": (lambda m, x, y: m.einsum("i...,...i->i...", x, y), [(3, 2, 1), (4, 3)]),
    "einsum, size 1": (lambda m, x, y: m.einsum("ij,jk->ik", x, y), [(2, 1), (3, 4)]),
    "einsum, three": (lambda m, x, y, z: m.einsum("ij,jk,kl->il", [x, y, z]), [(2, 3), (3, 4), (4, 2)]),
    "einsum, bilinear": (lambda m, x, y, z: m.einsum("bi,oij,bj->bo", x, y, z), [(2, 3), (2, 3, 4), (2, 4)]),
    "einsum, summed alone": (lambda m, x, y: m.einsum("ij,kl->jl", x, y), [(2, 3), (3, 4)]),
}
every_program = pytest.mark.parametrize("name", PROGRAMS)


def numbers(name, shapes):
    """Numbers of which none is near a multiple of 0.1, nor twice another."""
    sizes = [math.prod(shape) for shape in shapes]
    rng = np.random.default_rng([*map(ord, name)])
    grid = (np.arange(sum(sizes)) - sum(sizes) // 2) * 0.1 + 0.0437
    parts = np.split(rng.permutation(grid), np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def leaf(m, x, layout):
    """A leaf, and a view of it with the values x."""
    if layout == "permuted" and x.ndim:
        stored = m.tensor(x.T.copy(), requires_grad=True)
        return stored, stored.permute(*reversed(range(x.ndim)))
    if layout == "sliced":
        stored = m.tensor(np.repeat(x[None], 2, 0), requires_grad=True)
        return stored, stored[1]
    stored = m.tensor(x, requires_grad=True)
    return stored, stored


def solved(m, program, arrays, layout="contiguous"):
    """The value, the gradients, and derivatives of the gradients."""
    pairs = [leaf(m, x, layout) for x in arrays]
    leaves = [pair[0] for pair in pairs]
    out = program(m, *[pair[1] for pair in pairs])
    rng = np.random.default_rng(5)
    grad = m.autograd.grad
    upstream = m.tensor(np.asarray(rng.normal(size=tuple(out.shape)), arrays[0].dtype))
    first = grad([out], leaves, [upstream], create_graph=True)
    weights = [m.tensor(np.asarray(rng.normal(size=tuple(x.shape)), arrays[0].dtype)) for x in leaves]
    total = sum((g * w).sum() for g, w in zip(first, weights, strict=True))
    second = grad([total], leaves, allow_unused=True) if total.requires_grad else [None] * len(leaves)
    second = [x.detach() * 0 + (0 if d is None else d) for d, x in zip(second, leaves, strict=True)]
    return [np.asarray(x.detach()) for x in (out, *first, *second)]


@every_program
@pytest.mark.parametrize("layout", ["contiguous", "permuted", "sliced"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_derivatives_are_pytorchs(name, dtype, layout):
    """Values, types, gradients and second derivatives, of tensors that lie in memory in any way."""
    program, shapes = PROGRAMS[name]
    arrays = [x.astype(dtype) for x in numbers(name, shapes)]
    tolerance = 1e-10 if dtype is np.float64 else 2e-4
    for ours, theirs in zip(*(solved(m, program, arrays, layout) for m in (mg, torch)), strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@every_program
def test_a_batch_is_a_loop_over_its_examples(name):
    """vmap gives what a loop over the examples gives; so do gradients through it."""
    program, shapes = PROGRAMS[name]
    batches = [np.stack([x, x[..., ::-1] * 1.3 if x.ndim else x * 1.3, -x]) for x in numbers(name, shapes)]

    def batched(m, *xs):
        return m.transforms.vmap(lambda *each: program(m, *each))(*xs)

    def looped(m, *xs):
        return m.stack([program(m, *each) for each in zip(*xs, strict=True)])

    for ours, wanted in zip(*(solved(mg, each, batches) for each in (batched, looped)), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.full("programs are compiled", share=16)
@every_program
def test_a_compiled_program_gives_the_same(name):
    """jit gives the values of the function that it was given; and grad inside it the gradients."""
    program, shapes = PROGRAMS[name]
    inputs = [mg.tensor(x) for x in numbers(name, shapes)]

    def value(*xs):
        return program(mg, *xs)

    def slope(*xs):
        return mg.transforms.grad(lambda *each: (value(*each) * 1.5).sum(), argnums=0)(*xs)

    for function in (value, slope):
        np.testing.assert_allclose(mg.jit(function)(*inputs).numpy(), function(*inputs).numpy(), rtol=1e-12, atol=1e-12)


@every_program
def test_forward_mode_agrees_with_backward_mode(name):
    """The change of the result for a change of the inputs, weighted, is the gradient of these weights."""
    program, shapes = PROGRAMS[name]
    arrays = numbers(name, shapes)
    rng = np.random.default_rng(9)
    tangents = [rng.normal(size=x.shape) for x in arrays]
    out, change = mg.transforms.jvp(
        lambda *xs: program(mg, *xs), tuple(map(mg.tensor, arrays)), tuple(map(mg.tensor, tangents))
    )
    weights = rng.normal(size=out.shape)
    leaves = [mg.tensor(x, requires_grad=True) for x in arrays]
    grads = mg.autograd.grad([program(mg, *leaves)], leaves, [mg.tensor(weights)])
    along = sum(np.vdot(g.numpy(), t) for g, t in zip(grads, tangents, strict=True))
    assert np.vdot(change.numpy(), weights) == pytest.approx(along, rel=1e-10, abs=1e-10)


@every_program
def test_the_device_cuda_gives_the_same(name):
    """On the device "cuda", a GPU or its simulator, values and gradients are the same, and stay there."""
    program, shapes = PROGRAMS[name]
    found = []
    for device in ("cpu", "cuda"):
        lib = SimpleNamespace(**{each: getattr(mg, each) for each in mg._methods | {"einsum"}})
        lib.tensor = lambda data, device=device: mg.tensor(data).to(device)
        leaves = [mg.tensor(x).to(device).requires_grad_() for x in numbers(name, shapes)]
        out = program(lib, *leaves)
        out.sum().backward()
        assert {x.device for x in (out, *[x.grad for x in leaves])} == {device}
        found.append([x.detach().cpu().numpy() for x in (out, *[x.grad for x in leaves])])
    for there, here in zip(*found, strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-9)


SPECIAL = [-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1.5, 2.5, 4e15, np.inf, np.nan, -1e-12]
AT_CORNERS = {
    "floor": lambda m, x: x.floor(),
    "ceil": lambda m, x: x.ceil(),
    "round": lambda m, x: x.round(),
    "log1p": lambda m, x: x.log1p(),
    "remainder": lambda m, x: x[:, None] % x,
    "floor_divide": lambda m, x: x[:, None] // x,
    "cumsum": lambda m, x: x[3:].cumsum(0),
    "norm": lambda m, x: x[3:9].norm(),
    "norm with nan": lambda m, x: x.norm(),
    "norm 1": lambda m, x: x.norm(1),
    "norm 0": lambda m, x: x.norm(0),
    "norm inf": lambda m, x: x.norm(math.inf),
    "norm 3": lambda m, x: x.norm(3),
    "sort": lambda m, x: x.sort(),
    "sort down": lambda m, x: x.sort(descending=True),
    "sort of equal ones": lambda m, x: (x * 0.0).sort(descending=True, stable=True),
    "argsort": lambda m, x: x.argsort(stable=True),
    "topk": lambda m, x: x.topk(3).values,
    "topk of the smallest": lambda m, x: x.topk(3, largest=False).values,
    "tril": lambda m, x: x.reshape(3, 4).tril(),
    "diag": lambda m, x: x.diag(),
    "roll": lambda m, x: x.roll(5),
    "index_add": lambda m, x: m.zeros(3).double().index_add(0, m.arange(12) % 3, x),
    "scatter": lambda m, x: x.scatter(0, m.tensor([2, 0]), x[5:7]),
    "einsum": lambda m, x: m.einsum("i,j->ij", x, x),
}


@pytest.mark.parametrize("name", AT_CORNERS)
def test_nan_infinity_and_zero_are_pytorchs(name):
    """Special values pass, or not, as in PyTorch."""
    seen, wanted = (AT_CORNERS[name](m, m.tensor(np.array(SPECIAL))) for m in (mg, torch))
    for ours, theirs in zip(*((x if isinstance(x, tuple) else (x,)) for x in (seen, wanted)), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-14)


@pytest.mark.parametrize("p", [0, 1, 1.5, 2, 3, math.inf])
def test_the_gradient_of_a_norm_of_zeros_is_zero(p):
    """Where the norm has a kink, and beside elements that are 0, the gradient is PyTorch's."""
    grads = []
    for m in (mg, torch):
        x = m.tensor(np.array([[0.0, 0.0], [0.0, 2.0]]), requires_grad=True)
        y = x.norm(p, 1)
        if y.requires_grad:
            y.sum().backward()
        grads.append(np.zeros((2, 2)) if x.grad is None else np.asarray(x.grad))
    np.testing.assert_allclose(*grads)


ON_OTHERS = {
    "floor of integers": lambda m: m.tensor([3, -4]).floor(),
    "round of integers": lambda m: m.tensor([3, -4]).round(),
    "floor divide": lambda m: m.tensor([5, -5, 7]) // m.tensor([3, 3, -2]),
    "floor divide by a number": lambda m: (m.tensor([5, -5]) // 3, 7 // m.tensor([2, -2]), m.tensor([5, -5]) // 2.0),
    "floor divide of booleans": lambda m: m.tensor([True, False]) // 2,
    "remainder": lambda m: (m.tensor([5, -5, 7]) % m.tensor([3, 3, -2]), 7 % m.tensor([2, -3]), m.tensor([5]) % 1.5),
    "remainder in two types": lambda m: m.tensor([5, -5]) % m.tensor([1.5, -1.5]),
    "log1p of integers": lambda m: m.tensor([0, 3]).log1p(),
    "cumsum of integers": lambda m: m.tensor([[1, 2], [3, 4]]).cumsum(1),
    "cumsum of booleans": lambda m: m.tensor([True, True, False]).cumsum(0),
    "cumsum in another type": lambda m: m.tensor([1, 2]).cumsum(0, dtype=m.float64),
    "sort of integers": lambda m: m.tensor([[3, 1, 2], [1, 1, 0]]).sort(0),
    "sort of booleans": lambda m: m.tensor([True, False, True]).sort(stable=True),
    "topk of integers": lambda m: m.tensor([3, 1, 2]).topk(2),
    "tril of booleans": lambda m: m.tensor([[True, True], [True, True]]).tril(),
    "triu of integers": lambda m: m.tensor([[1, 2], [3, 4]]).triu(1),
    "diag of integers": lambda m: (m.tensor([1, 2]).diag(1), m.tensor([[1, 2], [3, 4]]).diag()),
    "outer of integers": lambda m: m.outer(m.tensor([1, 2]), m.tensor([3, 4])),
    "repeat of booleans": lambda m: m.tensor([True, False]).repeat(2),
    "repeat of a number": lambda m: m.tensor(3).repeat(2, 2),
    "roll of integers": lambda m: m.arange(6).reshape(2, 3).roll(1, 0),
    "index_add of integers": lambda m: m.tensor([1, 2]).index_add(0, m.tensor([1, 1]), m.tensor([3, 4])),
    "index_add by a number": lambda m: m.zeros(2, 2).index_add(0, m.tensor(1), m.ones(1, 2)),
    "scatter into integers": lambda m: m.tensor([1, 2, 3]).scatter(0, m.tensor([2]), 9),
    "scatter of a larger source": lambda m: m.zeros(2, 3).scatter(1, m.tensor([[1]]), m.ones(2, 3)),
    "scatter_add of integers": lambda m: m.tensor([1, 2]).scatter_add(0, m.tensor([1, 1]), m.tensor([3, 4])),
    "scatter into a number": lambda m: m.tensor(1.0).scatter(0, m.tensor(0), m.tensor(2.0)),
    "einsum of integers": lambda m: m.einsum("ij,j->i", m.tensor([[1, 2], [3, 4]]), m.tensor([1, 10])),
    "in place": lambda m: (
        m.zeros(3).scatter_(0, m.tensor([1]), 5.0),
        m.zeros(3).scatter_add_(0, m.tensor([1, 1]), m.ones(2)),
        m.zeros(3).index_add_(0, m.tensor([1, 1]), m.ones(2), alpha=2),
    ),
    # nothing at all
    "empty cumsum": lambda m: (m.zeros(0, 2).cumsum(0), m.zeros(2, 0).cumsum(0)),
    "empty norm": lambda m: (m.zeros(0).norm(), m.zeros(2, 0).norm(1, 1), m.zeros(0, 2).norm(dim=1)),
    "empty sort": lambda m: (m.zeros(0).sort(), m.zeros(2, 0).sort(0), m.zeros(2, 0).argsort(descending=True)),
    "empty topk": lambda m: m.zeros(2, 0).topk(2, dim=0),
    "empty triangles": lambda m: (m.zeros(0, 3).tril(), m.zeros(2, 0).triu()),
    "empty diag": lambda m: (m.zeros(0).diag(), m.zeros(0, 3).diag(), m.zeros(0).diag(2)),
    "empty outer": lambda m: m.outer(m.zeros(0), m.zeros(2)),
    "empty repeat": lambda m: (m.zeros(0, 2).repeat(2, 2), m.zeros(2).repeat(0)),
    "empty roll": lambda m: (m.zeros(0, 2).roll(1, 0), m.zeros(0).roll(3)),
    "empty index_add": lambda m: m.ones(2).index_add(0, m.tensor([], dtype=m.int64), m.zeros(0)),
    "empty scatter": lambda m: m.ones(2).scatter(0, m.tensor([], dtype=m.int64), m.zeros(0)),
    "empty einsum": lambda m: (
        m.einsum("ij,jk->ik", m.zeros(2, 0), m.zeros(0, 3)),
        m.einsum("ij->i", m.zeros(0, 2)),
    ),
    "empty floor": lambda m: (m.zeros(0).floor(), m.zeros(0) % 2, m.zeros(0) // 2, m.zeros(0).log1p()),
}


def plain(x):
    """Type, shape and values."""
    if isinstance(x, tuple):
        return [plain(each) for each in x]
    array = np.asarray(x)
    return str(array.dtype), array.shape, array.tolist()


@pytest.mark.parametrize("name", ON_OTHERS)
def test_integers_booleans_and_empty_tensors_are_pytorchs(name):
    """Types follow PyTorch's rules, and what has no elements gives what PyTorch gives."""
    assert plain(ON_OTHERS[name](mg)) == plain(ON_OTHERS[name](torch))


def test_changes_in_place_are_differentiated():
    """Gradients of the changed tensor and of the source go where PyTorch sends them."""
    results = []
    for m in (mg, torch):
        a, b = (m.tensor(np.array(x), requires_grad=True) for x in ([1.0, 2.0, 3.0], [4.0, 5.0]))
        y = a * 2
        y.scatter_(0, m.tensor([2, 0]), b * b)
        y.scatter_add_(0, m.tensor([1, 1]), b * 3)
        y.index_add_(0, m.tensor([0, 2]), b * a[:2])
        (y * y).sum().backward()
        results.append([np.asarray(x.detach()) for x in (y, a.grad, b.grad)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("name", ["scatter_", "scatter_add_", "index_add_"])
def test_changes_in_place_are_refused_by_name_where_they_cannot_be_made(name):
    """A trace, and a vmap whose examples share the tensor, say which operation they cannot do; others do it."""
    index, ones = mg.tensor([[0], [2]]), mg.ones(2, 1)

    def change(x, index, source):
        return getattr(x.clone(), name)(0, index, source)

    with pytest.raises(mg.errors.TraceError, match=f"{name} changes a traced tensor in place"):
        mg.jit(change)(mg.zeros(3), index[0], ones[0])
    found = mg.transforms.vmap(change)(mg.zeros(2, 3), index, ones)
    assert found.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    with pytest.raises(mg.errors.BatchingError):
        mg.transforms.vmap(lambda i, s: getattr(mg.zeros(3), name)(0, i, s))(index, ones)


def test_orders_of_equal_elements_are_stable():
    """Equal elements keep their order in both directions."""
    x = mg.tensor([2.0, 1.0, 2.0, 1.0, 2.0])
    assert x.argsort().tolist() == [1, 3, 0, 2, 4]
    assert x.argsort(descending=True).tolist() == [0, 2, 4, 1, 3]
    assert x.topk(2).indices.tolist() == [0, 2]


def test_places_may_differ_from_example_to_example():
    """An index may be batched, with or without a batched tensor, also where it names a place twice."""
    rng = np.random.default_rng(2)
    x, values = (mg.tensor(rng.normal(size=(4, 3))) for _ in range(2))
    index = mg.tensor(rng.integers(0, 3, size=(4, 3)))

    def each(x, index, values):
        return mg.stack([x.scatter(0, index, values), x.scatter_add(0, index, values), x.index_add(0, index, values)])

    for axes in ((0, 0, 0), (None, 0, None), (0, 0, None), (0, None, 0), (None, None, 0)):
        whole = [t if axis == 0 else t[0] for t, axis in zip((x, index, values), axes, strict=True)]
        found = mg.transforms.vmap(each, in_axes=axes)(*whole)
        rows = [each(*(t[i] if a == 0 else t for t, a in zip(whole, axes, strict=True))) for i in range(4)]
        np.testing.assert_allclose(found.numpy(), mg.stack(rows).numpy())


@pytest.mark.parametrize(
    ("compute", "error", "message"),
    [
        (lambda: mg.tensor([True]).floor(), TypeError, "floor: a tensor of booleans cannot be rounded"),
        (lambda: mg.tensor([1]).round(decimals=1), TypeError, "round: decimals are for floats"),
        (lambda: mg.tensor([1]) // 0, ZeroDivisionError, "floor_divide: integers cannot be divided by 0"),
        (lambda: mg.tensor([1]) % mg.tensor([0]), ZeroDivisionError, "remainder: integers cannot be divided by 0"),
        (lambda: mg.ones(2) % "a", TypeError, "unsupported operand type"),
        (lambda: mg.ones(2) // np.ones(2), TypeError, "make a tensor of it with minigrad.tensor"),
        (lambda: mg.ones(2).remainder(None), TypeError, "remainder: an operand is a tensor or a number"),
        (lambda: mg.ones(2).cumsum(1), mg.errors.IndexingError, "cumsum"),
        (lambda: mg.tensor([1]).norm(), TypeError, "norm: a tensor of int64 has no norm"),
        (lambda: mg.ones(2, 2).norm("nuc"), ValueError, "norm: p is 'nuc'; it must be a number or 'fro'"),
        (lambda: mg.zeros(0).norm(math.inf), ValueError, "has no element along axis 0"),
        (lambda: mg.ones(3).topk(4), ValueError, r"topk: k is 4, but axis -1 of shape \(3,\) has size 3"),
        (lambda: mg.ones(3).tril(), ValueError, r"tril: a tensor of shape \(3,\); it needs at least two axes"),
        (lambda: mg.tensor(1.0).diag(), ValueError, r"diag: a tensor of shape \(\); it must be a vector or a matrix"),
        (lambda: mg.ones(2, 3).diag(4), ValueError, r"diag: a matrix of shape \(2, 3\) has no diagonal 4"),
        (lambda: mg.ones(2, 2).outer(mg.ones(2)), ValueError, "outer: .* both must be vectors"),
        (lambda: mg.ones(2, 2).repeat(2), ValueError, r"repeat: \(2,\) for shape \(2, 2\)"),
        (lambda: mg.ones(2).roll((1, 2), 0), ValueError, "roll: 2 shifts for 1 dims"),
        (lambda: mg.ones(2).roll((1, 2)), ValueError, "roll: 2 shifts without dims"),
        (
            lambda: mg.ones(3).index_add(0, mg.tensor([0, 1]), mg.ones(3)),
            ValueError,
            r"index_add: .* the source must have shape \(2,\)",
        ),
        (lambda: mg.ones(3).index_add(0, mg.tensor([0]), mg.tensor([1])), TypeError, "index_add: a source of int64"),
        (
            lambda: mg.ones(3).scatter(0, mg.tensor([5]), 1.0),
            mg.errors.IndexingError,
            "scatter: there is no place 5 along axis 0 of",
        ),
        (
            lambda: mg.ones(3).scatter_add(0, mg.tensor([-1]), mg.ones(1)),
            IndexError,
            "there is no place -1 along axis 0",
        ),
        (lambda: mg.ones(3).index_add(0, mg.tensor([3]), mg.ones(1)), IndexError, "index_add: there is no place 3"),
        (
            lambda: mg.ones(3).scatter(0, mg.tensor([0.0]), 1.0),
            TypeError,
            "scatter: an index has integers, not float32",
        ),
        (lambda: mg.ones(3).scatter(0, mg.tensor([[0]]), 1.0), ValueError, "scatter: an index of shape"),
        (
            lambda: mg.ones(3).scatter_add(0, mg.tensor([0, 1]), mg.ones(1)),
            ValueError,
            "scatter_add: an index of shape",
        ),
        (lambda: mg.ones(3).scatter_add(0, mg.tensor([0]), 1.0), TypeError, "scatter_add: the source must be a Tensor"),
        (lambda: mg.einsum("ij,jk", mg.ones(2, 2)), ValueError, "names 2 tensors, and 1 are given"),
        (lambda: mg.tensor([1]) & 1.5, TypeError, "&: only tensors of booleans or integers can be combined"),
        (lambda: mg.tensor([1]).int() ^ 2**40, OverflowError, r"\^: 1099511627776 is outside of int32"),
        (lambda: mg.tensor([1]) << 2, TypeError, r"<<: tensors cannot be shifted; use x \* 2\*\*n"),
        (lambda: 2 >> mg.tensor([1]), TypeError, r">>: tensors cannot be shifted; use x // 2\*\*n"),
        (lambda: operator.ior(mg.tensor([True]), 2), TypeError, "|=: a result of int64 cannot be kept in bool"),
        (lambda: operator.ifloordiv(mg.tensor([5]), 2.5), TypeError, "floor_divide_: a result of float32"),
        (lambda: operator.imod(mg.ones(1), mg.ones(2)), ValueError, r"remainder_: the result has shape \(2,\)"),
        (lambda: mg.einsum("i", mg.ones(2, 2)), ValueError, "'i' names 1 axes of a tensor that has 2"),
        (lambda: mg.einsum("i?", mg.ones(2, 2)), ValueError, "'\\?' is no letter"),
        (
            lambda: mg.einsum("ij,jk", mg.ones(2, 3), mg.ones(2, 3)),
            ValueError,
            "'j' has sizes 3 and 2; they must match",
        ),
        (lambda: mg.einsum("ij->ijk", mg.ones(2, 3)), ValueError, "is one that stands before it: k"),
        (lambda: mg.einsum("ij->ii", mg.ones(2, 3)), ValueError, "behind -> a letter stands once"),
        (lambda: mg.einsum("ii", mg.ones(2, 3)), ValueError, "two axes are called 'i'"),
        (lambda: mg.einsum("i", 3.0), TypeError, "einsum: an operand is a tensor, not float"),
    ],
)
def test_wrong_arguments_get_one_sentence(compute, error, message):
    """The error names the operation, the values and the rule."""
    with pytest.raises(error, match=message) as caught:
        compute()
    assert "\n" not in str(caught.value)


IN_PLACE = [
    name
    for name in dir(operator)
    if re.match("__i(?!nv|ndex)", name) and hasattr(torch.Tensor, name)  # not __inv__, __invert__ and __index__
]


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("of_floats", [False, True])
def test_operators_in_place_change_the_tensor_itself_as_in_torch(name, of_floats):
    """`row &= 3` changes the matrix whose row it is, or raises; without a method Python computes `row = row & 3`."""
    results = []
    for library in (torch, mg):
        whole = library.tensor([[5, 6], [7, 9]])
        whole = whole.float() if of_floats else whole
        row = whole[0]
        try:
            result = getattr(operator, name)(row, 3)
        except (TypeError, RuntimeError, NotImplementedError):
            results.append("refused")
        else:
            assert result is row
            results.append(whole.tolist())
    assert results[1] in (results[0], "refused" if "shift" in name else results[0])


def test_the_rest_kept_in_place_has_the_derivative_of_the_rest():
    """`y %= b` records what `y % b` records, also through a view of y."""
    slopes = []
    for library in (torch, mg):
        x = library.tensor([5.0, -7.5], requires_grad=True)
        b = library.tensor([3.0], requires_grad=True)
        y = x * 1.0
        row = y[:1]
        row %= b
        (y * library.tensor([2.0, 3.0])).sum().backward()
        slopes.append((x.grad.tolist(), b.grad.tolist(), y.tolist()))
    assert slopes[1] == slopes[0]

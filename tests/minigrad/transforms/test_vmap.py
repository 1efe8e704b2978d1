"""vmap: axes in trees, what has no answer for a batch, and what is said of wrong axes."""

import re

import numpy as np
import pytest

import minigrad as mg
from minigrad.errors import BatchingError
from minigrad.nn import functional as F  # noqa: N812 (PyTorch's habit)
from minigrad.transforms import grad, jacfwd, vmap

X = mg.arange(6).double().reshape(3, 2)


def looped(f, *batches):
    """The results of a loop, stacked."""
    return mg.stack([f(*each) for each in zip(*batches, strict=True)])


# --- axes ----------------------------------------------------------------------------------------------------


def test_in_axes_may_be_trees():
    """As in JAX: a tuple of ints, None and trees of them."""
    params = {"w": X, "b": mg.tensor(10.0, dtype=mg.float64)}
    f = lambda p, v: p["w"].dot(v) + p["b"]  # noqa: E731
    v = mg.tensor([1.0, 2.0], dtype=mg.float64)
    assert vmap(f, in_axes=({"w": 0, "b": None}, None))(params, v).tolist() == [12.0, 18.0, 24.0]
    assert vmap(f, in_axes=({"w": 1, "b": None}, 0))(params | {"w": X.T}, X).equal((X * X).sum(1) + 10.0)
    assert vmap(f, in_axes=[{"w": -2, "b": None}, None])(params, v).tolist() == [12.0, 18.0, 24.0]


def test_out_axes_may_be_trees():
    """An axis for each result; None for what no example changes."""
    f = lambda x: {"a": x, "rest": (x.sum(), mg.ones(2))}  # noqa: E731
    found = vmap(f, out_axes={"a": 1, "rest": (0, None)})(X)
    assert found["a"].equal(X.T)
    assert found["rest"][0].equal(X.sum(1))
    assert found["rest"][1].tolist() == [1.0, 1.0]
    assert vmap(lambda x: mg.ones(2), out_axes=-1)(X).shape == (2, 3)


def test_arguments_by_name_are_mapped_along_their_first_axis():
    """As in JAX."""
    assert vmap(lambda x, scale: x * scale)(X, scale=mg.arange(3).double()).equal(
        X * mg.arange(3).double().unsqueeze(1)
    )


def test_numbers_and_none_in_results_and_arguments():
    """A number that the function returns is the same for all; None stays None."""
    found = vmap(lambda x, extra: (x * 2, 7.0, extra["none"]), in_axes=(0, None))(X, {"none": None, "word": "any"})
    assert found[0].equal(2 * X)
    assert found[1].tolist() == [7.0] * 3
    assert found[2] is None


def test_axis_size_where_nothing_is_mapped():
    """The result is repeated."""
    assert vmap(lambda x: x * 2, in_axes=None, axis_size=4)(mg.ones(2)).shape == (4, 2)


def test_nested_maps_see_the_right_axes():
    """An outer product, and three levels."""
    a, b, c = mg.arange(2).double(), mg.arange(3).double(), mg.arange(4).double()
    f = lambda x, y, z: x * 100 + y * 10 + z  # noqa: E731
    cube = vmap(vmap(vmap(f, (None, None, 0)), (None, 0, None)), (0, None, None))(a, b, c)
    assert cube.equal(a.view(2, 1, 1) * 100 + b.view(3, 1) * 10 + c)
    assert vmap(vmap(lambda x, y: x * y, (None, 0)), (0, None))(a, b).equal(a.unsqueeze(1) * b)
    assert vmap(lambda x: vmap(lambda y: y * x.sum())(x))(X).equal(X * X.sum(1, keepdim=True))


# --- operations that are no functions of the registry ----------------------------------------------------------

OPERATIONS = {
    "argmax": lambda x: x.argmax(),
    "argmax of an axis": lambda x: x.argmax(1, keepdim=True),
    "argmin, kept": lambda x: x.argmin(keepdim=True),
    "any": lambda x: (x > 2).any(),
    "all of an axis": lambda x: (x > 2).all(1),
    "not": lambda x: ~(x > 0),
    "and": lambda x: (x > 0) & (x < 2),
    "or with a constant": lambda x: mg.tensor([True, False]) | (x > 0),
    "xor of ranks": lambda x: (x > 0) ^ (x[0] > 1),
    "isnan": lambda x: (x / 0.0).isnan(),
    "long": lambda x: x.long(),
    "float": lambda x: x.float() * 2,
    "max with indices": lambda x: mg.cat([each.double().view(-1) for each in x.max(1)]),
    "min": lambda x: x.min(0).values,
    "std": lambda x: x.std(0),
    "var": lambda x: x.var(1, unbiased=False),
    "std of equal elements": lambda x: (x * 0.0).std(),
    "prod": lambda x: x.prod(),
    "chunk": lambda x: x.chunk(2, 1)[1],
    "unbind": lambda x: sum(x.unbind(0)),
    "iteration": lambda x: sum(row * n for n, row in enumerate(x)),
    "length": lambda x: x * len(x),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(),
    "flatten": lambda x: x.flatten(),
    "broadcast_to": lambda x: x[0].broadcast_to(3, 2) * x.broadcast_to((2, 2, 2)).sum(),
    "transpose": lambda x: x.T @ x,
    "vector product": lambda x: x[0] @ x.T,
    "expand": lambda x: x.expand(2, -1, -1),
    "new": lambda x: x.new_ones(2) * x[0],
    "like": lambda x: mg.zeros_like(x) + x,
    "where": lambda x: mg.where(x > 1, x, 0.0),
    "masked_fill": lambda x: x.masked_fill(x > 1, 9.0),
    "clamp": lambda x: x.clamp(0.5, 1.5) + x.clip(max=1.0),
    "clamp by tensors": lambda x: mg.ones(2, 2).double().clamp(x[0] * 0.1, x[1]),
    "number first": lambda x: 2.0 - x / 3.0 + 1.0 / (x + 1.0) + 2.0**x,
    "remainder of numpy": lambda x: np.float64(2.0) * x,
    "clone and assign": lambda x: _assigned(x),
    "changes in place": lambda x: _changed(x),
    "plain tensor first": lambda x: mg.ones(2, 2).double() * x + mg.ones(2).double() @ x,
    "parameter first": lambda x: mg.nn.Parameter(mg.ones(2, 2).double()) * x,
    "softmax": lambda x: x.softmax(0) + F.log_softmax(x, 1),
    "layer_norm": lambda x: F.layer_norm(x, (2,)),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "linear of a vector": lambda x: F.linear(x[0], x),
    "mg.linear": lambda x: mg.linear(x, mg.ones(3, 2).double(), x.sum() * mg.ones(3).double()),
}


def _assigned(x):
    y = x.clone()
    y[0] = x[1] * 2
    y[:, 1] += 1.0
    y[...] = y + y[1]
    y[:, :1] = x[0, 0]
    y[:] = x[1]
    return y


def _changed(x):
    y = x * 1.0
    y.mul_(x[0]).add_(1.0, alpha=2.0).clamp_(max=5.0)
    y -= x.sum()
    y.masked_fill_(y > 0, 3.0)
    return y


@pytest.mark.parametrize("f", OPERATIONS.values(), ids=OPERATIONS)
def test_operations(f):
    """Each gives what a loop gives, alone and inside another vmap."""
    batch = mg.tensor(np.random.default_rng(1).normal(size=(4, 3, 2, 2)) + 1.0)
    found, wanted = vmap(f)(batch[0]), looped(f, batch[0])
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-12)
    twice = vmap(vmap(f))(batch)
    np.testing.assert_allclose(twice.detach().numpy(), looped(vmap(f), batch).detach().numpy(), rtol=1e-12)


def test_types_are_those_of_one_example():
    """A batch of numbers is as weak as one number is: float64 numbers do not widen a float32 tensor."""
    numbers, tensor = mg.arange(3).double(), mg.ones(2)
    assert vmap(lambda n: tensor * n)(numbers).dtype == mg.float32
    assert vmap(lambda n: mg.where(n > 1, tensor, n))(numbers).dtype == mg.float32
    assert vmap(lambda n: mg.arange(2) * n)(mg.arange(3)).dtype == mg.int64


# --- keys ----------------------------------------------------------------------------------------------------

KEYS = {
    "number": lambda x, i: x[i[0, 0]],
    "row": lambda x, i: x[i[0]],
    "table": lambda x, i: x[i],
    "behind a slice": lambda x, i: x[:, i],
    "behind two": lambda x, i: x[:, :, i[0]],
    "two of one rank": lambda x, i: x[i, i],
    "two of two ranks": lambda x, i: x[i, i[0]],
    "parted by a slice": lambda x, i: x[i, :, i[0]],
    "parted, behind nothing": lambda x, i: x[i[0], :, i],
    "with a number": lambda x, i: x[1, i],
    "number last": lambda x, i: x[i, :, 1],
    "number between": lambda x, i: x[i, 0, i],
    "with dots": lambda x, i: x[..., i],
    "dots behind": lambda x, i: x[i, ...],
    "new axis": lambda x, i: x[None, i],
    "new axis behind": lambda x, i: x[i, None, 0:2],
    "with a list": lambda x, i: x[i, [0, 1]],
    "with a tensor": lambda x, i: x[mg.tensor([[0], [1]]), i[0]],
    "gather": lambda x, i: x[0].gather(1, i),
    "gather of a constant": lambda x, i: mg.arange(9).double().reshape(3, 3).gather(0, i),
    "index_select": lambda x, i: x.index_select(2, i[1]),
    "scatter_to": lambda x, i: x[0, :2, :2].scatter_to((3, 3), 1, i),
    "embedding": lambda x, i: F.embedding(i, x[0]),
    "one_hot": lambda x, i: F.one_hot(i, 3).double(),
}


@pytest.mark.parametrize("f", KEYS.values(), ids=KEYS)
def test_keys_that_differ_from_example_to_example(f):
    """Tables and keys, one of them mapped or both: as a loop, and so are the gradients."""
    rng = np.random.default_rng(0)
    tables, keys = mg.tensor(rng.normal(size=(4, 3, 3, 3))), mg.tensor(rng.integers(0, 3, (4, 2, 2)))
    weighted = lambda x, i: (f(x, i) * mg.arange(1, f(x, i).numel() + 1).double().view(f(x, i).shape)).sum()  # noqa: E731
    for g in (f, grad(weighted)):
        for in_axes in ((0, 0), (None, 0), (0, None)):
            given = [x if axis == 0 else x[0] for x, axis in zip((tables, keys), in_axes, strict=True)]
            batches = [
                x if axis == 0 else x[:1].expand(4, *x.shape[1:])
                for x, axis in zip((tables, keys), in_axes, strict=True)
            ]
            found, wanted = vmap(g, in_axes)(*given), looped(g, *batches)
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-12)
    inner = vmap(vmap(f, (None, 0)), (0, None))(tables, keys)
    np.testing.assert_allclose(inner.numpy(), mg.stack([vmap(f, (None, 0))(x, keys) for x in tables]).numpy())


def test_keys_of_two_levels():
    """One part of a key belongs to the outer vmap, one to the inner."""
    table, i, j = mg.arange(12).double().reshape(3, 4), mg.tensor([2, 0]), mg.tensor([[1, 1, 0], [3, 2, 1]])
    wanted = table[i.unsqueeze(1), j]
    f = lambda a, b: table[a, b]  # noqa: E731
    assert vmap(lambda a, row: vmap(f, (None, 0))(a, row))(i, j).equal(wanted)
    assert vmap(lambda a, row: vmap(lambda b: table[:, b][a])(row))(i, j).equal(wanted)
    assert vmap(lambda row, a: vmap(lambda b: row[b] * a)(mg.tensor([0, 3])))(table, mg.ones(3)).equal(table[:, [0, 3]])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, mg.tensor([1.0, 2.0, 0.5], dtype=mg.float64)])
@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss])
def test_classes_that_differ_from_example_to_example(loss, weight, reduction):
    """Losses with targets that are mapped, some of them to be ignored."""
    rng = np.random.default_rng(0)
    scores, targets = mg.tensor(rng.normal(size=(4, 5, 3))), mg.tensor(rng.integers(0, 3, (4, 5)))
    targets[:, 1] = -100
    f = lambda x, t: loss(x, t, weight, reduction=reduction)  # noqa: E731
    for g in (f, grad(lambda x, t: f(x, t).sum())):
        np.testing.assert_allclose(vmap(g)(scores, targets).numpy(), looped(g, scores, targets).numpy(), atol=1e-12)
    of_one = vmap(lambda x, t: loss(x, t))(scores[:, 0], targets[:, 0])
    np.testing.assert_allclose(of_one.numpy(), looped(loss, scores[:, 0], targets[:, 0]).numpy(), atol=1e-12)


# --- random numbers ------------------------------------------------------------------------------------------


def test_each_example_draws_its_own_numbers():
    """By default, and the numbers are those that a loop draws."""
    f = lambda x: x * mg.rand(2)  # noqa: E731
    for draw in (
        f,
        F.dropout,
        lambda x: x + mg.randn(2).double(),
        lambda x: x + mg.randperm(2),
        lambda x: x * mg.randint(9, (2,)),
    ):
        mg.manual_seed(3)
        found = vmap(draw)(X)
        mg.manual_seed(3)
        np.testing.assert_allclose(found.numpy(), looped(draw, X).numpy())
    numbers = vmap(lambda x: mg.rand(2))(X)
    assert len(set(numbers.reshape(-1).tolist())) == 6
    inner = vmap(lambda x: vmap(lambda y: mg.rand(2))(x))(X)
    assert inner.shape == (3, 2, 2)
    assert len(set(inner.reshape(-1).tolist())) == 12


def test_random_numbers_may_be_shared_or_refused():
    """As PyTorch's randomness says."""
    shared = vmap(lambda x: mg.rand(2), randomness="same")(X)
    assert shared[0].equal(shared[2])
    with pytest.raises(BatchingError, match="draws random numbers; say with randomness="):
        vmap(lambda x: mg.rand(2), randomness="error")(X)
    with pytest.raises(ValueError, match="randomness is 'other'"):
        vmap(mg.exp, randomness="other")


# --- what has no answer, and wrong axes ------------------------------------------------------------------------

REFUSED = {
    "if": (lambda x: x if (x > 0).all() else -x, "cannot ask for the truth of a batched tensor"),
    "item": (lambda x: x.sum().item(), r"item\(\) has no one value in a batch"),
    "float": (lambda x: float(x.sum()), r"float\(\) has no one value"),
    "numpy": (lambda x: x.numpy(), r"numpy\(\) has no one value"),
    "tolist": (lambda x: x.tolist(), r"tolist\(\) has no one value"),
    "NumPy's functions": (lambda x: np.asarray(x), "NumPy's functions cannot take a batched tensor"),
    "NumPy's exp": (lambda x: np.exp(x), "numpy.exp: functions of NumPy take no Tensor"),
    "range": (lambda x: list(range(x[0].long())), "an index that is a batched tensor has no one value"),
    "mask": (lambda x: x[x > 0], "a mask of booleans may select another number of elements"),
    "nonzero": (lambda x: mg.where(x > 0), "nonzero depends on the elements, which are unknown here"),
    "tensor of": (
        lambda x: mg.tensor([x[0], x[1]]),
        r"tensor\(\) copies numbers, .*; join tensors with minigrad.stack",
    ),
    "a copy by tensor": (lambda x: mg.tensor(x), r"vmap: tensor\(\) copies numbers, .* copy one with clone\(\)"),
    "classes of one_hot": (
        lambda x: F.one_hot(x.long()),
        "one_hot: the largest number is unknown here; give num_classes",
    ),
    "into a constant": (lambda x: mg.zeros(2).add_(x), "writes it into a tensor that is not batched"),
    "assigned to a constant": (lambda x: mg.zeros(2).__setitem__(0, x[0]), "writes it into a tensor that is not"),
    "place of an assignment": (lambda x: x.clone().__setitem__(x[0].long(), 1.0), "assignment to a place that differs"),
    "allclose": (lambda x: x.allclose(x), r"allclose\(\) has no one answer"),
    "data": (lambda x: setattr(x, "data", x), r"x.data = value replaces the memory .*; write x = value"),
    "format": (lambda x: f"{x.sum():.1f}", "the format '.1f' asks for a number, .*; format the result of the call"),
    "backward": (lambda x: x.sum().backward(), "backward.. cannot run inside vmap"),
    "requires_grad_": (lambda x: x.requires_grad_(), "cannot be made a leaf"),
    "running statistics": (
        lambda x: mg.nn.BatchNorm1d(2, dtype=mg.float64)(x.unsqueeze(0).expand(2, 2)),
        r"batch_norm collects means and variances in place, .*; call eval\(\) on the module",
    ),
}


@pytest.mark.parametrize(("f", "message"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_answer_for_a_batch(f, message):
    """One sentence says what and what to do."""
    with pytest.raises((BatchingError, TypeError), match=message):
        vmap(f)(X)


WRONG = {
    "too many entries": ({"in_axes": (0, 0)}, (X,), ValueError, "in_axes has 2 entries for 1 positional arguments"),
    "a word": ({"in_axes": "0"}, (X,), TypeError, "in_axes is str; it must be an int, None, or a tuple"),
    "a word in a tuple": ({"in_axes": ("a",)}, (X,), TypeError, "in_axes has 'a' for argument 0; it must be an int"),
    "no such axis": ({"in_axes": 2}, (X,), ValueError, r"argument 0 has shape \(3, 2\) and no axis 2"),
    "no axes": ({}, (mg.tensor(1.0),), ValueError, r"argument 0 has shape \(\) and no axis 0"),
    "deep inside": ({}, ({"a": [X, mg.tensor(1.0)]},), ValueError, r"argument 0\['a'\]\[1\] has shape \(\)"),
    "a number": ({}, (2.0,), TypeError, "argument 0 is float, which has no axis 0"),
    "a Scalar": ({}, (mg.Scalar(2.0),), TypeError, "argument 0 is Scalar, which has no axis 0"),
    "other structure": ({"in_axes": ({"b": 0},)}, ({"a": X},), ValueError, r"in_axes\[0\] is {'b': 0}, but the arg"),
    "nothing is mapped": ({"in_axes": None}, (X,), ValueError, "the number of examples is unknown"),
    "sizes differ": (
        {},
        (X, {"w": X.T}),
        ValueError,
        r"argument 0 has 3 along its mapped axis and argument 1\['w'\] has 2",
    ),
    "axis_size differs": ({"axis_size": 5}, (X,), ValueError, "axis_size has 5 .* and argument 0 has 3"),
    "out_axes": ({"out_axes": 4}, (X,), ValueError, r"out_axes has 4 for result; its batch has shape \(3, 2\)"),
    "out_axes None": ({"out_axes": None}, (X,), ValueError, "result differs from example to example, but out_axes"),
    "out_axes of a tree": ({"out_axes": (0, 0)}, (X,), ValueError, r"out_axes is \(0, 0\), but the results have \*"),
}


@pytest.mark.parametrize(("options", "args", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_axes(options, args, error, message):
    """The message names the argument by its path, the sizes, and what to do."""
    with pytest.raises(error, match=message) as caught:
        vmap(lambda *args: args[0] if isinstance(args[0], mg.Tensor) else X, **options)(*args)
    assert str(caught.value).startswith("vmap: ")
    assert "\n" not in str(caught.value)


def test_a_function_that_returns_no_tensor():
    """Nor may a tensor leave its vmap by another way."""
    with pytest.raises(TypeError, match=r"result\['a'\] of the function is str, no tensor"):
        vmap(lambda x: {"a": "word"})(X)
    with pytest.raises(TypeError, match="needs a function, not Tensor"):
        vmap(X)
    kept = []
    vmap(lambda x: kept.append(x) or x)(X)
    with pytest.raises(BatchingError, match="belongs to another vmap, which has ended"):
        vmap(lambda x: _inner(x))(X)
    for use in (
        lambda: kept[0] + 1,
        lambda: mg.ones(2) * kept[0],
        lambda: mg.ones(2).add_(kept[0]),
    ):
        with pytest.raises(BatchingError, match=r"used outside of its vmap, .* a list or an attribute; return it from"):
            use()
    assert re.fullmatch(r"BatchedTensor\(3 examples of shape \(2,\), dtype=float64\)", repr(kept[0]))


def _inner(x):
    kept = []
    vmap(lambda y: kept.append(y) or y)(x)
    return kept[0]


def test_jacobians_inside_vmap():
    """One Jacobian for each example."""
    f = lambda x: x.sin() * x.sum()  # noqa: E731
    assert vmap(jacfwd(f))(X).allclose(looped(jacfwd(f), X))

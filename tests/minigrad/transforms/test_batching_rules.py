"""Every function of the library under vmap gives what a loop over the examples gives, and so do its derivatives."""

import itertools

import numpy as np
import pytest
from registry_samples import functions_of_tensors, samples_of, title

import minigrad as mg
from minigrad import language, transforms
from minigrad.errors import BatchingError
from minigrad.transforms import batching_rules

in_turn = pytest.mark.full("every function, with every choice of mapped inputs", share=12)

EXAMPLES = 3
CASES = [
    pytest.param(function, sample, mapped, id=f"{title(function)}-{number}-{''.join('01'[m] for m in mapped)}")
    for function in functions_of_tensors()
    for number, sample in enumerate(samples_of(function))
    for mapped in itertools.product((True, False), repeat=len(sample.shapes))
    if any(mapped)
]


class Batch:
    """Inputs of a function, some of them with one more axis of examples, each in another place."""

    def __init__(self, function, sample, mapped, size=EXAMPLES):
        rng = np.random.default_rng(list(map(ord, title(function))))
        self.function, self.sample, self.mapped, self.size = function, sample, mapped, size
        numbers = [sample.numbers(rng) for _ in range(max(size, 1))]
        self.axes = [
            min(place, len(shape)) if m else None
            for place, (m, shape) in enumerate(zip(mapped, sample.shapes, strict=False))
        ]
        self.inputs = []
        for place, axis in enumerate(self.axes):
            parts = [each[place] for each in numbers]
            value = parts[0] if axis is None else np.stack(parts, axis).take(range(size), axis)
            self.inputs.append(mg.tensor(value))

    def one(self, *inputs):
        """The function of one example."""
        if self.sample.mask:
            inputs = (inputs[0] > 0.0, *inputs[1:])
        return self.function.apply(*inputs, **self.sample.options)

    def all(self, function):
        """A function of one example, mapped."""
        return transforms.vmap(function, in_axes=tuple(self.axes))(*self.inputs)

    def loop(self, function):
        """The same, one example after the other."""
        results = []
        for n in range(self.size):
            pairs = zip(self.inputs, self.axes, strict=True)
            results.append(function(*[x if axis is None else x.select(axis, n) for x, axis in pairs]))
        if isinstance(results[0], tuple):
            return tuple(mg.stack(list(column)) for column in zip(*results, strict=True))
        return mg.stack(results)


def array(x):
    return np.array(x.detach().to("cpu").numpy())


def assert_same(found, wanted):
    found, wanted = (each if isinstance(each, tuple) else (each,) for each in (found, wanted))
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(array(mine), array(theirs), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("function", functions_of_tensors(), ids=title)
def test_every_function_has_a_rule(function):
    """No function of the library is without a batching rule."""
    assert any(kind in batching_rules._rules for kind in function.__mro__)


@pytest.mark.parametrize(("function", "sample", "mapped"), CASES)
def test_vmap_is_a_loop(function, sample, mapped):
    """The mapped function gives the examples' results, whichever inputs are mapped along whichever axis."""
    batch = Batch(function, sample, mapped)
    assert_same(batch.all(batch.one), batch.loop(batch.one))


def gradients_of(batch):
    """The gradient of a weighted sum of one example's results, in all inputs but a condition."""
    first = int(batch.sample.mask)
    argnums = tuple(range(first, len(batch.inputs)))

    def weighted(*inputs):
        y = batch.one(*inputs)
        return (y * mg.tensor(np.linspace(-1.0, 2.0, y.numel()).reshape(y.shape)).to(y.device)).sum()

    return transforms.grad(weighted, argnums)


def differentiable(function, sample):
    return function.differentiable and len(sample.shapes) > int(sample.mask)


@in_turn
@pytest.mark.parametrize(("function", "sample", "mapped"), CASES)
def test_gradients_of_each_example(function, sample, mapped):
    """vmap(grad(f)) is the loop over grad(f), also in inputs that all examples share."""
    if not differentiable(function, sample):
        return
    batch = Batch(function, sample, mapped)
    assert_same(batch.all(gradients_of(batch)), batch.loop(gradients_of(batch)))


@in_turn
@pytest.mark.parametrize(("function", "sample", "mapped"), CASES)
def test_gradients_of_the_batch(function, sample, mapped):
    """grad(vmap(f)) and jvp(vmap(f)) are the gradient and the change of the loop."""
    if not differentiable(function, sample):
        return
    batch = Batch(function, sample, mapped)
    first = int(sample.mask)
    fixed, moved = batch.inputs[:first], tuple(batch.inputs[first:])

    def by_vmap(*inputs):
        return transforms.vmap(batch.one, in_axes=tuple(batch.axes))(*fixed, *inputs)

    def by_loop(*inputs):
        every, pairs = [*fixed, *inputs], []
        for n in range(EXAMPLES):
            pairs.append([x if a is None else x.select(a, n) for x, a in zip(every, batch.axes, strict=True)])
        return mg.stack([batch.one(*each) for each in pairs])

    (y, back), (z, back_of_loop) = transforms.vjp(by_vmap, *moved), transforms.vjp(by_loop, *moved)
    weights = mg.tensor(np.linspace(-1.0, 2.0, y.numel()).reshape(y.shape))
    assert_same((y, *back(weights)), (z, *back_of_loop(weights)))
    changes = tuple(x * 0.5 + 0.25 for x in moved)
    assert_same(transforms.jvp(by_vmap, moved, changes), transforms.jvp(by_loop, moved, changes))


@in_turn
@pytest.mark.parametrize(
    ("function", "sample", "mapped"), [case for case in CASES if case.id.endswith(("-0-1", "-11", "-111"))]
)
def test_rules_of_both_modes_can_be_mapped(function, sample, mapped):
    """Jacobians by either mode, and by a loop of vector products, agree: rules take batched changes and gradients."""
    if not differentiable(function, sample) or "dtype" in sample.options:
        return
    batch = Batch(function, sample, mapped, size=1)
    first = int(sample.mask)
    inputs = [x.select(axis, 0) for x, axis in zip(batch.inputs, batch.axes, strict=True)]
    fixed, moved = inputs[:first], inputs[first:]
    argnums = tuple(range(len(moved)))

    def f(*each):
        return batch.one(*fixed, *each)

    y, back = transforms.vjp(f, *moved)
    rows = [back(row) for row in mg.eye(y.numel(), dtype=y.dtype).reshape(y.numel(), *y.shape)]
    wanted = tuple(
        mg.stack(list(column)).reshape(*y.shape, *x.shape)
        for column, x in zip(zip(*rows, strict=True), moved, strict=True)
    )
    assert_same(transforms.jacrev(f, argnums)(*moved), wanted)
    assert_same(transforms.jacfwd(f, argnums)(*moved), wanted)


@in_turn
@pytest.mark.parametrize(
    ("function", "sample", "mapped"), [case for case in CASES if case.id.endswith(("-0-1", "-11", "-111"))]
)
def test_vmap_in_vmap(function, sample, mapped):
    """Two axes of examples, of which the inner function sees one at a time."""
    batch = Batch(function, sample, mapped)
    twice = [mg.stack([x, x.flip(axis)]) for x, axis in zip(batch.inputs, batch.axes, strict=True)]
    inner = transforms.vmap(batch.one, in_axes=tuple(batch.axes))
    wanted = mg.stack([inner(*[x[n] for x in twice]) for n in range(2)])
    assert_same(transforms.vmap(inner)(*twice), wanted)
    assert_same(
        transforms.vmap(inner, in_axes=tuple([0] + [None] * (len(twice) - 1)))(twice[0], *[x[0] for x in twice[1:]]),
        mg.stack([inner(twice[0][n], *[x[0] for x in twice[1:]]) for n in range(2)]),
    )


@pytest.mark.parametrize(
    ("function", "sample", "mapped"), [case for case in CASES if case.id.endswith(("-0-1", "-11", "-111"))]
)
def test_a_batch_of_no_examples(function, sample, mapped):
    """It gives no results, of the right shape."""
    batch, full = (Batch(function, sample, mapped, size) for size in (0, EXAMPLES))
    assert batch.all(batch.one).shape == (0, *full.loop(full.one).shape[1:])


def test_a_function_without_a_rule_is_named():
    """A user's Function under vmap: the message names it and says what to write."""

    class Cube(mg.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x * x

    with pytest.raises(BatchingError, match=r"vmap: Cube has no batching rule; give the class a static method vmap"):
        transforms.vmap(Cube.apply)(mg.ones(2))


def test_an_option_cannot_be_mapped():
    """Tokens of Embed are an option: mapped over, they are refused by name."""
    table, tokens = mg.ones(4, 2), mg.tensor([[1, 2], [0, 3]])
    with pytest.raises(BatchingError, match="vmap: Embed takes tokens as an option"):
        transforms.vmap(lambda each: language.Embed.apply(table, tokens=each))(tokens)


def test_a_user_gives_a_rule():
    """As in PyTorch: vmap(info, in_dims, *inputs) returns the batch and the axis of the examples."""

    class Scaled(mg.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(factor)
            return x * factor

        @staticmethod
        def backward(ctx, d_output):
            (factor,) = ctx.saved_values
            return d_output * factor, None

        @staticmethod
        def vmap(info, in_dims, x, factor):
            assert (info.batch_size, in_dims) == (3, (0, None))
            return Scaled.apply(x, factor).T, 1

    x, factor = mg.arange(6).float().reshape(3, 2), mg.tensor(2.0)
    mapped = transforms.vmap(Scaled.apply, in_axes=(0, None))
    assert mapped(x, factor).equal(x * 2)
    assert transforms.grad(lambda x: mapped(x, factor).sum())(x).equal(mg.full((3, 2), 2.0))

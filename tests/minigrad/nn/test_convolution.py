"""Convolution and pooling as functions: their forms agree, and their rules are right to second order."""

import itertools
import types

import numpy as np
import pytest

import minigrad as mg
from minigrad import compiling, exercises
from minigrad.backward import forward_mode
from minigrad.nn import convolution, functional, kernels, pool_functions
from minigrad.nn.convolution import Windows
from minigrad.quick import convolution as quick

RNG = np.random.default_rng(3)

GEOMETRIES = {
    "plain": (Windows(), (2, 3, 5, 6), (4, 3, 3, 2)),
    "one image, one channel": (Windows(), (1, 1, 3, 3), (1, 1, 1, 1)),
    "window as large as the image": (Windows(), (2, 2, 3, 4), (3, 2, 3, 4)),
    "stride that leaves a rest": (Windows(stride=(2, 3)), (2, 2, 7, 9), (3, 2, 2, 2)),
    "stride beyond the window": (Windows(stride=(3, 3)), (1, 2, 8, 8), (2, 2, 2, 1)),
    "padding": (Windows(padding=(2, 1)), (2, 2, 4, 4), (3, 2, 3, 3)),
    "dilation": (Windows(dilation=(2, 3)), (2, 2, 7, 9), (3, 2, 3, 2)),
    "groups": (Windows(groups=2), (2, 4, 5, 5), (6, 2, 2, 3)),
    "everything": (Windows((2, 1), (1, 2), (1, 2), 3), (2, 3, 6, 7), (6, 1, 3, 2)),
    "no images": (Windows(), (0, 2, 4, 4), (3, 2, 2, 2)),
    "a line": (Windows((1, 2), (0, 1), (1, 1), 1), (2, 3, 1, 9), (4, 3, 1, 3)),
}

FORMS = {"numpy": quick.BY_NUMPY, "specified": convolution.SPECIFIED, "compiled": quick.COMPILED}


def by_the_formula(x, weight, windows):
    """Convolve number by number, as the definition says."""
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in windows.padding)))
    kernel = weight.shape[2:]
    rows, columns = (
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], kernel, windows.stride, windows.dilation, strict=True)
    )
    out = np.zeros((x.shape[0], weight.shape[0], rows, columns))
    outputs, inputs = weight.shape[0] // windows.groups, weight.shape[1]
    for b, o, i, j in itertools.product(*map(range, out.shape)):
        for c, k, m in itertools.product(*map(range, weight.shape[1:])):
            row = i * windows.stride[0] + k * windows.dilation[0]
            column = j * windows.stride[1] + m * windows.dilation[1]
            out[b, o, i, j] += x[b, o // outputs * inputs + c, row, column] * weight[o, c, k, m]
    return out


@pytest.mark.parametrize("size", [4, 40], ids=["few products", "many"])
@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("float32", "float64", "float32"), "float64"),
        (("float64", "float32", "float32"), "float64"),
        (("float32", "float32", "float64"), "float64"),
        (("int64", "float32", "float32"), "float32"),
        (("float32", "int64", "float32"), "float32"),
        (("bool", "float64", "float64"), "float64"),
        (("int64", "int32", "int64"), "int64"),
    ],
    ids=str,
)
def test_operands_of_several_types(types, expected, size):
    """An image, weights and a bias of different types meet in their common one, in few products and in many."""
    shapes = (2, 3, size, size), (4, 3, 3, 3), (4,)
    arrays = [
        np.arange(np.prod(s)).reshape(s).astype("int64") % 5 % (2 if t == "bool" else 5)
        for s, t in zip(shapes, types, strict=True)
    ]
    exact = quick.BY_NUMPY["conv2d"](*arrays[:2], Windows()) + arrays[2].reshape(-1, 1, 1)
    given = [mg.from_numpy(a.astype(t)) for a, t in zip(arrays, types, strict=True)]
    for x in given:
        x.requires_grad_(x.dtype.kind == "f")
    found = functional.conv2d(*given)
    assert found.dtype == expected
    np.testing.assert_array_equal(found.detach().numpy(), exact)
    if not found.requires_grad:
        return
    found.sum().backward()
    d = np.ones(exact.shape, "int64")
    gradients = (
        quick.BY_NUMPY["conv_input"](d, arrays[1], Windows(), (size, size)),
        quick.BY_NUMPY["conv_weight"](d, arrays[0], Windows(), (3, 3)),
        d.sum((0, 2, 3)),
    )
    for x, expected_gradient in zip(given, gradients, strict=True):
        if x.requires_grad:
            assert x.grad.dtype == x.dtype
            np.testing.assert_array_equal(x.grad.numpy(), expected_gradient)


@pytest.mark.full("the specification takes its time", share=48)
@pytest.mark.parametrize("case", GEOMETRIES.values(), ids=GEOMETRIES)
@pytest.mark.parametrize(
    "forms", [quick.BY_NUMPY, convolution.SPECIFIED, quick.COMPILED], ids=["numpy", "specified", "compiled"]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_forms_agree_with_the_formula(case, forms, dtype):
    """Each form gives the sums of the definition, and its transposes are transposes: <d, x * w> is the same thrice."""
    windows, size, kernel = case
    x, weight = RNG.normal(size=size), RNG.normal(size=kernel)
    wanted = by_the_formula(x, weight, windows)
    d = RNG.normal(size=wanted.shape)
    arrays = [np.asarray(a, dtype) for a in (x, weight, d)]
    out = forms["conv2d"](arrays[0], arrays[1], windows)
    d_x = forms["conv_input"](arrays[2], arrays[1], windows, size[2:])
    d_weight = forms["conv_weight"](arrays[2], arrays[0], windows, kernel[2:])
    tolerance = 1e-9 if dtype == "float64" else 1e-4
    assert {a.dtype for a in (out, d_x, d_weight)} == {np.dtype(dtype)}
    assert (out.shape, d_x.shape, d_weight.shape) == (wanted.shape, size, kernel)
    np.testing.assert_allclose(out, wanted, rtol=tolerance, atol=tolerance)
    for other in (RNG.normal(size=size), x):
        moved = (d * by_the_formula(other, weight, windows)).sum()
        assert (d_x * other).sum() == pytest.approx(moved, rel=tolerance * 10, abs=tolerance * 100)
    other = RNG.normal(size=kernel)
    moved = (d * by_the_formula(x, other, windows)).sum()
    assert (d_weight * other).sum() == pytest.approx(moved, rel=tolerance * 10, abs=tolerance * 100)


@pytest.mark.full("kernels are compiled", share=4)
def test_the_form_is_chosen_by_the_number_of_products(monkeypatch):
    """Small convolutions, forwards and backwards, are NumPy's, large ones compiled: by their multiplications."""
    seen = []
    for forms in ("BY_NUMPY", "COMPILED"):
        table = getattr(quick, forms)
        for name, form in list(table.items()):
            monkeypatch.setitem(table, name, lambda *a, f=form, n=(forms, name): seen.append(n) or f(*a))
    for size, wanted in ((8, "BY_NUMPY"), (40, "COMPILED")):
        seen.clear()
        x = mg.tensor(RNG.normal(size=(4, 2, size, size)), requires_grad=True)
        weight = mg.tensor(RNG.normal(size=(6, 2, 5, 5)), requires_grad=True)
        functional.conv2d(x, weight).sum().backward()
        assert seen == [(wanted, "conv2d"), (wanted, "conv_input"), (wanted, "conv_weight")]
    # Each form counts the same number: 36 windows, 4 images, 6 channels out, 2 in, 25 weights.
    x, d, weight = np.zeros((4, 2, 10, 10)), np.zeros((4, 6, 6, 6)), np.zeros((6, 2, 5, 5))
    cases = [("conv2d", x, weight, Windows()), ("conv_input", d, weight, Windows(), (10, 10))]
    cases.append(("conv_weight", d, x, Windows(), (5, 5)))
    assert {quick.products(*case) for case in cases} == {36 * 4 * 6 * 2 * 25}


@pytest.mark.full("the specification of a convolution takes its time", share=16)
@pytest.mark.parametrize("name", ["plain", "stride that leaves a rest", "everything", "a line"])
def test_rules_of_convolution(name):
    """First and second derivatives agree with differences, in input and weights, for all three functions."""
    windows, size, kernel = GEOMETRIES[name]
    x = mg.tensor(RNG.normal(size=size), requires_grad=True)
    weight = mg.tensor(RNG.normal(size=kernel), requires_grad=True)

    bias = mg.tensor(RNG.normal(size=kernel[0]), requires_grad=True)

    def conv(*inputs):
        return convolution.Conv2d.apply(*inputs, windows=windows)

    for inputs in ([x, weight], [x, weight, bias]):
        assert mg.gradcheck(conv, inputs)
        assert mg.gradgradcheck(conv, inputs)


POOLS = {
    "tiles": ((2, 2), Windows(stride=(2, 2)), (1, 2, 4, 6)),
    "overlap": ((3, 2), Windows(stride=(1, 1)), (1, 1, 5, 4)),
    "gaps and padding": ((2, 2), Windows(stride=(3, 3), padding=(1, 1)), (1, 2, 5, 6)),
}


@pytest.mark.parametrize("case", POOLS.values(), ids=POOLS)
@pytest.mark.parametrize("function", [pool_functions.AvgPool2d, pool_functions.MaxPool2d])
def test_rules_of_pooling(case, function):
    """First and second derivatives of pooling agree with differences."""
    kernel, windows, size = case
    x = mg.tensor(RNG.permutation(float(np.prod(size)) * np.linspace(0, 1, int(np.prod(size)))).reshape(size))
    x.requires_grad_()

    def pool(a):
        return function.apply(a, kernel=kernel, windows=windows).sin()

    assert mg.gradcheck(pool, [x])
    assert mg.gradgradcheck(pool, [x])


@pytest.mark.parametrize("name", ["mse_loss", "binary_cross_entropy_with_logits", "cross_entropy"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_rules_of_losses(name, reduction):
    """First and second derivatives of losses agree with differences."""
    x = mg.tensor(RNG.normal(size=(4, 3)), requires_grad=True)
    target = mg.tensor([0, 2, 1, 1]) if name == "cross_entropy" else mg.tensor(RNG.uniform(size=(4, 3)))

    def loss(a):
        return getattr(functional, name)(a, target, reduction=reduction)

    assert mg.gradcheck(loss, [x])
    assert mg.gradgradcheck(loss, [x])


def test_forward_mode():
    """The change of an output along a direction agrees with a difference, for functions with a rule of their own."""
    windows, size, kernel = GEOMETRIES["everything"]
    a, b = RNG.normal(size=size), RNG.normal(size=kernel)
    d_a, d_b = RNG.normal(size=size), RNG.normal(size=kernel)
    c, d_c = RNG.normal(size=kernel[0]), RNG.normal(size=kernel[0])
    image = RNG.normal(size=(1, 2, 4, 4))
    d_image = RNG.normal(size=image.shape)
    logits, d_logits = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
    classes, numbers = mg.tensor([0, 2, 1, 1]), mg.tensor(RNG.uniform(size=(4, 3)))
    pooled = {"kernel": (2, 2), "windows": Windows(stride=(2, 2))}
    cases = [
        (lambda x, w: convolution.Conv2d.apply(x, w, windows=windows), (a, b), (d_a, d_b)),
        (lambda x, w, v: convolution.Conv2d.apply(x, w, v, windows=windows), (a, b, c), (d_a, d_b, d_c)),
        (lambda v: convolution.Conv2d.apply(mg.tensor(a), mg.tensor(b), v, windows=windows), (c,), (d_c,)),
        (lambda x: pool_functions.AvgPool2d.apply(x, **pooled), (image,), (d_image,)),
        (lambda x: pool_functions.MaxPool2d.apply(x, **pooled), (image,), (d_image,)),
        (lambda x: functional.mse_loss(x, numbers), (logits,), (d_logits,)),
        (lambda x: functional.binary_cross_entropy_with_logits(x, numbers, reduction="none"), (logits,), (d_logits,)),
        (lambda x: functional.cross_entropy(x, classes), (logits,), (d_logits,)),
        (lambda x: functional.cross_entropy(x, classes, reduction="none"), (logits,), (d_logits,)),
    ]
    for function, values, directions in cases:
        inputs = [mg.tensor(value, requires_grad=True) for value in values]
        found = forward_mode.jvp(function(*inputs), inputs, [mg.tensor(d) for d in directions])
        ahead, behind = (
            function(*[mg.tensor(v + sign * 1e-6 * d) for v, d in zip(values, directions, strict=True)]).numpy()
            for sign in (1.0, -1.0)
        )
        np.testing.assert_allclose(found.detach().numpy(), (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-7)


def test_an_installed_kernel_computes_everything():
    """A student's kernel is what forward and both gradients of a layer are computed with, for images and lines."""
    calls = []

    def conv2d_kernel(out, input, weight):
        calls.append(out.shape)
        out[:] = by_the_formula(input, weight, Windows())

    x = mg.tensor(RNG.normal(size=(2, 2, 5, 5)), requires_grad=True)
    weight = mg.tensor(RNG.normal(size=(3, 2, 2, 2)), requires_grad=True)

    def gradients():
        out = functional.conv2d(x, weight, stride=2, padding=1)
        lines = functional.conv1d(x[:, :, 0], weight[:, :, 0], padding=1)
        x.grad = weight.grad = None
        ((out * out).sum() + (lines * lines).sum()).backward()
        return [out.tolist(), lines.tolist(), x.grad.tolist(), weight.grad.tolist()]

    wanted = gradients()
    # Interpreted, since a Python list cannot be compiled.
    with mg.backend("python"), exercises.install({"nn.kernels.conv2d_kernel": conv2d_kernel}):
        found = gradients()
    assert len(calls) == 6
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.full("kernels are compiled", share=4)
def test_kernels_are_compiled_when_installed():
    """By default an installed kernel is compiled, once for forward and both gradients, and gives the library's."""
    images, weight = mg.randn(2, 3, 6, 6, requires_grad=True), mg.randn(4, 3, 3, 3, requires_grad=True)

    def step():
        images.grad = weight.grad = None
        out = functional.conv2d(images, weight, padding=1)
        out.square().sum().backward()
        return [x.numpy() for x in (out.detach(), images.grad, weight.grad)]

    wanted = step()
    # The function anew: the one of the module may be compiled for other types by now.
    kernel = types.FunctionType(kernels.conv2d_kernel.__code__.replace(co_name="anew"), kernels.__dict__)
    with exercises.install({"nn.kernels.conv2d_kernel": kernel}):
        found = step()
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    assert len(compiling.compile_kernel(kernel).dispatcher.signatures) == 1


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda: functional.conv2d(mg.zeros(1, 2, 4, 4), mg.zeros(3, 3, 2, 2)), ValueError, r"needs 3 \* 1 channels"),
        (lambda: functional.conv2d(mg.zeros(4, 4), mg.zeros(3, 3, 2, 2)), ValueError, "both need 4 axes"),
        (
            lambda: functional.conv2d(mg.zeros(1, 2, 2, 2), mg.zeros(1, 2, 3, 1)),
            ValueError,
            r"no window of size \(3, 1\)",
        ),
        (lambda: functional.conv2d(mg.zeros(1, 2, 4, 4), mg.zeros(1, 2, 2, 2), mg.zeros(2)), ValueError, "a bias of"),
        (lambda: functional.conv2d(mg.zeros(1, 2, 4, 4), mg.zeros(1, 2, 2, 2), stride=0), ValueError, "stride is 0"),
        (lambda: functional.conv2d(mg.zeros(1, 2, 4, 4), mg.zeros(1, 2, 2, 2), padding="half"), ValueError, "'half'"),
        (
            lambda: functional.conv1d(mg.zeros(1, 2, 4), mg.zeros(1, 2, 2), stride=(1, 2)),
            ValueError,
            r"stride is \(1, 2\)",
        ),
        (lambda: mg.nn.Conv2d(3, 4, 2, groups=2), ValueError, "do not split into 2 groups"),
        (lambda: mg.nn.Conv2d(3, 4, 2.5), TypeError, "kernel_size is 2.5"),
        (lambda: mg.nn.Linear(0, 4), ValueError, "in_features is 0"),
        (lambda: mg.nn.Linear(2.0, 4), TypeError, "in_features is a float"),
        (lambda: functional.linear(mg.zeros(2, 3), mg.zeros(4, 5)), ValueError, r"shape \(2, 3\) and weights of shape"),
        (lambda: functional.max_pool2d(mg.zeros(2, 3), 2), ValueError, "it needs 4 axes"),
        (lambda: functional.max_pool2d(mg.zeros(1, 1, 2, 2), 3), ValueError, r"no window of size \(3, 3\)"),
        (lambda: functional.avg_pool2d(mg.zeros(1, 1, 4, 4), 2, padding=2), ValueError, "more than half"),
        (
            lambda: functional.mse_loss(mg.zeros(3, 1), mg.zeros(3)),
            ValueError,
            r"\(3, 1\) and a target of shape \(3,\)",
        ),
        (lambda: functional.mse_loss(mg.zeros(3), mg.zeros(3), "avg"), ValueError, "reduction is 'avg'"),
        (
            lambda: functional.binary_cross_entropy_with_logits(mg.zeros(1), mg.tensor([1])),
            TypeError,
            "targets are probabilities",
        ),
        (
            lambda: functional.cross_entropy(mg.zeros(2, 3), mg.tensor([0, 3])),
            ValueError,
            "no class 3; the scores have 3",
        ),
        (lambda: functional.cross_entropy(mg.zeros(2, 3), mg.zeros(2)), TypeError, "targets are classes"),
        (lambda: functional.cross_entropy(mg.zeros(2, 3), mg.tensor([0])), ValueError, "without axis 1"),
        (
            lambda: functional.cross_entropy(mg.zeros(2, 3), mg.tensor([0, 1]), mg.ones(2)),
            ValueError,
            r"weight of shape \(2,\) for 3 classes",
        ),
        (lambda: functional.embedding(mg.tensor([5]), mg.zeros(3, 2)), IndexError, "no row 5; the table has 3"),
        (lambda: functional.embedding(mg.zeros(2), mg.zeros(3, 2)), TypeError, "row numbers are integers"),
        (lambda: functional.one_hot(mg.tensor([3]), 3), ValueError, "no class 3; a row has 3"),
        (lambda: functional.layer_norm(mg.zeros(2, 3), (2,)), ValueError, r"does not end in \(2,\)"),
        (lambda: functional.batch_norm(mg.zeros(1, 3), None, None, training=True), ValueError, "training needs 2"),
        (lambda: functional.batch_norm(mg.zeros(2, 3), None, None), ValueError, "evaluation needs running_mean"),
        (lambda: mg.nn.BatchNorm2d(3)(mg.zeros(2, 3)), ValueError, "takes 4 axes"),
        (lambda: mg.nn.BatchNorm1d(3)(mg.zeros(2, 4)), ValueError, "has 3 channels"),
        (lambda: mg.nn.Dropout(1.5), ValueError, "p is 1.5"),
        (lambda: mg.nn.Embedding(3, 2, padding_idx=3), ValueError, "padding_idx 3 is none of the 3 rows"),
    ],
)
def test_what_is_refused(act, error, words):
    """Sizes that do not fit are refused in one sentence, which names them."""
    with pytest.raises(error, match=words):
        act()

"""Results and inputs of `minigrad.nn.functional` that are changed in place, and the gradient behind them."""

import numpy as np
import pytest
from nn_cases import CASES, RANDOM
from pytorch import torch

import minigrad as mg
from minigrad.errors import GraphError
from minigrad.nn import functional

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same'", "ignore:reduction. 'mean'")
NOT_IN_PYTORCH = {"logsoftmax", "tile"}


def test_every_function_has_a_case():
    """A new function is tried the moment that it is exported."""
    assert {each.function for each in CASES.values()} == set(functional.__all__) - NOT_IN_PYTORCH


def unless_refused(run):
    """Return what a program gives, or None where backward says that a value was changed."""
    try:
        return run()
    except GraphError as error:
        if "changed in place" not in str(error):
            raise
        return None


def gradients(m, case, change=None, changed=None):
    """Return the gradients of the tensors where one of them, or the result, is changed in place before backward."""
    m.manual_seed(3)
    leaves = case.arguments(m)
    results = {name: x * 1.0 if x.requires_grad else x.clone() for name, x in leaves.items()}
    out = case.run(m, results)
    out = out[0] if isinstance(out, tuple) else out
    if not out.requires_grad:
        return None
    if change is not None:
        target = out if changed == "the result" else results[changed]
        change(target)
    slope = np.cos(np.arange(int(np.prod(tuple(out.shape)))) + 1.0).reshape(tuple(out.shape))
    out.backward(m.tensor(slope))
    return {name: x.grad.numpy() for name, x in leaves.items() if x.grad is not None}


def overwrite(x):
    """Give every element another value, one that no function could have."""
    x.copy_(x.detach() * 0 + (1 if x.dtype == mg.bool else 2))


CHANGES = {
    "added to": (lambda y: y.add_(mg.full(y.shape, 7.0, dtype=y.dtype)), 1.0),
    "multiplied": (lambda y: y.mul_(3.0), 3.0),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_result_that_is_changed(case, change):
    """The gradient is PyTorch's for the function and then the change, or backward raises."""
    do, factor = CHANGES[change]
    before = gradients(mg, case)
    if before is None:
        return
    after = unless_refused(lambda: gradients(mg, case, do, "the result"))
    if after is None:
        return
    expected = before if case.function in RANDOM else gradients(torch, case)
    assert after.keys() == expected.keys()
    for name, value in after.items():
        np.testing.assert_allclose(value, factor * expected[name], rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_input_that_is_changed(case):
    """Backward gives the gradient of the values that the function was given, or raises; be it an index or a mask."""
    expected = gradients(mg, case)
    if expected is None:
        return
    if case.options.get("training") is False and case.function in RANDOM:
        return  # the result is the input itself
    for changed in case.tensors:
        after = unless_refused(lambda changed=changed: gradients(mg, case, overwrite, changed))
        if after is None:
            continue
        assert after.keys() == expected.keys()
        for name, value in after.items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-12, err_msg=f"{name} after {changed}")


BY_INDEX = {
    "indexing": lambda m, x, i, v: x[i],
    "indexing the second axis": lambda m, x, i, v: x[:, i],
    "indexing by two": lambda m, x, i, v: x[i, i],
    "assignment": lambda m, x, i, v: assigned(x * 1.0, i, v),
    "index_select": lambda m, x, i, v: x.index_select(1, i),
    "index_add": lambda m, x, i, v: x.index_add(0, i, v),
    "gather": lambda m, x, i, v: x.gather(0, i.unsqueeze(0)),
    "scatter": lambda m, x, i, v: x.scatter(0, i.unsqueeze(0), v),
    "scatter_add": lambda m, x, i, v: x.scatter_add(0, i.unsqueeze(0), v),
    "take_along_dim": lambda m, x, i, v: m.take_along_dim(x, i.unsqueeze(0), 0),
    "masked_fill": lambda m, x, i, v: x.masked_fill(i > 0, 2.0),
    "where": lambda m, x, i, v: m.where(i > 0, x, v),
}


def assigned(x, index, values):
    x[index] = values
    return x


@pytest.mark.parametrize("name", BY_INDEX)
def test_an_index_that_is_changed(name):
    """An index that is changed after its use sends no gradient elsewhere: backward raises, or is right."""

    def run(change):
        x, v = (mg.tensor(np.arange(9.0).reshape(3, 3) + n, requires_grad=True) for n in (0, 20))
        index = mg.tensor([0, 2, 1])
        out = BY_INDEX[name](mg, x, index, v)
        if change:
            index.fill_(0)
        (out * out).sum().backward()
        return [None if leaf.grad is None else leaf.grad.tolist() for leaf in (x, v)]

    expected = run(change=False)
    assert unless_refused(lambda: run(change=True)) in (None, expected)


OF_ONE = [
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "erf",
    "erfc",
    "gelu",
    "relu",
    "abs",
    "square",
    "neg",
    "reciprocal",
    "log1p",
    "cumsum",
    "softmax",
    "log_softmax",
    "prod",
    "amax",
    "amin",
    "logsumexp",
    "var",
    "std",
    "norm",
    "sort",
    "max",
    "median",
    "sum",
    "mean",
    "tril",
]
ALONG = {"cumsum", "softmax", "log_softmax", "prod", "amax", "amin", "logsumexp", "sort", "max", "median"}
POSITIVE = {"log", "sqrt", "rsqrt", "log1p", "pow"}
OF_TWO = ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "matmul")
OPERATIONS = {
    **{name: lambda a, b, name=name: getattr(a, name)(*((1,) if name in ALONG else ())) for name in OF_ONE},
    **{name: lambda a, b, name=name: getattr(mg, name)(a, b) for name in OF_TWO},
    "where": lambda a, b: mg.where(a > b, a, b * 2.0),
    "clamp": lambda a, b: a.clamp(0.5, 1.5),
    "clamp by tensors": lambda a, b: a.clamp(min=b),
    "masked_fill": lambda a, b: a.masked_fill(a > b, 0.0),
}


@pytest.mark.parametrize("size", [4, 80])
@pytest.mark.parametrize("changed", ["the result", "the first", "the second"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_whose_values_are_changed(name, changed, size):
    """A quick rule and one that is compiled need what the function saves, and nothing else: right, or an error."""

    def run(change):
        values = np.random.default_rng(2).permutation(2 * size * size).reshape(2, size, size) / (size * size)
        values += 0.1 if name in POSITIVE else -0.9
        leaves = [mg.tensor(x, requires_grad=True) for x in values]
        a, b = (x * 1.0 for x in leaves)
        out = OPERATIONS[name](a, b)
        out = out[0] if isinstance(out, tuple) else out
        if change:
            {"the result": out, "the first": a, "the second": b}[changed].add_(7.0)
        out.backward(mg.tensor(np.cos(np.arange(out.numel()) + 1.0).reshape(out.shape)))
        return [None if x.grad is None else x.grad.tolist() for x in leaves]

    assert unless_refused(lambda: run(change=True)) in (None, run(change=False))

"""Every function of `minigrad.nn.functional` beside PyTorch's: values, types and gradients, of all sorts of tensors."""

import dataclasses
import math

import numpy as np
import pytest
from nn_cases import CASES, RANDOM
from pytorch import torch

import minigrad as mg
from minigrad.nn import functional

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same'", "ignore:reduction. 'mean'")
COMPARED = {name: case for name, case in CASES.items() if case.function not in RANDOM}


def answer(m, case, dtype="float64", prepare=lambda x: x):
    """Return the results of a call and the gradients of its tensors, as arrays."""
    leaves = case.arguments(m, dtype)
    found = case.run(m, {name: prepare(x) for name, x in leaves.items()})
    out = found[0] if isinstance(found, tuple) else found
    if out.requires_grad:
        slope = np.cos(np.arange(math.prod(out.shape)) + 1.0).reshape(tuple(out.shape))
        out.backward(m.tensor(slope.astype(str(out.dtype).removeprefix("torch."))))
    results = found if isinstance(found, tuple) else (found,)
    return [x.detach().numpy() for x in results], {
        name: x.grad.numpy() for name, x in leaves.items() if x.requires_grad and x.grad is not None
    }


def compare(ours, theirs, tolerance):
    """Compare results, their types, and gradients. A gradient that nothing depends on may be none or zeros."""
    for mine, other in zip(ours[0], theirs[0], strict=True):
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance)
    for name in ours[1].keys() | theirs[1].keys():
        mine, other = (each[1].get(name, np.zeros(())) for each in (ours, theirs))
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance, err_msg=f"gradient of {name}")


def with_its_nan(ours, theirs):
    """Return our answer with nan wherever PyTorch's has one: it may be less exact beside masks and logarithms."""

    def put(mine, other):
        return np.where(np.isnan(other), other, mine) if other.dtype.kind == "f" else mine

    gradients = {name: put(mine, theirs[1].get(name, mine)) for name, mine in ours[1].items()}
    return [put(*pair) for pair in zip(ours[0], theirs[0], strict=True)], gradients


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", COMPARED.values(), ids=COMPARED)
def test_function(case, dtype):
    """Values, types and gradients are PyTorch's."""
    compare(answer(mg, case, dtype), answer(torch, case, dtype), 1e-10 if dtype == "float64" else 2e-4)


@pytest.mark.parametrize("case", COMPARED.values(), ids=COMPARED)
def test_function_of_no_examples(case):
    """A batch of no examples gives what PyTorch gives; where PyTorch refuses it, it is refused or has the shape."""
    case = case.empty()
    try:
        theirs = answer(torch, case)
    except (RuntimeError, ValueError, IndexError):
        theirs = None
    try:
        ours = answer(mg, case)
    except (ValueError, IndexError):
        assert theirs is None
        return
    if theirs is not None:
        compare(ours, theirs, 1e-10)


def strided(x):
    """Return a tensor of the same elements whose memory is that of a larger one, in another order."""
    if not x.ndim:
        return x
    order = list(range(x.ndim))[::-1]
    return x.permute(*order).contiguous().repeat_interleave(2, 0)[::2].permute(*order)


@pytest.mark.parametrize("case", COMPARED.values(), ids=COMPARED)
def test_function_of_strided_tensors(case):
    """Tensors that are parts of others, with their axes in another order, give what copies of them give."""
    compare(answer(mg, case, prepare=strided), answer(torch, case), 1e-10)


EXTREMES = (math.inf, -math.inf, math.nan, 1e30, -1e30, 0.0)


@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize("case", COMPARED.values(), ids=COMPARED)
def test_function_of_extreme_numbers(case, extreme):
    """An infinite number, a huge one or nan gives PyTorch's values and gradients, and nan where it has nan only."""
    name = next(iter(case.tensors))
    x = case.tensors[name]
    no_probability = case.function == "binary_cross_entropy"  # refused; 0 differs, and the documentation says how
    blind = case.function == "scaled_dot_product_attention" and "attn_mask" not in case.tensors  # likewise
    if x.dtype.kind != "f" or no_probability or (blind and extreme == math.inf):
        return
    changed = x.copy()
    changed.flat[:: max(1, x.size // 3)] = extreme
    case = dataclasses.replace(case, tensors=case.tensors | {name: changed})
    theirs = answer(torch, case)
    ours = with_its_nan(answer(mg, case), theirs)
    if math.isnan(extreme):  # of what moves nan, no gradient is right
        ours, theirs = (ours[0], {}), (theirs[0], {})
    compare(ours, theirs, 1e-9)


# --- types ------------------------------------------------------------------------------------------------------

LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy")
PAIRS = [(a, b) for a in ("float32", "float64", "int64", "int32") for b in ("float32", "float64", "int64", "bool")]


@pytest.mark.parametrize("shape", [(4,), ()])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", [*LOSSES, "binary_cross_entropy_with_logits", "cosine_similarity"])
def test_types_of_two_tensors(name, pair, shape):
    """Value and type are PyTorch's by promotion, plain and compiled; gradients have the type of what they belong to."""

    def run(m, function):
        a, b = (m.tensor(np.full(shape, 1, kind)) for kind in pair)
        a, b = (x.requires_grad_() if x.is_floating_point() else x for x in (a, b))
        out = function(a, b, **({"dim": 0} if name == "cosine_similarity" else {"reduction": "none"}))
        if out.requires_grad:
            out.sum().backward()
        grads = [None if x.grad is None else str(x.grad.dtype).removeprefix("torch.") for x in (a, b)]
        return out.detach().numpy(), grads

    if name == "binary_cross_entropy_with_logits" and pair == ("float64", "float32"):
        return  # PyTorch computes in the target's type, which the documentation lists
    function = getattr(functional, name)
    if name == "cosine_similarity" and not shape:
        return
    try:
        theirs = run(torch, getattr(torch.nn.functional, name))
        theirs = theirs if theirs[0].dtype.kind == "f" else None
    except (RuntimeError, NotImplementedError):  # which takes no integers, or no two types
        theirs = None
    try:
        plain = run(mg, function)
    except TypeError:
        if theirs is not None and name != "binary_cross_entropy_with_logits":
            raise
        return
    for ours in (plain, run(mg, mg.jit(function))):
        assert ours[0].dtype == plain[0].dtype
        np.testing.assert_allclose(ours[0], plain[0], rtol=1e-6)
        if theirs is not None:
            assert (ours[0].dtype, ours[1]) == (theirs[0].dtype, theirs[1])
            np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6, atol=1e-6)

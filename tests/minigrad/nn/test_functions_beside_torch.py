"""Every function of `minigrad.nn.functional` beside PyTorch's: values, types and gradients, of all sorts of tensors."""

import dataclasses
import math

import numpy as np
import pytest
from nn_cases import CASES, RANDOM, Case
from pytorch import torch

import minigrad as mg
from minigrad.errors import ExerciseNotDone
from minigrad.nn import functional, pool_functions

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


@pytest.mark.parametrize("backend", ["numba", "python"])
@pytest.mark.parametrize("case", COMPARED.values(), ids=COMPARED)
def test_function_of_no_examples(case, backend):
    """A batch of no examples gives what PyTorch gives; where PyTorch refuses it, it may be refused."""
    case = case.empty()
    try:
        theirs = answer(torch, case)
    except (RuntimeError, ValueError, IndexError):
        theirs = None
    try:
        with mg.backend(backend):
            ours = answer(mg, case)
    except (ValueError, IndexError):
        if theirs is not None:
            raise
        return
    if theirs is not None:
        compare(ours, theirs, 1e-10)


POOLS = {name: case for name, case in COMPARED.items() if case.function in ("avg_pool2d", "max_pool2d")}


def left_out(*parts, **options):
    """Stand for a function whose body an edition leaves out."""
    raise ExerciseNotDone("nn.functional.avg_pool2d")


@pytest.mark.parametrize("case", POOLS.values(), ids=POOLS)
def test_pooling_by_the_exercises(case, monkeypatch):
    """Where an edition leaves the quick forms out, a student's function for tiles serves every option."""
    if all(x.size < 1000 for x in case.tensors.values()):
        for function in (pool_functions.AvgPool2d, pool_functions.MaxPool2d):
            monkeypatch.setattr(function, "forward", staticmethod(left_out))
        compare(answer(mg, case), answer(torch, case), 1e-10)


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


SHORT = {
    name: case
    for name, case in COMPARED.items()
    if all(x.size < 1000 for x in case.tensors.values())
    and not case.options.get("training")  # which collects statistics in place
    and case.function != "cosine_similarity"  # of whose shapes each is compiled for seconds
}
SHORT["cosine_similarity"] = Case("cosine_similarity", {"x1": np.eye(3)[:2] + 0.5, "x2": np.ones((1, 3))}, {"dim": 0})


@pytest.mark.full("programs are compiled", share=24)
@pytest.mark.parametrize("case", SHORT.values(), ids=SHORT)
def test_function_compiled_and_of_a_batch(case):
    """jit, vmap and both give the values and gradients of plain calls."""
    leaves = {name: x.detach() for name, x in case.arguments(mg).items()}
    wanted = [name for name in leaves if case.is_differentiated(name)]

    def first(*values):
        out = case.run(mg, leaves | dict(zip(wanted, values, strict=True)))
        return out[0] if isinstance(out, tuple) else out

    def total(*values):
        out = first(*values)
        slope = np.cos(np.arange(math.prod(out.shape)) + 1.0).reshape(out.shape)
        return (out * mg.tensor(slope)).sum()

    values = [leaves[name] for name in wanted]
    for function in (first, mg.func.grad(total, argnums=tuple(range(len(values))))) if values else ():
        plain = function(*values)
        batch = [mg.stack([x, x * 0.5]) for x in values]
        of_each = [function(*[x[n] for x in batch]) for n in (0, 1)]
        for mine, other in ((mg.jit(function)(*values), plain), *batches(function, batch, of_each)):
            for a, b in zip(parts(mine), parts(other), strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-9)


def parts(x):
    return x if isinstance(x, tuple) else (x,)


def batches(function, batch, of_each):
    """Yield what vmap gives, plain and compiled, with what calls of each example give."""
    together = tuple(mg.stack(rows) for rows in zip(*map(parts, of_each), strict=True))
    for mapped in (mg.func.vmap(function), mg.jit(mg.func.vmap(function))):
        yield tuple(parts(mapped(*batch))), together


EXTREMES = (math.inf, -math.inf, math.nan, 1e30, -1e30, 0.0)


@pytest.mark.full("thousands of answers of PyTorch's", share=4)
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


# --- options that are no numbers, and what is refused -----------------------------------------------------------


@pytest.mark.parametrize("target", ["float32", "float64"])
@pytest.mark.parametrize("source", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_in_another_type(name, source, target):
    """The input is converted first; the gradient has the input's type. Methods and the course's name do so, too."""

    def run(m, function):
        x = m.tensor(np.array([[3.0, 0.0, 1.0], [1.0, 2.0, 5.0]]).astype(source))
        x = x.requires_grad_() if x.is_floating_point() else x
        out = function(x, 1, dtype=getattr(m, target))
        if x.requires_grad:
            (out * out).sum().backward()
        return [out.detach().numpy(), *([x.grad.numpy()] if x.requires_grad else [])]

    expected = run(torch, getattr(torch.nn.functional, name))
    names = [name, "logsoftmax"] if name == "log_softmax" else [name]
    functions = [*(getattr(functional, each) for each in names), getattr(mg.Tensor, name), getattr(mg, name)]
    for ours in (run(mg, function) for function in functions):
        for mine, other in zip(ours, expected, strict=True):
            assert mine.dtype == other.dtype
            np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)
    with mg.backend("python"):
        np.testing.assert_allclose(run(mg, getattr(functional, name))[0], expected[0], rtol=1e-6)


@pytest.mark.parametrize("kind", ["float64", "float32", "int64"])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("size", [(3, 2, 6, 5), (3, 8, 40, 41)])
def test_places_of_maxima(size, padding, kind):
    """Of equal elements the first is the place, of several nan the last, and never a place beyond the edge."""
    x = np.random.default_rng(3).integers(-1, 2, size).astype(kind)
    if kind != "int64":
        x[x == 1] = np.nan
        x[x == -1] = -np.inf
    options = {"stride": 1, "padding": padding, "dilation": (2, 1), "return_indices": True}
    values, indices = functional.max_pool2d(mg.tensor(x), 2, **options)
    theirs = torch.nn.functional.max_pool2d(torch.tensor(x), 2, **options)
    np.testing.assert_array_equal(values.numpy(), theirs[0].numpy())
    np.testing.assert_array_equal(indices.numpy(), theirs[1].numpy())
    if kind != "int64":
        grads = []
        for m in (mg, torch):
            leaf = m.tensor(x, requires_grad=True)
            m.nn.functional.max_pool2d(leaf, 2, **options)[0].sum().backward()
            grads.append(leaf.grad.numpy())
        np.testing.assert_array_equal(*grads)


REFUSED = [
    (lambda: functional.cross_entropy(mg.tensor([[1, 2]]), mg.tensor([0])), TypeError, "scores come first and are flo"),
    (lambda: functional.cross_entropy(mg.tensor([0]), mg.ones(1, 3)), TypeError, "got a tensor of int64"),
    (lambda: functional.nll_loss(mg.tensor([[1, 2]]), mg.tensor([0])), TypeError, r"convert it with \.float\(\)"),
    (lambda: functional.embedding(mg.tensor([0]), mg.ones(3, 2), 3), ValueError, "padding_idx 3 is none of the 3 rows"),
    (lambda: functional.embedding(mg.tensor([0]), mg.ones(3, 2), -4), ValueError, "embedding: padding_idx -4 is none"),
    (lambda: mg.nn.Embedding(3, 2, -4), ValueError, "Embedding: padding_idx -4 is none of the 3 rows"),
    (lambda: functional.pad(mg.ones(3), (3, 0), "reflect"), ValueError, "a margin of 3 elements in mode 'reflect'"),
    (lambda: functional.pad(mg.ones(3), (0, 4), "circular"), ValueError, "of which it can repeat 3"),
    (lambda: functional.pad(mg.ones(3), (1, 0), "mirror"), ValueError, "mode is 'mirror'; it must be 'constant', 'ref"),
    (lambda: functional.pad(mg.ones(3), (1, 0), "reflect", 1.0), ValueError, "a value is for the mode 'constant'"),
    (lambda: mg.nn.Conv1d(1, 1, 1, padding_mode="mirror"), ValueError, "Conv1d: padding_mode is 'mirror'"),
    (lambda: functional.avg_pool2d(mg.ones(1, 2, 2), 2, divisor_override=0), ValueError, "divisor_override is 0"),
    (lambda: functional.max_pool2d(mg.ones(1, 2, 2), 2, dilation=2), ValueError, r"with dilation \(2, 2\) fits into"),
    (lambda: functional.pixel_shuffle(mg.ones(3, 2, 2), 2), ValueError, r"3 channels .* do not split into groups"),
    (lambda: functional.pixel_unshuffle(mg.ones(3, 2, 3), 2), ValueError, "do not split into squares of 2"),
    (lambda: functional.pixel_shuffle(mg.ones(4, 2), 2), ValueError, "it needs channels, height and width"),
    (lambda: functional.pixel_shuffle(mg.ones(4, 2, 2), 0), ValueError, "the factor is 0"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_is_refused(call, error, message):
    """The sentence names the function, the values and the rule."""
    with pytest.raises(error, match=message):
        call()


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


@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("float32", "float32", "float64"), "float64"),
        (("float32", "int64", "float32"), "float32"),
        (("int64", "float32", "float64"), "float64"),
        (("int64", "int64", "float32"), "float32"),
        (("int64", "bool", "bool"), "int64"),
        (("bool", "bool", "int64"), "int64"),
    ],
    ids=str,
)
def test_linear_of_several_types(types, expected, size):
    """PyTorch refuses operands of different types; here they meet in their common one, in few products and in many."""
    shapes = (size, size), (5, size), (5,)
    counted = [np.arange(math.prod(shape)).reshape(shape) % 3 for shape in shapes]
    x, weight, bias = (mg.from_numpy(a.astype(t)) for a, t in zip(counted, types, strict=True))
    found = functional.linear(x, weight, bias)
    exact = x.numpy().astype(float) @ weight.numpy().astype(float).T + bias.numpy()
    assert found.dtype == expected
    np.testing.assert_array_equal(found.numpy(), exact)

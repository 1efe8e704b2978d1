"""Arguments by PyTorch's names and places mean what they mean there, or are refused; a machine compares them all."""

import importlib.util
import inspect
import itertools
import pickle
import re

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad.machine.missing import left_out

F = mg.nn.functional
X = np.array([[0.5, -1.25, 2.0], [-0.75, 1.5, 0.25]], np.float32)
Y = np.array([[1.5, 2.0, -0.3], [0.2, -0.9, 1.1]], np.float32)
N = np.array([[-7, 5, 6], [8, -9, 0]])

# Arguments by place that have another name than PyTorch's, and why that changes no number.
ONE_THING = "the same argument by another name"
BOTH = "either is taken, and told apart by its type"
REFUSED = "what PyTorch takes there is refused"
PLACES = {
    "d is dtype": ONE_THING,
    "from_ is low": ONE_THING,
    "func is f": ONE_THING,
    "func is fun": ONE_THING,
    "mode is requires_grad": ONE_THING,
    "orig_func is function": ONE_THING,
    "param is parameter": ONE_THING,
    "parameter_and_buffer_dicts is parameters": ONE_THING,
    "self is input": ONE_THING,
    "tensor is input": ONE_THING,
    "value is src": ONE_THING,
    "end is start": BOTH,
    "high is low": BOTH,
    "other is dim": BOTH,
    "unbiased is dim": BOTH,
    "_stacklevel is dtype": REFUSED,
    "beta is input": REFUSED,
    "device is dtype": REFUSED,
    "max_norm is dtype": REFUSED,
    "out is dtype": REFUSED,
    "repeats is input": REFUSED,
    "size_average is reduction": REFUSED,
}
# Defaults that are written differently; the first six differ, and the documentation says so, or they refuse less.
DEFAULTS = {
    ("load", "weights_only"),
    ("LogSoftmax", "dim"),
    ("Softmax", "dim"),
    ("Parameter", "data"),
    ("functional_call", "args"),
    ("linspace", "steps"),
    ("ModuleDict", "modules"),
    ("ModuleList", "modules"),
    ("ParameterList", "values"),
    ("TransformerEncoderLayer", "activation"),
    ("amax", "dim"),
    ("amin", "dim"),
    ("functional_call", "kwargs"),
    ("meshgrid", "indexing"),
    ("norm", "p"),
    ("random_split", "generator"),
    ("roll", "dims"),
}


@pytest.fixture(scope="module")
def script(root):
    """The script that compares the libraries, as a module."""
    spec = importlib.util.spec_from_file_location("torch_names", root / "scripts" / "torch_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_arguments_by_place_are_pytorchs(script):
    """Of every function, method and class that both have, in every overload. No exception outlives its reason."""
    found = {what: name for ours, theirs in script.PLACES.items() for name, what in script.misplaced(ours, theirs)}
    assert {what: name for what, name in found.items() if what not in PLACES} == {}
    assert PLACES.keys() - found.keys() == set()


def test_defaults_are_pytorchs(script):
    """Of every argument that both have. No exception outlives its reason."""
    found = {
        (name, what.partition("=")[0])
        for ours, theirs in script.PLACES.items()
        for name, what in script.other_defaults(ours, theirs)
    }
    assert found == DEFAULTS


def test_the_comparison_sees_what_differs(script, monkeypatch):
    """A keyword that is gone, an argument at another place and another default are found."""

    def add(input, alpha, other, keepdim=True): ...

    monkeypatch.setitem(vars(mg), "any", add)
    assert ("any", "dim is alpha") in script.misplaced("minigrad", "torch")
    assert ("any", "keepdim=True is False") in script.other_defaults("minigrad", "torch")
    assert ("any", "dim") in script.keywords_left_out("minigrad", "torch")


# By keywords and places of PyTorch's.
SAME = {
    "var(False)": lambda m, x, y, n: x.var(False),
    "std(x, False)": lambda m, x, y, n: m.std(x, False),
    "var(True)": lambda m, x, y, n: x.var(True),
    "sum(dtype)": lambda m, x, y, n: x.sum(0, dtype=m.float64),
    "sum(dtype) of all": lambda m, x, y, n: m.sum(x, dtype=m.float64),
    "sum to integers": lambda m, x, y, n: x.sum(dtype=m.int64),
    "sum to int32": lambda m, x, y, n: n.sum(1, True, dtype=m.int32),
    "sum to booleans": lambda m, x, y, n: n.sum(1, dtype=m.bool),
    "mean(dtype)": lambda m, x, y, n: n.mean(dtype=m.float32),
    "mean(dim, dtype)": lambda m, x, y, n: m.mean(n, 1, dtype=m.float64),
    "prod(dtype)": lambda m, x, y, n: n.prod(dtype=m.float64),
    "prod(dim, dtype)": lambda m, x, y, n: n.prod(1, dtype=m.int32),
    "cumprod(dtype)": lambda m, x, y, n: n.cumprod(1, dtype=m.float64),
    "norm(dtype)": lambda m, x, y, n: x.norm(2, 1, dtype=m.float64),
    "norm(None)": lambda m, x, y, n: x.norm(None, 1),
    "div floor": lambda m, x, y, n: m.div(x, y, rounding_mode="floor"),
    "div trunc": lambda m, x, y, n: x.div(y, rounding_mode="trunc"),
    "div floor of integers": lambda m, x, y, n: n.div(4, rounding_mode="floor"),
    "div trunc of integers": lambda m, x, y, n: n.div(m.tensor([4, -4, 2]), rounding_mode="trunc"),
    "div trunc by a float": lambda m, x, y, n: n.div(2.5, rounding_mode="trunc"),
    "div_ trunc": lambda m, x, y, n: x.clone().div_(y, rounding_mode="trunc"),
    "pow of a number": lambda m, x, y, n: m.pow(2.0, y),
    "remainder of a number": lambda m, x, y, n: m.remainder(2.0, y),
    "bmm(mat2)": lambda m, x, y, n: x[None].bmm(mat2=y.mT[None]),
    "mm(mat2)": lambda m, x, y, n: m.mm(input=x, mat2=y.mT),
    "dot(tensor)": lambda m, x, y, n: x[0].dot(tensor=y[0]),
    "pow_(exponent)": lambda m, x, y, n: x.clone().pow_(exponent=2),
    "round_(decimals)": lambda m, x, y, n: x.clone().round_(decimals=1),
    "to(non_blocking, copy)": lambda m, x, y, n: x.to("cpu", m.float64, True, True),
    "to(dtype, non_blocking)": lambda m, x, y, n: x.to(m.float64, False),
    "to(other, copy)": lambda m, x, y, n: x.to(n, copy=True, non_blocking=True),
    "type(non_blocking)": lambda m, x, y, n: x.type(m.float64, non_blocking=True),
    "copy_(non_blocking)": lambda m, x, y, n: m.zeros(2, 3).copy_(x, non_blocking=True),
    "zeros(size)": lambda m, x, y, n: m.zeros(size=(2, 3)),
    "ones(size)": lambda m, x, y, n: m.ones(size=(2,), dtype=m.int64),
    "reshape(shape)": lambda m, x, y, n: m.reshape(x, shape=(3, 2)),
    "permute(dims)": lambda m, x, y, n: m.permute(x, dims=(1, 0)),
    "broadcast_to(size)": lambda m, x, y, n: m.broadcast_to(x[0], size=(2, 3)),
    "tile(dims)": lambda m, x, y, n: m.tile(x, dims=(2,)),
    "swapdims": lambda m, x, y, n: x.swapdims(dim0=0, dim1=1),
    "full_like(dtype, device)": lambda m, x, y, n: m.full_like(input=x, fill_value=2, dtype=m.int64, device="cpu"),
    "zeros_like(dtype)": lambda m, x, y, n: m.zeros_like(x, dtype=m.int32, device="cpu"),
    "ones_like(requires_grad)": lambda m, x, y, n: m.ones_like(x, requires_grad=True),
    "new_full": lambda m, x, y, n: n.new_full(size=(2,), fill_value=1, dtype=m.float64, requires_grad=True),
    "new_zeros(size, dtype)": lambda m, x, y, n: n.new_zeros(size=(2, 1), dtype=m.float32, device="cpu"),
    "new_ones(dtype)": lambda m, x, y, n: x.new_ones(2, 2, dtype=m.bool),
    "eye(requires_grad)": lambda m, x, y, n: m.eye(2, requires_grad=True) * 2.0,
    "searchsorted(side)": lambda m, x, y, n: m.searchsorted(m.tensor([1, 3, 3]), m.tensor([3, 0]), side="right"),
    "scatter(value)": lambda m, x, y, n: x.scatter(1, m.tensor([[0], [2]]), value=9.0),
    "scatter_(value)": lambda m, x, y, n: m.zeros(2, 3).scatter_(1, m.tensor([[0], [2]]), value=1),
    "numpy(force)": lambda m, x, y, n: m.tensor(x.clone().requires_grad_().numpy(force=True)),
    "pad_sequence(padding_side)": lambda m, x, y, n: m.nn.utils.rnn.pad_sequence([x, x[:1]], padding_side="left"),
    "GELU(approximate)": lambda m, x, y, n: m.nn.GELU(approximate="tanh")(x),
    "PReLU(dtype)": lambda m, x, y, n: m.nn.PReLU(dtype=m.float64)(x.double()),
    "constant_(val)": lambda m, x, y, n: m.nn.init.constant_(m.zeros(2), val=3.0),
    "bernoulli(p)": lambda m, x, y, n: m.bernoulli(x, 1.0),
    "bernoulli(p=0)": lambda m, x, y, n: m.bernoulli(x, p=0.0),
    "randint(high, size)": lambda m, x, y, n: m.randint(1, size=(2,)),
    "randint(high=, size=)": lambda m, x, y, n: m.randint(high=1, size=(2,), dtype=m.int32),
    "randint(dtype)": lambda m, x, y, n: m.randint(3, 4, (2,), dtype=m.float32, requires_grad=True),
    "randperm(dtype)": lambda m, x, y, n: m.randperm(1, dtype=m.int32, device="cpu"),
    "normal(dtype)": lambda m, x, y, n: m.normal(1.0, 0.0, (2,), dtype=m.float64, requires_grad=True),
    "rand_like(dtype)": lambda m, x, y, n: m.rand_like(n, dtype=m.float64) * 0.0,
    "randn(size)": lambda m, x, y, n: m.randn(size=(2, 3), generator=m.Generator(device="cpu").manual_seed(1)) * 0.0,
    "squeeze(axis)": lambda m, x, y, n: x[:1].squeeze(axis=0),
    "take_along_dim(axis)": lambda m, x, y, n: x.take_along_dim(x.argsort(axis=1), 1),
    "cat(axis)": lambda m, x, y, n: m.cat([x, y], axis=1),
    "concatenate(axis)": lambda m, x, y, n: m.concatenate([x, y], axis=-1),
    "stack(axis)": lambda m, x, y, n: m.stack([x, y], axis=2),
    "Generator": lambda m, x, y, n: m.rand(2, generator=m.Generator("cpu")) * 0.0,
}


@pytest.mark.parametrize("name", SAME)
def test_keywords_give_pytorchs_values(name):
    """The same numbers, type and shape, and the same wish for gradients."""
    theirs, ours = (SAME[name](m, m.tensor(X), m.tensor(Y), m.tensor(N)) for m in (torch, mg))
    assert (tuple(theirs.shape), str(theirs.dtype)) == (ours.shape, f"torch.{ours.dtype}")
    assert theirs.requires_grad == ours.requires_grad
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6)


# Arguments that stand before dim.
BEFORE_DIM = {"chunk": (2,), "kthvalue": (2,), "repeat_interleave": (2,), "topk": (2,)}


def _along_an_axis():
    """Return the functions of tensors that have a dim which no argument follows that must be given."""
    found = []
    for name in sorted(dir(mg.Tensor)):
        if name[0] != "_" and callable(getattr(mg.Tensor, name)) and hasattr(torch, name):
            dim = inspect.signature(getattr(mg.Tensor, name)).parameters.get("dim")
            found += [name] if dim is not None and dim.default is not dim.empty else []
    return found


def _called(function, value, name, named):
    """Return the shapes and values of what a function returns."""
    found = function(value, *BEFORE_DIM.get(name, ()), **named)
    return [(tuple(x.shape), x.tolist()) for x in (found if isinstance(found, tuple | list) else [found])]


def test_numpys_names_are_taken_where_pytorch_takes_them():
    """`axis` for dim and `keepdims` for keepdim, which PyTorch's own signatures do not show; of every function."""
    seen = set()
    options = {"axis": 0}, {"axis": -1}, {"axis": 1, "keepdims": True}, {"dim": 0, "keepdims": True}
    for name, named, value in itertools.product(_along_an_axis(), options, (X, X > 0.0)):
        try:
            theirs = _called(getattr(torch, name), torch.tensor(value), name, named)
        except (TypeError, RuntimeError):  # not of this function, or not of booleans
            continue
        ours = _called(getattr(mg, name), mg.tensor(value), name, named)
        assert _called(getattr(mg.Tensor, name), mg.tensor(value), name, named) == ours
        assert [shape for shape, _ in theirs] == [shape for shape, _ in ours], (name, named)
        for (_, a), (_, b) in zip(theirs, ours, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=f"{name} {named}")
        seen.add(name)
    assert {"sum", "argmax", "cumprod", "cumsum", "sort", "median", "unsqueeze", "unbind", "chunk"} <= seen


@pytest.mark.parametrize(
    "change",
    [
        lambda m, x: m.nn.functional.relu(x, inplace=True),
        lambda m, x: m.nn.functional.relu6(x, True),
        lambda m, x: m.nn.functional.elu(x, 0.5, inplace=True),
        lambda m, x: m.nn.functional.hardtanh(x, -1.0, 1.0, True),
        lambda m, x: m.nn.functional.leaky_relu(x, 0.1, True),
        lambda m, x: m.nn.functional.silu(x, inplace=True),
        lambda m, x: m.nn.ReLU(inplace=True)(x),
        lambda m, x: m.nn.ReLU6(True)(x),
        lambda m, x: m.nn.ELU(0.5, True)(x),
        lambda m, x: m.nn.Hardtanh(inplace=True)(x),
        lambda m, x: m.nn.LeakyReLU(0.1, inplace=True)(x),
        lambda m, x: m.nn.SiLU(inplace=True)(x),
        lambda m, x: m.nn.Dropout(1.0, inplace=True)(x),
        lambda m, x: m.nn.Dropout2d(1.0, inplace=True)(x[:, None, None])[:, 0, 0],
    ],
)
def test_inplace_changes_the_input(change):
    """The input itself has the result's values, and gradients go the way that PyTorch's go."""
    found = []
    for m in (torch, mg):
        leaf = m.tensor(X, requires_grad=True)
        x = leaf * 2.0
        y = change(m, x)
        assert np.array_equal(x.detach().numpy(), y.detach().numpy())
        (x * y + x).sum().backward()
        found.append([z.detach().numpy() for z in (y, x, leaf.grad)])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_inplace_is_refused_where_it_cannot_be():
    """A leaf that wants gradients, as in PyTorch, and integers."""
    with pytest.raises(mg.errors.GraphError, match="a leaf that requires gradients cannot be changed in place"):
        F.silu(mg.ones(2, requires_grad=True), inplace=True)
    with pytest.raises(TypeError, match="elu: inplace=True puts floats into a tensor of int64"):
        F.elu(mg.arange(2), inplace=True)
    x = mg.ones(2)
    assert mg.nn.Dropout(0.5, inplace=True).eval()(x) is x
    assert repr(mg.nn.Sequential(mg.nn.ReLU(inplace=True), mg.nn.Dropout(0.5, True))).count("inplace=True") == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda x, t: mg.addcdiv(x, 0.5, x, x),  # an old form of PyTorch's: the number was second
        lambda x, t: x.addcdiv(0.5, x, x),
        lambda x, t: mg.addcmul(x, 0.5, x, x),
        lambda x, t: mg.add(x, 2.0, x),
        lambda x, t: x.sub(2.0, x),
        lambda x, t: x.clone().add_(2.0, x),
        lambda x, t: x.addmm(2.0, x, x.mT),
        lambda x, t: F.cross_entropy(x, t, None, False),  # size_average: a sum
        lambda x, t: F.nll_loss(x, t, None, False),
        lambda x, t: mg.nn.CrossEntropyLoss(None, False),
        lambda x, t: mg.nn.NLLLoss(None, False),
        lambda x, t: mg.nn.MultiheadAttention(4, 2, 0.0, True, True),  # add_bias_kv
        lambda x, t: mg.load("state", "cpu", pickle),  # pickle_module
    ],
)
def test_what_stands_elsewhere_in_pytorch_is_given_by_name(call):
    """An argument by place that would mean something else is refused, and no number comes out."""
    with pytest.raises(TypeError, match="positional argument"):
        call(mg.tensor(X), mg.tensor([0, 1]))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda x: mg.exp(x, out=x), "exp: torch's keyword out is not in minigrad; use out.copy_(minigrad.exp(...))"),
        (
            lambda x: mg.clone(x, memory_format=None),
            "clone: torch's keyword memory_format is not in minigrad; use the call without it: a "
            "new tensor is row-major",
        ),
        (
            lambda x: mg.scatter(x, 0, x, x, reduce="add"),
            "scatter: torch's keyword reduce is not in minigrad; use x.scatter_add(dim, index, src), which adds",
        ),
    ],
)
def test_functions_say_what_to_do_without_a_keyword(call, sentence):
    """The sentence names the function, the keyword and what to use."""
    with pytest.raises(TypeError) as caught:
        call(mg.tensor(X))
    assert str(caught.value) == sentence


def test_one_axis_by_two_names_is_refused():
    """As in PyTorch, instead of taking one of them."""
    for call in (
        lambda x: x.sum(0, axis=1),
        lambda x: x.softmax(0, axis=1),
        lambda x: x.cumsum(0, axis=1),
        lambda x: x.sort(0, axis=1),
        lambda x: x.unbind(1, axis=0),
        lambda x: mg.stack([x, x], 1, axis=0),
    ):
        with pytest.raises(TypeError, match=r"dim is . and axis is .; they are two names for one thing, give one"):
            call(mg.tensor(X))


def test_other_type_errors_keep_their_words():
    """A misspelt keyword gets Python's words, and an error from further in its own."""
    with pytest.raises(TypeError, match=r"sum\(\) got an unexpected keyword argument 'dimm'"):
        mg.sum(mg.tensor(X), dimm=0)
    with pytest.raises(TypeError, match=r"clone\(\) got an unexpected keyword argument 'memory_format'"):
        mg.tensor(X).clone(memory_format=None)
    with pytest.raises(TypeError, match="std: a tensor of int64 has no std of its type"):
        mg.std(mg.arange(3), dim=0)


def test_the_documentation_names_the_keywords(root, script):
    """Those with advice of their own stand in the guide."""
    guide = (root / "docs" / "library" / "pytorch.md").read_text(encoding="utf-8")
    keywords = {re.sub(r".*\((\w+)\)", r"\1", key) for key in script.KEYWORDS}
    assert {keyword for keyword in keywords if f"`{keyword}`" not in guide} == set()


def test_every_advice_about_a_keyword_is_given(script):
    """Advice about a keyword that is taken by now, or that PyTorch has not, would never be seen."""
    refused = [name.rpartition(".")[2] for name in left_out() if "(" in name]
    seen = {
        *refused,
        *(name.replace("_(", "(") for name in refused),
        *(name.partition("(")[2][:-1] for name in refused),
    }
    assert set(script.KEYWORDS) - seen == set()


def test_truncated_and_orthogonal_weights():
    """Chances within bounds are those of the normal distribution; rows or columns are orthogonal, of one length."""
    mg.manual_seed(3)
    drawn = mg.nn.init.trunc_normal_(mg.zeros(50_000), 0.5, 2.0, -1.0, 3.0).numpy()
    assert drawn.min() >= -1.0 and drawn.max() <= 3.0
    theirs = torch.nn.init.trunc_normal_(torch.zeros(50_000), 0.5, 2.0, -1.0, 3.0).numpy()
    assert (drawn < 0.5).mean() == pytest.approx((theirs < 0.5).mean(), abs=0.01)
    assert drawn.std() == pytest.approx(1.0739, abs=0.01)  # of the density between the bounds
    far = mg.nn.init.trunc_normal_(mg.zeros(20_000), 0.0, 1.0, 4.0, 100.0).numpy()
    assert far.min() >= 4.0
    assert far.mean() == pytest.approx(4.2256, abs=0.01)  # the hazard of the normal distribution at 4
    wide = mg.nn.init.trunc_normal_(mg.zeros(20_000), std=0.02).numpy()
    assert wide.std() == pytest.approx(0.02, rel=0.03)
    for shape in ((3, 5), (5, 3), (4, 2, 3), (3, 2, 3)):
        weight = mg.nn.init.orthogonal_(mg.zeros(*shape), gain=2.0).numpy().reshape(shape[0], -1)
        smaller = weight @ weight.T if weight.shape[0] <= weight.shape[1] else weight.T @ weight
        np.testing.assert_allclose(smaller, 4.0 * np.eye(len(smaller)), atol=1e-5)
    with pytest.raises(ValueError, match="orthogonal_: a tensor of shape"):
        mg.nn.init.orthogonal_(mg.zeros(3))
    with pytest.raises(ValueError, match="std must be more than 0"):
        mg.nn.init.trunc_normal_(mg.zeros(3), std=0.0)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: mg.nn.Linear(1, 1).half(), "torch's half is not in minigrad; use module.float()"),
        (lambda: mg.Generator().get_state(), "torch's get_state is not in minigrad; use generator.manual_seed(seed)"),
        (lambda: mg.nn.init.dirac_, "torch's dirac_ is not in minigrad"),
        (lambda: mg.nn.init.xavier_uniform, "use minigrad.nn.init.xavier_uniform_(x)"),
        (
            lambda: mg.optim.SGD(mg.nn.Linear(1, 1).parameters(), lr=0.1).profile_hook_step,
            "torch's profile_hook_step is not in minigrad",
        ),
        (lambda: mg.data.DataLoader([1]).multiprocessing_context, "torch's multiprocessing_context is not in minigrad"),
    ],
)
def test_attributes_of_objects_get_a_sentence(ask, sentence):
    """Modules, generators, optimizers and loaders speak as tensors do."""
    with pytest.raises(AttributeError, match=re.escape(sentence)):
        ask()


def test_objects_keep_pythons_words_for_other_names():
    """A misspelt attribute carries what Python needs for its suggestion."""
    for thing in (mg.nn.Linear(1, 1), mg.Generator(), mg.data.DataLoader([1])):
        with pytest.raises(AttributeError, match="has no attribute 'nonsens'") as caught:
            _ = thing.nonsens
        assert (caught.value.name, caught.value.obj) == ("nonsens", thing)


def test_jvp_with_something_beside_the_value():
    """d(x^2) = 2 x dx; what comes beside the value comes third, as it is."""
    value, change, beside = mg.func.jvp(lambda v: (v * v, v + 1.0), (mg.tensor(3.0),), (mg.tensor(0.5),), has_aux=True)
    assert (value.item(), change.item(), beside.item()) == (9.0, 3.0, 4.0)


def test_signatures_of_functions_are_those_of_their_methods():
    """Help shows the arguments that a function takes."""
    assert [*inspect.signature(mg.div).parameters] == ["self", "other", "rounding_mode"]

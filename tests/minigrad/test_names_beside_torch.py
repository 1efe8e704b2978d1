"""Short compositions by PyTorch's names give PyTorch's values and derivatives, also under jit and vmap."""

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad import func, graph
from minigrad.errors import BatchingError

ROWS = np.array([[0.5, -1.25, 2.0, 3.5], [-0.75, 1.5, -2.5, 0.25], [4.0, -3.0, 1.0, 0.6]])

# What a function of a library and a tensor gives; differentiable, and defined for any row alone.
SMOOTH = {
    "addcdiv": lambda m, x: x.addcdiv(x, x * x + 1.0, value=0.5),
    "addcmul": lambda m, x: m.addcmul(x, x, x, value=0.5),
    "addmm": lambda m, x: m.addmm(x.reshape(-1, 4)[:, :1], x.reshape(-1, 4), x.reshape(-1, 4).mT[:, :1], beta=2.0),
    "cross": lambda m, x: m.cross(x[..., :3], x[..., 1:], dim=-1),
    "cumprod": lambda m, x: x.cumprod(-1),
    "fmod": lambda m, x: m.fmod(x, 0.7),
    "index_fill": lambda m, x: x.index_fill(-1, m.tensor([0, 2]), 9.0),
    "kthvalue": lambda m, x: x.kthvalue(2, -1)[0],
    "lerp": lambda m, x: m.lerp(x, x * x, 0.25),
    "log10": lambda m, x: (x * x).log10(),
    "log2": lambda m, x: (x * x).log2(),
    "median": lambda m, x: x.median(-1)[0],
    "movedim": lambda m, x: m.movedim(x * x, -1, 0),
    "ravel": lambda m, x: (x * x).ravel(),
    "repeat_interleave": lambda m, x: m.repeat_interleave(x * x, 2, dim=-1),
    "rsqrt": lambda m, x: (x * x).rsqrt(),
    "swapaxes": lambda m, x: (x * x).swapaxes(-1, 0),
    "take_along_dim": lambda m, x: m.take_along_dim(x, x.argsort(-1), -1),
    "tan": lambda m, x: x.tan(),
    "tile": lambda m, x: (x * x).tile(2),
    "var with correction": lambda m, x: x.var(-1, correction=0),
    "std with correction": lambda m, x: x.std(-1, correction=2),
    "elu": lambda m, x: m.nn.functional.elu(x, 1.5),
    "gelu by tanh": lambda m, x: m.nn.functional.gelu(x, approximate="tanh"),
    "hardtanh": lambda m, x: m.nn.functional.hardtanh(x, -2.0, 1.1),
    "leaky_relu": lambda m, x: m.nn.functional.leaky_relu(x, 0.2),
    "logsigmoid": lambda m, x: m.nn.functional.logsigmoid(x),
    "normalize": lambda m, x: m.nn.functional.normalize(x, dim=-1),
    "pad": lambda m, x: m.nn.functional.pad(x * x, (1, -1), value=2.0),
    "relu6": lambda m, x: m.nn.functional.relu6(x * 2.0),
    "silu": lambda m, x: m.nn.functional.silu(x),
    "softplus": lambda m, x: m.nn.functional.softplus(x * 9.0, beta=2.0),
    "cosine_similarity": lambda m, x: m.nn.functional.cosine_similarity(x, x * x, dim=-1),
    "huber_loss": lambda m, x: m.nn.functional.huber_loss(x, x * 0.0, delta=1.2),
    "kl_div": lambda m, x: m.nn.functional.kl_div(x.log_softmax(-1), (x * x).softmax(-1), reduction="sum"),
    "cross_entropy of probabilities": lambda m, x: m.nn.functional.cross_entropy(
        x.reshape(-1, 4), (x * x).softmax(-1).detach().reshape(-1, 4), label_smoothing=0.1
    ),
    "weighed logits": lambda m, x: m.nn.functional.binary_cross_entropy_with_logits(
        x, x.sigmoid().detach(), weight=m.tensor(0.5).double(), pos_weight=m.tensor(3.0).double()
    ),
}

# Values alone, of a tensor with its own.
VALUES = {
    "bincount": lambda m, x: m.bincount(m.tensor([0, 2, 2]), minlength=5),
    "bincount with weights": lambda m, x: m.bincount(m.tensor([0, 2, 2]), m.tensor([0.5, 1.0, 2.0])),
    "broadcast_shapes": lambda m, x: m.ones(m.broadcast_shapes((3, 1), (4,), 1)),
    "count_nonzero": lambda m, x: m.count_nonzero(x > 0, dim=1),
    "dstack": lambda m, x: m.dstack([x, x]),
    "hstack of vectors": lambda m, x: m.hstack([x[0], x[1]]),
    "isclose": lambda m, x: m.isclose(x, x * (1.0 + 1e-6)),
    "isclose of infinities": lambda m, x: m.isclose(
        m.tensor([m.inf, m.inf, m.nan, 1.0]), m.tensor([m.inf, -m.inf, m.nan, m.inf]), equal_nan=True
    ),
    "logical_xor": lambda m, x: m.logical_xor(x > 0, x > 1),
    "logical_not": lambda m, x: m.logical_not(m.tensor([0, 3])),
    "masked_select": lambda m, x: m.masked_select(x, m.tensor([True, False, True, False])),
    "median of all": lambda m, x: m.median(x),
    "median with nan": lambda m, x: m.median(m.tensor([[1.0, m.nan, 0.0], [3.0, 1.0, 2.0]]), dim=1)[0],
    "median of two": lambda m, x: m.tensor([4, 1]).median(),
    "meshgrid xy": lambda m, x: m.meshgrid(x[0], x[1, :3], indexing="xy")[1],
    "movedim of two": lambda m, x: m.zeros(2, 3, 4, 5).movedim((0, 1), (2, 0)),
    "nonzero": lambda m, x: m.nonzero(x > 0),
    "nonzero of a number": lambda m, x: m.nonzero(m.tensor(3)),
    "nonzero as a tuple": lambda m, x: m.nonzero(x > 0, as_tuple=True)[1],
    "repeat_interleave of each": lambda m, x: x.repeat_interleave(m.tensor([2, 0, 1]), dim=0),
    "searchsorted from the right": lambda m, x: m.searchsorted(m.tensor([1, 3, 3]), m.tensor([[3], [0]]), right=True),
    "take_along_dim of all": lambda m, x: m.take_along_dim(x, m.tensor([5, 0])),
    "trunc": lambda m, x: m.trunc(x),
    "trunc of integers": lambda m, x: m.trunc(m.tensor([-3, 3])),
    "fmod of integers": lambda m, x: m.fmod(m.tensor([-5, 5]), 3),
    "unique": lambda m, x: m.unique(m.tensor([[3, 1], [3, 2]]), return_inverse=True)[1],
    "unique rows": lambda m, x: m.unique(m.tensor([[3, 1], [3, 1], [0, 0]]), dim=0),
    "vstack": lambda m, x: m.vstack([x[0], x]),
    "adaptive pooling": lambda m, x: m.nn.functional.adaptive_avg_pool2d(x.view(1, 1, 3, 4), (2, 3)),
    "adaptive pooling of rows": lambda m, x: m.nn.functional.adaptive_avg_pool2d(x.view(1, 1, 3, 4), (None, 2)),
    "same, even kernels": lambda m, x: m.nn.functional.conv2d(
        x.view(1, 1, 3, 4), x[:2].view(1, 1, 2, 4), padding="same", dilation=(1, 2)
    ),
    "prelu of channels": lambda m, x: m.nn.functional.prelu(x.view(1, 3, 2, 2), m.tensor([0.1, 0.2, 0.3]).double()),
    "pad_sequence": lambda m, x: m.nn.utils.rnn.pad_sequence([x, x[:1]], padding_value=7.0),
}


def both(name, function):
    """Return PyTorch's result and minigrad's for the same rows."""
    return function(torch, torch.tensor(ROWS)), function(mg, mg.tensor(ROWS))


@pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning")  # PyTorch copies, too
@pytest.mark.parametrize("name", VALUES)
def test_values_and_types_are_pytorchs(name):
    """The same numbers, in the same type and shape."""
    theirs, ours = both(name, VALUES[name])
    assert (tuple(theirs.shape), str(theirs.dtype)) == (ours.shape, f"torch.{ours.dtype}")
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_are_pytorchs(name):
    """Values, gradients, and gradients of the gradients' squares."""
    found = []
    for m in (torch, mg):
        x = m.tensor(ROWS, requires_grad=True)
        y = SMOOTH[name](m, x)
        weights = m.tensor(np.cos(np.arange(y.numel())).reshape(tuple(y.shape)))
        (slope,) = m.autograd.grad((y * weights).sum(), x, create_graph=True)
        second = m.autograd.grad((slope * slope).sum(), x)[0] if slope.requires_grad else slope * 0.0
        found.append([z.detach().numpy() for z in (y, slope, second)])
    for theirs, ours in zip(*found, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.full("programs are compiled", share=16)
@pytest.mark.parametrize("name", SMOOTH)
def test_jit_and_vmap_give_the_same(name):
    """A traced function gives what Python gave, and a batch what a loop over its rows gives."""

    def f(x):
        return SMOOTH[name](mg, x)

    x = mg.tensor(ROWS)
    np.testing.assert_allclose(graph.jit(f)(x).numpy(), f(x).numpy(), rtol=1e-12)
    rows = np.stack([f(row).numpy() for row in x])
    np.testing.assert_allclose(func.vmap(f)(x).numpy(), rows, rtol=1e-12)


@pytest.mark.parametrize("name", ["elu", "hardtanh", "leaky_relu", "logsigmoid", "relu6", "silu", "softplus"])
def test_activations_at_corners(name):
    """At 0, at bounds, infinities and nan, values and gradients are PyTorch's."""
    points = np.array([0.0, -0.0, 1.0, -1.0, 6.0, 100.0, -100.0, np.inf, -np.inf, np.nan], np.float32)
    found = []
    for m in (torch, mg):
        x = m.tensor(points, requires_grad=True)
        y = getattr(m.nn.functional, name)(x)
        y.backward(m.ones_like(y))
        found += [(y.detach().numpy(), x.grad.numpy())]
    (theirs, their_slopes), (ours, slopes) = found
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-40)  # subnormal numbers have few digits
    finite = np.isfinite(points)
    np.testing.assert_allclose(slopes[finite], their_slopes[finite], rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize(
    "look",
    [lambda x: x.nonzero(), lambda x: x.unique(), lambda x: x.long().bincount(), lambda x: mg.multinomial(x.abs(), 1)],
)
def test_what_depends_on_the_elements_is_refused_where_they_are_unknown(look):
    """Under vmap and in a trace, a sentence says so."""
    with pytest.raises(BatchingError, match="depends on the elements, which are unknown here"):
        func.vmap(look)(mg.tensor(ROWS))
    with pytest.raises(mg.errors.TraceError, match="depends on the elements, which are unknown here"):
        graph.trace(look, mg.ones(4))


def test_draws_follow_their_chances():
    """Of 20,000 draws each place has its share; without replacement no place comes twice."""
    mg.manual_seed(3)
    weights = mg.tensor([1.0, 0.0, 3.0])
    drawn = mg.multinomial(weights, 20_000, replacement=True).bincount(minlength=3) / 20_000
    assert drawn.allclose(mg.tensor([0.25, 0.0, 0.75]), atol=0.015)
    rows = mg.multinomial(mg.ones(500, 6), 6)
    assert rows.sort(1).values.equal(mg.arange(6).expand(500, 6))
    assert rows[:, 0].unique().numel() == 6
    assert mg.bernoulli(mg.full((20_000,), 0.3)).mean().item() == pytest.approx(0.3, abs=0.015)
    drawn = mg.normal(mg.full((20_000,), 5.0), 2.0)
    assert (drawn.mean().item(), drawn.std().item()) == pytest.approx((5.0, 2.0), abs=0.06)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mg.multinomial(mg.tensor([0.0, 1.0]), 2), "draw with replacement=True"),
        (lambda: mg.multinomial(mg.tensor([0.0, 0.0]), 1), "not all 0"),
        (lambda: mg.tensor([1.0, 2.0]).kthvalue(3), "k is 3, but axis -1 of shape (2,) has size 2"),
        (lambda: mg.zeros(2, 0).median(1), "no element along axis 1"),
        (lambda: mg.tensor([-1]).bincount(), "numbers from 0 on"),
        (lambda: mg.normal(0.0, 1.0), "give size with two numbers"),
        (lambda: mg.searchsorted(mg.zeros(2, 2), 1.0), "it must be a vector"),
        (lambda: mg.meshgrid(mg.ones(2), indexing="yx"), "'ij' or 'xy'"),
        (lambda: mg.zeros(2, 3).movedim((0, 1), 0), "as many places as axes"),
        (lambda: mg.zeros(2).mv(mg.zeros(2)), "a matrix and a vector"),
        (lambda: mg.zeros(2).trace(), "it must be a matrix"),
        (lambda: mg.zeros(2, 4).cross(mg.zeros(2, 4)), "size 3 along one axis"),
        (lambda: mg.device("tpu"), "the devices are 'cpu' and 'cuda'"),
        (lambda: mg.nn.functional.pad(mg.ones(2), (1,)), "two numbers for each last axis"),
        (lambda: mg.nn.functional.pad(mg.ones(2), (1, 1), mode="mirror"), "mode is 'mirror'; it must be 'constant'"),
        (lambda: mg.nn.functional.gelu(mg.ones(2), "sigmoid"), "'none' or 'tanh'"),
        (lambda: mg.nn.Conv2d(1, 1, 3, stride=2, padding="same"), "for a stride of 1"),
        (lambda: mg.nn.functional.huber_loss(mg.ones(1), mg.ones(1), delta=0.0), "more than 0"),
        (lambda: mg.nn.init.eye_(mg.zeros(2)), "it must be a matrix"),
        (lambda: mg.nn.utils.rnn.pad_sequence([mg.ones(2, 3), mg.ones(2, 4)]), "along their first axis only"),
    ],
)
def test_mistakes_are_told_in_a_sentence(call, words):
    """The message names the rule."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: mg.rand_like(mg.arange(3)), TypeError, "rand_like: draws floats, which a tensor of int64 cannot hold"),
        (lambda: mg.randn_like(mg.arange(3)), TypeError, "randn_like: draws floats"),
        (lambda: mg.rand(3, dtype=mg.int64), TypeError, "rand: draws floats, which a tensor of int64 cannot hold"),
        (lambda: mg.randn(3, dtype=bool), TypeError, "randn: draws floats"),
        (lambda: mg.arange(3).normal_(), TypeError, "normal_: draws floats"),
        (lambda: mg.arange(3).uniform_(), TypeError, "uniform_: draws floats"),
        (lambda: mg.randint(0, 5), ValueError, "no integer is at least 0 and less than 0; call randint"),
        (lambda: mg.randint(4, 4, (2,)), ValueError, "no integer is at least 4 and less than 4"),
        (lambda: mg.randint(5), TypeError, r"the size is missing; call randint\(high, size\)"),
        (lambda: mg.arange(3).std(), TypeError, "std: a tensor of int64 has no std of its type"),
        (lambda: mg.arange(3).var(), TypeError, "var: a tensor of int64 has no var of its type"),
        (lambda: np.sum(mg.ones(2)), TypeError, "numpy.sum: functions of NumPy take no Tensor"),
        (lambda: np.mean(mg.ones(2), axis=0), TypeError, "numpy.mean: functions of NumPy take no Tensor"),
        (lambda: np.array(mg.ones(2, requires_grad=True)), mg.errors.GraphError, "use detach"),
    ],
)
def test_no_surprise_comes_in_silence(call, error, words):
    """What would lose a gradient or a fraction is refused, in words about what was called."""
    with pytest.raises(error, match=words):
        call()


def test_functions_of_numpy_take_tensors_as_arrays():
    """Functions that ask for no method get the tensor's array."""
    x = mg.tensor([3.0, 1.0])
    assert np.stack([x, x]).tolist() == [[3.0, 1.0]] * 2
    assert np.concatenate([x, np.zeros(1)]).tolist() == [3.0, 1.0, 0.0]
    assert np.allclose(x, [3.0, 1.0])
    with pytest.raises(TypeError, match="interpreted as an integer"):
        np.concatenate([x, x], axis="rows")  # an error of NumPy's own


def test_the_library_lists_what_is_its_users():
    """Completion shows names of the library, and nothing that it imports."""
    names = dir(mg)
    assert {"tensor", "nn", "device", "cuda", "float32", "int32", "pi", "vstack", "use"} <= {*names}
    assert {"sys", "importlib", "math", "suppress", "missing", "cuda_choice", "TYPE_CHECKING"} & {*names} == set()
    assert [name for name in names if name.startswith("_") and name != "__version__"] == []


def test_modules_in_a_dictionary_and_hooks():
    """A dictionary of modules is one of Python's; a hook that returns something replaces arguments or output."""
    heads = mg.nn.ModuleDict({"a": mg.nn.Identity()})
    heads.update([("b", mg.nn.ReLU())])
    assert (list(heads), len(heads), "b" in heads, [*heads.values()][1]) == (["a", "b"], 2, True, heads["b"])
    assert isinstance(heads.pop("a"), mg.nn.Identity)
    assert list(dict(heads.items())) == ["b"]
    with pytest.raises(KeyError, match="it has b"):
        heads["c"]
    with pytest.raises(KeyError, match="that is a method"):
        heads["keys"] = mg.nn.ReLU()
    before = heads["b"].register_forward_pre_hook(lambda module, args: args[0] + 1.0)
    behind = heads["b"].register_forward_hook(lambda module, args, output: output * 10.0)
    assert heads["b"](mg.ones(1)).item() == 20.0
    before.remove()
    behind.remove()
    assert heads["b"](mg.ones(1)).item() == 1.0


def test_recording_is_switched_as_in_pytorch():
    """`set_grad_enabled` works at once and until the end of its block; `inference_mode(False)` records."""
    x = mg.ones(1, requires_grad=True)
    switch = mg.set_grad_enabled(False)
    assert not (x * 2.0).requires_grad
    with switch:
        assert not mg.is_grad_enabled()
    assert mg.is_grad_enabled()

    @mg.set_grad_enabled(False)
    def constant():
        return x * 2.0

    assert mg.is_grad_enabled()
    assert not constant().requires_grad
    with mg.inference_mode(False):
        assert (x * 2.0).requires_grad
    assert mg.inference_mode(lambda: mg.is_grad_enabled())() is False

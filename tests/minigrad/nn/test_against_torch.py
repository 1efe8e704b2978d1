"""Layers, pooling and losses beside PyTorch's: outputs, and gradients of inputs and parameters."""

import re

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad import nn
from minigrad.nn import functional

RNG = np.random.default_rng(7)


def normal(*shape):
    return RNG.normal(size=shape)


def same(ours, theirs, tolerance=1e-9):
    """Compare a tensor of ours with one of PyTorch's."""
    assert (ours is None) == (theirs is None)
    if ours is None:
        return
    theirs = theirs.detach().numpy()
    assert tuple(ours.shape) == theirs.shape
    np.testing.assert_allclose(ours.detach().numpy(), theirs, rtol=tolerance, atol=tolerance)


def run_both(ours, theirs, x, dtype="float64"):
    """Copy the parameters over, and compare output, gradients and buffers after one pass with random gradients."""
    theirs = theirs.double()
    ours.double()
    state = {name: mg.tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    ours.load_state_dict(state)
    a = mg.tensor(x, requires_grad=True)
    b = torch.tensor(x, requires_grad=True)
    y, z = ours(a), theirs(b)
    same(y, z)
    upstream = RNG.normal(size=tuple(z.shape))
    y.backward(mg.tensor(upstream))
    z.backward(torch.tensor(upstream))
    same(a.grad, b.grad)
    for (name, p), (other, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == other
        same(p.grad, q.grad)
    for name, value in theirs.state_dict().items():
        same(ours.state_dict()[name], value)


LAYERS = {
    "linear": (nn.Linear, (5, 3), {}, (4, 5)),
    "linear without bias, three axes": (nn.Linear, (5, 3), {"bias": False}, (2, 4, 5)),
    "linear, one vector": (nn.Linear, (5, 3), {}, (5,)),
    "conv1d": (nn.Conv1d, (2, 3, 3), {}, (2, 2, 7)),
    "conv1d with everything": (nn.Conv1d, (4, 6, 3, 2, 1, 2, 2), {}, (2, 4, 9)),
    "conv2d": (nn.Conv2d, (2, 3, 3), {}, (2, 2, 5, 6)),
    "conv2d without bias": (nn.Conv2d, (2, 3, (1, 2)), {"bias": False}, (2, 2, 5, 6)),
    "conv2d with stride and padding": (nn.Conv2d, (2, 3, 3), {"stride": 2, "padding": 1}, (2, 2, 6, 7)),
    "conv2d with everything": (nn.Conv2d, (4, 6, (3, 2), (2, 3), (1, 2), (2, 1), 2), {}, (2, 4, 8, 9)),
    "conv1d with a circle": (nn.Conv1d, (2, 3, 3), {"padding": 2, "padding_mode": "circular"}, (2, 2, 7)),
    "conv2d with a mirror": (nn.Conv2d, (2, 3, 3), {"padding": (1, 2), "padding_mode": "reflect"}, (2, 2, 5, 6)),
    "conv2d with its edge": (nn.Conv2d, (2, 3, 2), {"padding": "same", "padding_mode": "replicate"}, (2, 2, 5, 6)),
    "conv2d without padding, with a mirror": (nn.Conv2d, (2, 3, 2), {"padding_mode": "reflect"}, (2, 2, 5, 6)),
    "conv2d, one image, with a circle": (nn.Conv2d, (2, 3, 2, 1, 1), {"padding_mode": "circular"}, (2, 5, 6)),
    "pixel shuffle": (nn.PixelShuffle, (2,), {}, (2, 8, 3, 2)),
    "pixel unshuffle": (nn.PixelUnshuffle, (2,), {}, (2, 3, 4, 6)),
    "conv2d, a channel a group": (nn.Conv2d, (3, 6, 2), {"groups": 3}, (2, 3, 4, 4)),
    "conv2d, one image": (nn.Conv2d, (2, 3, 3), {}, (2, 5, 6)),
    "conv2d, large enough for compiled loops": (nn.Conv2d, (4, 8, 3), {"padding": 1}, (4, 4, 30, 20)),
    "avg pool": (nn.AvgPool2d, (2,), {}, (2, 3, 4, 6)),
    "avg pool that leaves a rest": (nn.AvgPool2d, ((2, 3),), {}, (2, 3, 5, 7)),
    "avg pool with stride and padding": (nn.AvgPool2d, (3, 2, 1), {}, (2, 3, 7, 6)),
    "max pool": (nn.MaxPool2d, (2,), {}, (2, 3, 4, 6)),
    "max pool that leaves a rest": (nn.MaxPool2d, ((2, 3),), {}, (2, 3, 5, 7)),
    "max pool with stride and padding": (nn.MaxPool2d, (3, 2, 1), {}, (2, 3, 7, 6)),
    "max pool with overlap": (nn.MaxPool2d, (3, 1), {}, (1, 2, 5, 5)),
    "max pool with dilation": (nn.MaxPool2d, ((2, 3), 1, 1, (3, 2)), {}, (2, 3, 6, 7)),
    "max pool with dilation, in compiled loops": (nn.MaxPool2d, (3, 2, 1, (1, 2)), {}, (3, 8, 20, 21)),
    "avg pool that counts elements": (nn.AvgPool2d, (3, 2, 1), {"count_include_pad": False}, (2, 3, 7, 6)),
    "max pool up to the end": (nn.MaxPool2d, (3, 2), {"ceil_mode": True}, (2, 3, 6, 8)),
    "avg pool up to the end": (nn.AvgPool2d, (3, 2, 1, True), {}, (2, 3, 6, 8)),
    "avg pool with a divisor": (nn.AvgPool2d, ((3, 2), 2), {"divisor_override": 5}, (2, 3, 7, 6)),
    "avg pool that counts, in compiled loops": (nn.AvgPool2d, (3, 2, 1), {"count_include_pad": False}, (3, 8, 20, 21)),
    "avg pool, large enough for compiled loops": (nn.AvgPool2d, ((3, 2), 2, 1), {}, (3, 8, 21, 20)),
    "max pool, large enough for compiled loops": (nn.MaxPool2d, (3, 2, 1), {}, (3, 8, 20, 21)),
    "relu": (nn.ReLU, (), {}, (3, 4)),
    "sigmoid": (nn.Sigmoid, (), {}, (3, 4)),
    "tanh": (nn.Tanh, (), {}, (3, 4)),
    "gelu": (nn.GELU, (), {}, (3, 4)),
    "softmax": (nn.Softmax, (1,), {}, (3, 4)),
    "softmax over the first axis": (nn.Softmax, (0,), {}, (3, 4)),
    "log softmax": (nn.LogSoftmax, (1,), {}, (3, 4, 2)),
    "flatten": (nn.Flatten, (), {}, (3, 4, 2)),
    "batch norm 1d": (nn.BatchNorm1d, (3,), {}, (5, 3)),
    "batch norm 1d of lines": (nn.BatchNorm1d, (3,), {"momentum": None}, (4, 3, 2)),
    "batch norm 2d": (nn.BatchNorm2d, (3,), {"eps": 1e-3, "momentum": 0.3}, (4, 3, 2, 5)),
    "batch norm without weights or memory": (
        nn.BatchNorm2d,
        (3,),
        {"affine": False, "track_running_stats": False},
        (4, 3, 2, 5),
    ),
    "layer norm": (nn.LayerNorm, (4,), {}, (3, 4)),
    "layer norm over two axes": (nn.LayerNorm, ((4, 2),), {"eps": 1e-2}, (3, 4, 2)),
    "rms norm": (nn.RMSNorm, (4,), {}, (3, 4)),
    "rms norm over two axes": (nn.RMSNorm, ((4, 2),), {"eps": 1e-2}, (3, 4, 2)),
    "rms norm without weights": (nn.RMSNorm, (4,), {"elementwise_affine": False}, (3, 4)),
    "group norm": (nn.GroupNorm, (2, 4), {}, (3, 4, 2, 3)),
    "group norm of vectors": (nn.GroupNorm, (2, 6), {"eps": 1e-2}, (3, 6)),
    "group norm without weights": (nn.GroupNorm, (1, 4), {"affine": False}, (3, 4, 5)),
    "group norm, a channel a group": (nn.GroupNorm, (4, 4), {}, (2, 4, 3)),
    "identity": (nn.Identity, (), {}, (3, 4)),
}


@pytest.mark.parametrize("case", LAYERS.values(), ids=LAYERS)
def test_layer(case):
    """Output and gradients are PyTorch's."""
    kind, args, options, shape = case
    run_both(kind(*args, **options), getattr(torch.nn, kind.__name__)(*args, **options), normal(*shape))


@pytest.mark.parametrize("case", LAYERS.values(), ids=LAYERS)
def test_layer_is_printed_as_in_pytorch(case):
    """The text of a layer is PyTorch's, but for arguments that only PyTorch has."""
    kind, args, options, _ = case
    theirs = repr(getattr(torch.nn, kind.__name__)(*args, **options))
    theirs = theirs.replace("approximate='none'", "")
    if "Norm" in theirs:
        theirs = re.sub(r", bias=\w+", "", theirs)
    assert repr(kind(*args, **options)) == theirs


@pytest.mark.parametrize("case", LAYERS.values(), ids=LAYERS)
def test_layer_in_evaluation(case):
    """In evaluation, after a pass in training, the output is PyTorch's."""
    kind, args, options, shape = case
    ours, theirs = kind(*args, **options).double(), getattr(torch.nn, kind.__name__)(*args, **options).double()
    ours.load_state_dict({name: mg.tensor(value.numpy()) for name, value in theirs.state_dict().items()})
    x, y = normal(*shape), normal(*shape)
    ours(mg.tensor(x)), theirs(torch.tensor(x))
    same(ours.eval()(mg.tensor(y)), theirs.eval()(torch.tensor(y)))


@pytest.mark.parametrize("case", LAYERS.values(), ids=LAYERS)
def test_layer_on_the_specification(case):
    """What the exercises' bodies and plain loops compute, backward pass included, is the same."""
    kind, args, options, shape = case
    if "compiled" in next(name for name, other in LAYERS.items() if other is case):
        shape = (1, 4, 4, 4)  # plain loops: a small image says the same
    with mg.backend("python"):
        run_both(kind(*args, **options), getattr(torch.nn, kind.__name__)(*args, **options), normal(*shape))


@pytest.mark.parametrize("padding_idx", [None, 2, -1])
def test_embedding(padding_idx):
    """Rows are looked up, their gradients added up, and the row for padding gets none."""
    ours = nn.Embedding(5, 3, padding_idx)
    theirs = torch.nn.Embedding(5, 3, padding_idx)
    ours.load_state_dict({"weight": mg.tensor(theirs.weight.detach().numpy())})
    numbers = np.array([[0, 2, 2], [4, 0, 1]])
    y, z = ours(mg.tensor(numbers)), theirs(torch.tensor(numbers))
    same(y, z, 1e-6)
    upstream = RNG.normal(size=(2, 3, 3)).astype(np.float32)
    y.backward(mg.tensor(upstream))
    z.backward(torch.tensor(upstream))
    same(ours.weight.grad, theirs.weight.grad, 1e-6)


# --- losses -----------------------------------------------------------------------------------------------------


def loss_of_both(name, arguments, targets, options, tolerance=1e-10):
    """Compare a loss, its gradient, computed on arrays and recorded, and the gradient of the sum of its squares."""
    results = []
    for lib, function in ((mg, functional), (torch, torch.nn.functional)):
        x = lib.tensor(arguments, requires_grad=True)
        t = lib.tensor(targets)
        own = {key: lib.tensor(value) if isinstance(value, np.ndarray) else value for key, value in options.items()}
        loss = getattr(function, name)(x, t, **own)
        weights = lib.tensor(np.cos(np.arange(loss.numel() if lib is torch else max(1, int(np.prod(loss.shape))))))
        total = (loss.reshape(-1) * weights).sum()
        (alone,) = lib.autograd.grad(total, [x], retain_graph=True)
        (first,) = lib.autograd.grad(total, [x], create_graph=True)
        (second,) = lib.autograd.grad((first * first).sum(), [x])
        results.append((loss, alone, first, second))
    for ours, theirs in zip(*results, strict=True):
        same(ours, theirs, tolerance)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", ["mse_loss", "binary_cross_entropy_with_logits", "smooth_l1_loss"])
def test_loss_of_numbers(name, reduction):
    """Loss, gradient and second derivative are PyTorch's."""
    loss_of_both(name, normal(3, 4) * 3.0, RNG.uniform(size=(3, 4)), {"reduction": reduction})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("l1_loss", {}),
        ("smooth_l1_loss", {"beta": 0.0}),
        ("smooth_l1_loss", {"beta": 0.3}),
        ("binary_cross_entropy", {}),
        ("binary_cross_entropy", {"weight": np.array([0.5, 2.0, 1.5, 0.0])}),
    ],
)
def test_loss_with_options(name, options, reduction, dtype):
    """Value, type and gradients, also the target's, are PyTorch's, and of no elements as well."""
    for shape in ((3, 4), (0, 4)):
        x, t = (RNG.uniform(0.05, 0.95, size=shape).astype(dtype) for _ in range(2))
        own = {key: value.astype(dtype) if isinstance(value, np.ndarray) else value for key, value in options.items()}
        pairs = []
        for lib, function in ((mg, functional), (torch, torch.nn.functional)):
            a, b = lib.tensor(x, requires_grad=True), lib.tensor(t, requires_grad=True)
            loss = getattr(function, name)(a, b, reduction=reduction, **_of(lib, own))
            (loss.reshape(-1) * lib.arange(max(loss.reshape(-1).shape[0], 0)).to(loss.dtype)).sum().backward()
            pairs.append([loss, a.grad, b.grad])
        for ours, theirs in zip(*pairs, strict=True):
            assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
            same(ours, theirs, 1e-10 if dtype is np.float64 else 1e-5)


def test_binary_cross_entropy_at_its_ends():
    """The loss of a probability of 0 or 1 is PyTorch's, and what is no probability is refused; nan passes."""
    x, t = np.array([0.0, 1.0, 0.0, 1.0, 1e-60, np.nan]), np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    ours = functional.binary_cross_entropy(mg.tensor(x[:5]), mg.tensor(t[:5]), reduction="none")
    theirs = torch.nn.functional.binary_cross_entropy(torch.tensor(x[:5]), torch.tensor(t[:5]), reduction="none")
    same(ours, theirs)
    assert functional.binary_cross_entropy(mg.tensor(x), mg.tensor(t)).isnan()
    for wrong in (-0.1, 1.1):
        with pytest.raises(ValueError, match=r"an input is outside of \[0, 1\]"):
            functional.binary_cross_entropy(mg.tensor([wrong]), mg.tensor([1.0]))
    with pytest.raises(ValueError, match="smooth_l1_loss: beta is -1"):
        functional.smooth_l1_loss(mg.tensor([1.0]), mg.tensor([1.0]), beta=-1)


def test_a_saturated_sigmoid_gets_no_nan():
    """The gradient of a logit whose sigmoid is 0 or 1 is PyTorch's: 0."""
    grads = []
    for lib, function in ((mg, functional), (torch, torch.nn.functional)):
        x = lib.tensor([-800.0, 800.0, 0.0], requires_grad=True)
        function.binary_cross_entropy(x.sigmoid(), lib.tensor([1.0, 0.0, 1.0])).backward()
        grads.append(x.grad)
    same(*grads, 1e-6)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.1, 1.0])
@pytest.mark.parametrize("options", [{}, {"weight": np.array([0.5, 2.0, 1.5])}, {"ignore_index": 1}])
@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 4), (3,)])
def test_smoothed_labels(shape, options, smoothing, reduction):
    """Cross entropy with label_smoothing, its gradient and second derivative are PyTorch's."""
    targets = np.array(2) if len(shape) == 1 else RNG.integers(0, 3, (shape[0], *shape[2:]))
    loss_of_both(
        "cross_entropy", normal(*shape), targets, {**options, "label_smoothing": smoothing, "reduction": reduction}
    )


def test_smoothing_is_a_part():
    """A part below 0 or above 1 is refused; the module hands it on."""
    with pytest.raises(ValueError, match=r"label_smoothing is 1\.5; it must lie between 0 and 1"):
        functional.cross_entropy(mg.ones(2, 3), mg.tensor([0, 1]), label_smoothing=1.5)
    x, t = normal(4, 3), RNG.integers(0, 3, 4)
    ours = nn.CrossEntropyLoss(label_smoothing=0.2)(mg.tensor(x), mg.tensor(t))
    same(ours, torch.nn.CrossEntropyLoss(label_smoothing=0.2)(torch.tensor(x), torch.tensor(t)))


def test_losses_as_modules():
    """The modules of losses compute what the functions compute."""
    x, t, weight = RNG.uniform(size=(3, 4)), RNG.uniform(size=(3, 4)), RNG.uniform(size=4)
    for kind, options in (("L1Loss", {}), ("SmoothL1Loss", {"beta": 0.2}), ("BCELoss", {"weight": weight})):
        ours, theirs = (getattr(lib.nn, kind)(**_of(lib, options)) for lib in (mg, torch))
        same(ours(mg.tensor(x), mg.tensor(t)), theirs(torch.tensor(x), torch.tensor(t)))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("options", [{}, {"weight": np.array([0.5, 2.0, 1.5])}, {"ignore_index": 1}])
@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 4), (3,)])
@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_loss_of_classes(name, shape, options, reduction):
    """Loss, gradient and second derivative are PyTorch's, also with axes behind the classes and without batch."""
    targets = np.array(2) if len(shape) == 1 else RNG.integers(0, 3, (shape[0], *shape[2:]))
    if name == "nll_loss":
        first = np.log(RNG.uniform(0.1, 1.0, shape))
        ours = functional.nll_loss(mg.tensor(first), mg.tensor(targets), reduction=reduction, **_of(mg, options))
        theirs = torch.nn.functional.nll_loss(
            torch.tensor(first), torch.tensor(targets), reduction=reduction, **_of(torch, options)
        )
        same(ours, theirs)
        return
    loss_of_both(name, normal(*shape), targets, {**options, "reduction": reduction})


def _of(lib, options):
    return {key: lib.tensor(value) if isinstance(value, np.ndarray) else value for key, value in options.items()}


@pytest.mark.parametrize("logit", [-800.0, -40.0, 0.0, 40.0, 800.0, np.inf, -np.inf, np.nan])
def test_losses_of_extreme_logits(logit):
    """Infinite, tiny and nan losses and gradients are PyTorch's."""
    for target in (0.0, 1.0, 0.25):
        pairs = []
        for lib, function in ((mg, functional), (torch, torch.nn.functional)):
            x = lib.tensor(np.array([logit]), requires_grad=True)
            loss = function.binary_cross_entropy_with_logits(x, lib.tensor(np.array([target])))
            loss.backward()
            pairs.append([loss, x.grad])
        for ours, theirs in zip(*pairs, strict=True):
            same(ours, theirs, 1e-13)
    pairs = []
    for lib, function in ((mg, functional), (torch, torch.nn.functional)):
        x = lib.tensor(np.array([[logit, 1.0, -2.0]]), requires_grad=True)
        loss = function.cross_entropy(x, lib.tensor(np.array([1])))
        loss.backward()
        pairs.append([loss, x.grad])
    for ours, theirs in zip(*pairs, strict=True):
        same(ours, theirs, 1e-13)


def test_loss_of_a_target_that_wants_a_gradient():
    """The gradient reaches the target of a squared error and of a cross entropy with logits, too."""
    for name in ("mse_loss", "binary_cross_entropy_with_logits"):
        pairs = []
        x, t = normal(3, 2), RNG.uniform(size=(3, 2))
        for lib, function in ((mg, functional), (torch, torch.nn.functional)):
            a, b = lib.tensor(x, requires_grad=True), lib.tensor(t, requires_grad=True)
            getattr(function, name)(a, b).backward()
            pairs.append([a.grad, b.grad])
        for ours, theirs in zip(*pairs, strict=True):
            same(ours, theirs)


def test_max_pool_of_equal_elements_and_nan():
    """Of equal elements the first gets the gradient; a window with nan gives nan, as in PyTorch; large and small."""
    few = np.array([[[[1.0, 1.0, np.nan, 2.0], [1.0, 0.0, 3.0, 2.0]]]])
    for x in (few, np.tile(few, (2, 5, 30, 20)), RNG.integers(0, 3, (2, 5, 60, 40)).astype(float)):
        check_max_pool(x, RNG.normal(size=(*x.shape[:2], x.shape[2] // 2, x.shape[3] // 2)))


def check_max_pool(x, upstream):
    pairs = []
    for lib, function in ((mg, functional), (torch, torch.nn.functional)):
        a = lib.tensor(x, requires_grad=True)
        y = function.max_pool2d(a, 2)
        y.backward(lib.tensor(upstream))
        pairs.append([y, a.grad])
    for ours, theirs in zip(*pairs, strict=True):
        same(ours, theirs)

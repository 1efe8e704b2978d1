"""Recurrent layers and cells give PyTorch's values and derivatives, with PyTorch's weights."""

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad import func, graph, nn

LAYERS = ("RNN", "GRU", "LSTM")
SETTINGS = {
    "plain": {},
    "no bias": {"bias": False},
    "two layers": {"num_layers": 2},
    "both directions": {"bidirectional": True},
    "all": {"num_layers": 2, "batch_first": True, "bidirectional": True},
}
SIZES = {"usual": (4, 3), "one example": (4, 1), "one step": (1, 2), "unbatched": (4,), "no example": (2, 0)}
TOLERANCE = {"float64": 1e-9, "float32": 2e-5}


def pair(kind, dtype="float64", **settings):
    """Return a layer of PyTorch's and one of minigrad's with the same weights."""
    theirs = getattr(torch.nn, kind)(5, 4, dtype=getattr(torch, dtype), **settings)
    ours = getattr(nn, kind)(5, 4, dtype=dtype, **settings)
    state = {name: mg.from_numpy(value.numpy().copy()) for name, value in theirs.state_dict().items()}
    assert list(ours.state_dict()) == list(state)
    ours.load_state_dict(state)
    return theirs, ours


@pytest.fixture(autouse=True)
def same_weights():
    """Draw the same first weights in every run, as PyTorch does in tests."""
    mg.manual_seed(0)


def numbers(dtype, *shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def flat(results):
    """Return outputs and states in one list."""
    return [results] if not isinstance(results, tuple | list) else [x for part in results for x in flat(part)]


def derivatives(m, layer, arrays, call):
    """Return the results of a layer, the gradients of a number made of them, and those of the gradients' squares."""
    inputs = [m.tensor(array, requires_grad=True) for array in arrays]
    results = flat(call(layer, *inputs))
    leaves = [*inputs, *layer.parameters()]
    total = sum(
        (y * m.tensor(np.cos(np.arange(y.numel())).reshape(tuple(y.shape)).astype(str(arrays[0].dtype)))).sum()
        for y in results
    )
    first = m.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    squares = sum((slope * slope).sum() for slope in first if slope is not None)
    second = m.autograd.grad(squares, leaves, allow_unused=True)
    return [None if x is None else x.detach().numpy() for x in (*results, *first, *second)]


def assert_alike(theirs, ours, dtype):
    assert len(theirs) == len(ours)
    for a, b in zip(theirs, ours, strict=True):
        if a is None or b is None:
            assert all(x is None or not x.any() for x in (a, b))
            continue
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(b, a, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def call_with(states):
    """Return how a layer is called with as many tensors for its state."""
    if states == 0:
        return lambda layer, x: layer(x)
    return lambda layer, x, *state: layer(x, state[0] if states == 1 else state)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize(("dtype", "size"), [*(("float64", size) for size in SIZES), ("float32", "usual")])
@pytest.mark.full("layers are compared with PyTorch in many forms", share=4)
def test_layers_are_pytorchs(kind, size, settings, dtype):
    """Outputs, last states, and their first and second derivatives in input, first state and weights."""
    options = SETTINGS[settings]
    theirs, ours = pair(kind, dtype, **options)
    length, *batch = SIZES[size]
    shape = (*batch, length, 5) if options.get("batch_first") else (length, *batch, 5)
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    states = 2 if kind == "LSTM" else 1
    x = numbers(dtype, *shape)
    given = [numbers(dtype, rows, *batch, 4, seed=n) for n in range(1, states + 1)]
    for arrays, call in (([x], call_with(0)), ([x, *given], call_with(states))):
        assert_alike(derivatives(torch, theirs, arrays, call), derivatives(mg, ours, arrays, call), dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("batch", [(3,), (1,), ()])
@pytest.mark.parametrize("kind", ["RNNCell", "GRUCell", "LSTMCell"])
def test_cells_are_pytorchs(kind, batch, dtype):
    """The next state and its derivatives, with a state and from none."""
    theirs, ours = pair(kind, dtype)
    states = 2 if kind == "LSTMCell" else 1
    x, given = numbers(dtype, *batch, 5), [numbers(dtype, *batch, 4, seed=n) for n in range(1, states + 1)]
    for arrays, call in (([x], call_with(0)), ([x, *given], call_with(states))):
        assert_alike(derivatives(torch, theirs, arrays, call), derivatives(mg, ours, arrays, call), dtype)


@pytest.mark.parametrize("kind", ["RNN", "RNNCell"])
def test_a_relu_in_place_of_the_tanh(kind):
    """`nonlinearity` is PyTorch's."""
    theirs, ours = pair(kind, nonlinearity="relu")
    x = numbers("float64", 4, 5)
    assert_alike(derivatives(torch, theirs, [x], call_with(0)), derivatives(mg, ours, [x], call_with(0)), "float64")


@pytest.mark.full("programs are compiled", share=48)
@pytest.mark.parametrize("kind", LAYERS)
def test_jit_vmap_and_functional_call(kind):
    """A compiled layer, and one that is mapped over examples, gives what it gives in Python; so do its gradients."""
    layer = getattr(nn, kind)(5, 4, num_layers=2, bidirectional=True, dtype="float64")
    x = mg.tensor(numbers("float64", 3, 6, 5))  # three examples of six steps
    params = {name: p.detach() for name, p in layer.named_parameters()}

    def loss(params, x):
        return nn.functional_call(layer, params, x)[0].square().sum()

    each = [func.grad(loss)(params, example) for example in x]
    mapped = func.vmap(func.grad(loss), in_dims=(None, 0))(params, x)
    compiled = graph.jit(func.grad(loss))(params, x[0])
    for name in params:
        np.testing.assert_allclose(mapped[name].numpy(), np.stack([g[name].numpy() for g in each]), rtol=1e-9)
        np.testing.assert_allclose(compiled[name].numpy(), each[0][name].numpy(), rtol=1e-9)
    outputs = func.vmap(lambda example: layer(example)[0])(x).detach().numpy()
    np.testing.assert_allclose(outputs, layer(x.transpose(0, 1))[0].transpose(0, 1).detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize("kind", LAYERS)
def test_weights_start_as_in_pytorch(kind):
    """They are drawn in the order of their names, evenly between minus and plus 1 / sqrt(hidden_size)."""
    layer = getattr(nn, kind)(50, 16, bias=False)
    for _, weight in layer.named_parameters():
        assert weight.abs().max().item() == pytest.approx(0.25, rel=0.02)
        assert weight.mean().item() == pytest.approx(0.0, abs=0.02)


def test_dropout_acts_between_layers_while_training():
    """Each output of the lower layer is dropped, or doubled; none of the last layer, and none in evaluation."""
    lower, both = nn.RNN(5, 400, bias=False), nn.RNN(5, 400, num_layers=2, dropout=0.5, bias=False)
    state = both.state_dict()
    lower.load_state_dict({name: state[name] for name in lower.state_dict()})
    both.weight_ih_l1.data = mg.eye(400) * 1e-3  # so small that tanh is the identity
    both.weight_hh_l1.data = mg.zeros(400, 400)
    x = mg.tensor(numbers("float32", 3, 2, 5))
    below, above = lower(x)[0].detach(), both(x)[0].detach() * 1e3
    ratio = (above / below).round()
    assert ratio.unique().tolist() == [0.0, 2.0]
    assert ratio.mean().item() == pytest.approx(1.0, abs=0.1)
    assert both.eval()(x)[0].detach().allclose(below * 1e-3, rtol=1e-3)
    with pytest.warns(UserWarning, match="dropout acts between layers"):
        nn.RNN(5, 4, dropout=0.5)


def test_a_recurrent_network_learns():
    """An LSTM learns to say whether the first of six signs was positive."""
    mg.manual_seed(1)
    x = mg.randn(64, 6, 1).sign()
    layer, head = nn.LSTM(1, 8, batch_first=True), nn.Linear(8, 1)
    optimizer = mg.optim.Adam([*layer.parameters(), *head.parameters()], lr=0.05)
    for _ in range(60):
        loss = nn.functional.binary_cross_entropy_with_logits(head(layer(x)[0][:, -1]), (x[:, 0] > 0).float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.LSTM(5, 4)(mg.ones(0, 2, 5)), ValueError, "a sequence has at least one step"),
        (lambda: nn.LSTM(5, 4)(mg.ones(3, 2, 4)), ValueError, "the last of size 5"),
        (lambda: nn.GRUCell(5, 4)(mg.ones(1, 2, 5)), ValueError, "it needs 2 axes"),
        (lambda: nn.GRU(5, 4)(mg.ones(3, 2, 5), mg.ones(1, 3, 4)), ValueError, "the input wants (1, 2, 4)"),
        (lambda: nn.LSTM(5, 4)(mg.ones(3, 5), mg.ones(1, 4)), TypeError, "a tuple of two tensors (h, c)"),
        (lambda: nn.RNN(5, 4, nonlinearity="gelu"), ValueError, "'tanh' or 'relu'"),
        (lambda: nn.RNN(5, 0), ValueError, "hidden_size is 0"),
        (lambda: nn.RNN(5, 4, num_layers=0), ValueError, "num_layers is 0"),
        (lambda: nn.GRU(5, 4, dropout=2.0), ValueError, "a probability lies between 0 and 1"),
    ],
)
def test_mistakes_are_told_in_a_sentence(call, error, words):
    """The message names the layer and the rule."""
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_long_sequences_cost_in_proportion():
    """The slices of a sequence add up to log n times its size on the way back, not n times."""
    from minigrad.nn.recurrent import _steps

    def sizes(n):
        x = mg.ones(n, requires_grad=True)
        steps = _steps(x * 1.0)
        assert [step.item() for step in _steps(mg.arange(n))] == list(range(n))
        seen, stack = {}, list(steps)
        while stack:
            node = stack.pop()
            for parent in node.parents:
                if id(node) not in seen:
                    stack.append(parent)
            seen[id(node)] = sum(parent.numel() for parent in node.parents)
        return sum(seen.values())

    assert sizes(64) < 64 * 15  # two halves at each of six levels, and the product; one by one it is 64 * 64

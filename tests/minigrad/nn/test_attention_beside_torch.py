"""Attention and the layers made of it, beside PyTorch: values, derivatives, masks, and what is refused."""

import math

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad import nn
from minigrad.nn import functional

RNG = np.random.default_rng(11)


def normal(*shape):
    return RNG.normal(size=shape)


def same(ours, theirs, tolerance=1e-9):
    """Compare a tensor of ours with one of PyTorch's."""
    assert (ours is None) == (theirs is None)
    if ours is not None:
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


SEEN = np.array([[True, False, False, True, False], [False] * 5, [True] * 5])
ATTENTIONS = {
    "plain": ([(2, 3, 4), (2, 5, 4), (2, 5, 6)], {}),
    "without batch": ([(3, 4), (5, 4), (5, 2)], {}),
    "heads": ([(2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)], {"scale": 0.7}),
    "causal": ([(2, 5, 4), (2, 5, 4), (2, 5, 6)], {"is_causal": True}),
    "causal, more keys": ([(3, 4), (5, 4), (5, 2)], {"is_causal": True}),
    "causal, more queries": ([(5, 4), (3, 4), (3, 2)], {"is_causal": True}),
    "booleans": ([(2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)], {"attn_mask": SEEN}),
    "numbers": ([(2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)], {"attn_mask": np.where(SEEN, 0.5, -np.inf)}),
    "a mask for each head": ([(2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)], {"attn_mask": normal(2, 2, 3, 5)}),
    "grouped queries": ([(2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)], {"enable_gqa": True}),
}


def attended(lib, arrays, options, dtype, strided):
    """The result, its gradients and the derivatives of these."""
    leaves, views = [], []
    for x in arrays:
        stored = np.swapaxes(x, -1, -2).copy() if strided else x
        leaves.append(lib.tensor(stored.astype(dtype), requires_grad=True))
        views.append(leaves[-1].transpose(-1, -2) if strided else leaves[-1])
    own = {
        key: lib.tensor(x if x.dtype == bool else x.astype(dtype)) if isinstance(x, np.ndarray) else x
        for key, x in options.items()
    }
    out = lib.nn.functional.scaled_dot_product_attention(*views, **own)
    weights = lib.tensor(np.cos(np.arange(math.prod(out.shape))).reshape(tuple(out.shape)).astype(dtype))
    first = lib.autograd.grad([(out * weights).sum()], leaves, create_graph=True)
    second = lib.autograd.grad([sum((g * g).sum() for g in first)], leaves)
    return [out, *first, *second]


@pytest.mark.parametrize("strided", [False, True], ids=["contiguous", "transposed"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention(name, dtype, strided):
    """Values, gradients and second derivatives; a query that sees no key gets zeros."""
    shapes, options = ATTENTIONS[name]
    arrays = [normal(*shape) for shape in shapes]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):  # which has second derivatives
        pairs = [attended(lib, arrays, options, dtype, strided) for lib in (mg, torch)]
    for ours, theirs in zip(*pairs, strict=True):
        assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
        same(ours, theirs, 1e-9 if dtype is np.float64 else 3e-4)


@pytest.mark.full("programs are compiled", share=16)
@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_of_a_batch_and_compiled(name):
    """vmap, jit, and gradients in both give what plain calls give; so does forward mode."""
    shapes, options = ATTENTIONS[name]
    own = {key: mg.tensor(x) if isinstance(x, np.ndarray) else x for key, x in options.items()}

    def attend(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, **own)

    def slope(q, k, v):
        return mg.transforms.grad(lambda *each: (attend(*each) ** 2).sum(), argnums=(0, 1, 2))(q, k, v)

    one = [mg.tensor(normal(*shape)) for shape in shapes]
    many = [mg.tensor(normal(3, *shape)) for shape in shapes]
    np.testing.assert_allclose(mg.jit(attend)(*one).numpy(), attend(*one).numpy(), atol=1e-12)
    for compiled, plain in zip(mg.jit(slope)(*one), slope(*one), strict=True):
        np.testing.assert_allclose(compiled.numpy(), plain.numpy(), atol=1e-12)
    rows = [slope(*[x[i] for x in many]) for i in range(3)]
    for place, batch in enumerate(mg.transforms.vmap(slope)(*many)):
        np.testing.assert_allclose(batch.numpy(), np.stack([row[place].numpy() for row in rows]), atol=1e-12)
    tangents = [mg.tensor(normal(*shape)) for shape in shapes]
    _, change = mg.transforms.jvp(lambda *each: (attend(*each) ** 2).sum(), tuple(one), tuple(tangents))
    along = sum(float((g * t).sum()) for g, t in zip(slope(*one), tangents, strict=True))
    assert change.item() == pytest.approx(along, rel=1e-9, abs=1e-12)


def test_nan_reaches_the_queries_that_see_it():
    """A key with nan makes the results of those queries nan, from which it is not hidden."""
    q, k = mg.tensor(normal(3, 4)), mg.tensor(normal(3, 4))
    k[2] = math.nan
    found = functional.scaled_dot_product_attention(q, k, q, is_causal=True)
    assert found.isnan().all(1).tolist() == [False, False, True]
    assert not found[:2].isnan().any()


@pytest.mark.parametrize("shapes", [[(2, 0, 4), (2, 5, 4), (2, 5, 6)], [(2, 3, 4), (2, 0, 4), (2, 0, 6)]])
def test_attention_of_nothing(shapes):
    """No queries give no results, and no keys give zeros, as in PyTorch."""
    pairs = []
    for lib in (mg, torch):
        leaves = [lib.tensor(np.ones(shape), requires_grad=True) for shape in shapes]
        out = lib.nn.functional.scaled_dot_product_attention(*leaves)
        out.sum().backward()
        pairs.append([out, *[x.grad for x in leaves]])
    for ours, theirs in zip(*pairs, strict=True):
        same(ours, theirs)


def test_dropped_weights_are_scaled():
    """Dropout leaves holes among the weights, and the mean as it was."""
    mg.manual_seed(0)
    q, v = mg.zeros(400, 4), mg.eye(50)
    found = functional.scaled_dot_product_attention(q, mg.zeros(50, 4), v, dropout_p=0.25)
    values = np.unique(found.numpy().round(5))
    np.testing.assert_allclose(values, [0.0, 1 / 50 / 0.75], atol=1e-5)
    assert found.mean().item() == pytest.approx(1 / 50, rel=0.02)


# --- layers -----------------------------------------------------------------------------------------------------


def copied(ours, theirs):
    """Give a layer of ours the parameters of PyTorch's, in float64."""
    theirs.double()
    ours.double().load_state_dict({name: mg.tensor(x.numpy()) for name, x in theirs.state_dict().items()})
    return ours, theirs


HIDDEN = np.array([[False, False, True, True, False], [False, True, False, False, False]])
CAUSAL = np.triu(np.ones((5, 5), bool), 1)
LAYERS = {
    "plain": ({}, {}),
    "batch first": ({"batch_first": True}, {}),
    "no bias": ({"bias": False, "batch_first": True}, {}),
    "causal": ({"batch_first": True}, {"attn_mask": CAUSAL}),
    "hidden keys": ({"batch_first": True}, {"key_padding_mask": HIDDEN}),
    "both": (
        {"batch_first": True},
        {"attn_mask": CAUSAL, "key_padding_mask": HIDDEN & [False, True, True, True, True]},
    ),
    "numbers for each head": ({"batch_first": True}, {"attn_mask": normal(4, 5, 5)}),
    "a hint": ({"batch_first": True}, {"attn_mask": CAUSAL, "is_causal": True, "need_weights": False}),
    "no weights": ({"batch_first": True}, {"need_weights": False}),
    "weights of each head": ({}, {"average_attn_weights": False}),
}


def as_arguments(lib, options):
    return {key: lib.tensor(x) if isinstance(x, np.ndarray) else x for key, x in options.items()}


def run_both(ours, theirs, inputs, options):
    """Compare outputs, and the gradients of inputs and parameters."""
    results = []
    for lib, layer in ((mg, ours), (torch, theirs)):
        leaves = [lib.tensor(x, requires_grad=True) for x in inputs]
        out = layer(*leaves, **as_arguments(lib, options))
        out = out if isinstance(out, tuple) else (out, None)
        (out[0] * lib.tensor(np.cos(np.arange(math.prod(out[0].shape))).reshape(tuple(out[0].shape)))).sum().backward()
        results.append([*out, *[x.grad for x in leaves], *[p.grad for p in layer.parameters()]])
    for mine, other in zip(*results, strict=True):
        same(mine, other)


@pytest.mark.parametrize("name", LAYERS)
def test_multihead_attention(name):
    """Outputs, weights and all gradients are PyTorch's, with its parameters under its names."""
    settings, options = LAYERS[name]
    ours, theirs = copied(nn.MultiheadAttention(6, 2, **settings), torch.nn.MultiheadAttention(6, 2, **settings))
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    shape = (2, 5, 6) if settings.get("batch_first") else (5, 2, 6)
    run_both(ours, theirs, [normal(*shape) for _ in range(3)], options)


def test_multihead_attention_of_other_lengths_and_without_batch():
    """Keys may be more than queries; and one sequence needs no batch."""
    ours, theirs = copied(nn.MultiheadAttention(6, 3), torch.nn.MultiheadAttention(6, 3))
    run_both(ours, theirs, [normal(4, 2, 6), normal(7, 2, 6), normal(7, 2, 6)], {})
    run_both(ours, theirs, [normal(4, 6), normal(7, 6), normal(7, 6)], {"key_padding_mask": np.arange(7) > 4})


def test_multihead_attention_starts_as_in_pytorch():
    """Biases start at 0, and weights as wide as PyTorch's."""
    mg.manual_seed(0)
    ours, theirs = nn.MultiheadAttention(40, 4), torch.nn.MultiheadAttention(40, 4)
    for (name, p), (other, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == other
        assert p.std().item() == pytest.approx(q.std().item(), rel=0.1, abs=1e-12)


@pytest.mark.parametrize("options", [{}, {"src_mask": CAUSAL}, {"src_key_padding_mask": HIDDEN}])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"batch_first": True},
        {"batch_first": True, "norm_first": True, "activation": "gelu"},
        {"norm_first": True, "bias": False, "layer_norm_eps": 1e-3, "batch_first": True},
    ],
)
def test_transformer_encoder_layer(settings, options):
    """Outputs and all gradients are PyTorch's, with its parameters under its names."""
    mine, other = (lib.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, **settings) for lib in (mg, torch))
    ours, theirs = copied(mine, other)
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    run_both(ours, theirs, [normal(*((2, 5, 6) if settings.get("batch_first") else (5, 2, 6)))], options)


@pytest.mark.full("programs are compiled", share=16)
def test_gradients_of_a_block_compiled_and_for_each_example():
    """As a function of its parameters a block is compiled, and vmap gives each example's gradients."""
    mg.manual_seed(0)
    block = nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, batch_first=True, norm_first=True).double()
    parameters = {name: p.detach() for name, p in block.named_parameters()}
    x, mask = mg.tensor(normal(3, 5, 6)), mg.tensor(CAUSAL)

    def loss(parameters, x):
        return (nn.functional_call(block, parameters, x, src_mask=mask) ** 2).sum()

    slope = mg.transforms.grad(loss)
    whole, compiled = slope(parameters, x), mg.jit(slope)(parameters, x)
    for name, wanted in whole.items():
        np.testing.assert_allclose(compiled[name].numpy(), wanted.numpy(), rtol=1e-9, atol=1e-9)
    each = mg.transforms.vmap(slope, in_axes=(None, 0))(parameters, x)
    for name, wanted in whole.items():
        np.testing.assert_allclose(each[name].sum(0).numpy(), wanted.numpy(), rtol=1e-9, atol=1e-9)
        one = slope(parameters, x[1])[name]
        np.testing.assert_allclose(each[name][1].numpy(), one.numpy(), rtol=1e-9, atol=1e-9)


def test_a_transformer_learns_to_repeat():
    """A causal block with embeddings learns to say the token before the last one, compiled or not."""
    mg.manual_seed(3)
    table, places = nn.Embedding(5, 16), nn.Embedding(6, 16)
    block = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
    head = nn.Linear(16, 5)
    parameters = [p for layer in (table, places, block, head) for p in layer.parameters()]
    optimizer = mg.optim.AdamW(parameters, lr=1e-2)
    mask = mg.ones(6, 6).triu(1).bool()
    for _ in range(150):
        tokens = mg.randint(0, 5, (16, 6))
        x = table(tokens) + places(mg.arange(6))
        logits = head(block(x, src_mask=mask, is_causal=True))
        loss = functional.cross_entropy(logits[:, 1:].reshape(-1, 5), tokens[:, :-1].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.2


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: nn.MultiheadAttention(6, 4), "embed_dim 6 does not split into 4 heads"),
        (lambda: nn.MultiheadAttention(6, 2, dropout=1.5), "a probability lies between 0 and 1"),
        (lambda: nn.MultiheadAttention(6, 2)(*[mg.ones(6)] * 3), "all need 3 axes, or 2 without batch"),
        (lambda: nn.MultiheadAttention(6, 2)(*[mg.ones(3, 6)] * 3, is_causal=True), "give attn_mask, too"),
        (
            lambda: nn.MultiheadAttention(6, 2)(*[mg.ones(3, 6)] * 3, key_padding_mask=mg.ones(2).bool()),
            "a key_padding_mask of shape .* keys",
        ),
        (lambda: nn.TransformerEncoderLayer(6, 2, activation="tanh"), "it must be 'relu' or 'gelu'"),
        (
            lambda: functional.scaled_dot_product_attention(mg.ones(3, 4), mg.ones(3, 5), mg.ones(3, 4)),
            "query and key need one last size",
        ),
        (
            lambda: functional.scaled_dot_product_attention(mg.ones(3, 4), mg.ones(2, 4), mg.ones(3, 4)),
            "key and value one length",
        ),
        (
            lambda: functional.scaled_dot_product_attention(
                mg.ones(3, 3, 4), mg.ones(2, 3, 4), mg.ones(2, 3, 4), enable_gqa=True
            ),
            "must be a multiple of these",
        ),
        (lambda: nn.GroupNorm(3, 4), "4 channels do not split into 3 groups"),
        (lambda: functional.group_norm(mg.ones(2, 4), 3), "for 3 groups; it must have the shape"),
        (lambda: functional.rms_norm(mg.ones(2, 4), (3,)), r"does not end in \(3,\)"),
    ],
)
def test_wrong_arguments_get_one_sentence(compute, message):
    """The error names the operation, the values and the rule."""
    with pytest.raises(ValueError, match=message) as caught:
        compute()
    assert "\n" not in str(caught.value)

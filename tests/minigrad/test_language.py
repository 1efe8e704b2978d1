"""The language model: each of its parts against PyTorch or by hand, and the whole of it learning a line of verse."""

import itertools

import numpy as np
import pytest
from pytorch import torch

import minigrad
from minigrad import data, exercises, language, nn, transforms
from minigrad.gradient_check import gradcheck
from minigrad.machine import overrides

HEADS = 2


def random(*shape, seed=0):
    """A tensor of float64 with numbers in no order."""
    return minigrad.tensor(np.random.default_rng(seed).normal(size=shape))


def small(seed=0, blocks=2):
    """Parameters of a small model: 7 characters, 6 places, vectors of 8 numbers."""
    return language.initial(np.random.default_rng(seed), 7, 6, 8, blocks)


def torch_of(tree):
    """The same tree with PyTorch's tensors."""
    return transforms.tree_map(lambda x: torch.tensor(x.numpy().copy(), requires_grad=True), tree)


def by_torch(p, tokens):
    """Compute the model with PyTorch's own functions."""
    functional = torch.nn.functional
    norm = lambda x, p: functional.layer_norm(x, x.shape[-1:], **p)  # noqa: E731
    x = functional.embedding(tokens, p["characters"]) + p["places"][: tokens.shape[1]]
    batch, n, width = x.shape
    for each in p["blocks"]:
        joined = functional.linear(norm(x, each["norm1"]), **each["qkv"])
        q, k, v = joined.view(batch, n, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + functional.linear(seen.transpose(1, 2).reshape(batch, n, width), **each["mix"])
        up = functional.gelu(functional.linear(norm(x, each["norm2"]), **each["up"]))
        x = x + functional.linear(up, **each["down"])
    return functional.linear(norm(x, p["norm"]), **p["head"])


# --- the parts ------------------------------------------------------------------------------------------------------


def test_repeated_tokens_add_up():
    """The gradient of a row is the sum over all places where it was looked up; an unused row gets 0."""
    table = random(4, 2).requires_grad_()
    tokens, upstream = minigrad.tensor([[1, 3], [1, 1]]), random(2, 2, 2, seed=1)
    language.Embed.apply(table, tokens=tokens).backward(upstream)
    u = upstream.numpy()
    np.testing.assert_allclose(table.grad.numpy(), [[0, 0], u[0, 0] + u[1, 0] + u[1, 1], [0, 0], u[0, 1]])


def test_gradients_of_the_parts():
    """Central differences agree with the gradients of the look-up, the norm and attention, the second ones too."""
    tokens = minigrad.tensor([[0, 2, 2], [1, 0, 2]])
    for fun, inputs in (
        (lambda table: language.Embed.apply(table, tokens=tokens) * 2.0, (random(3, 2),)),
        (language.layer_norm, (random(2, 5), random(5, seed=1), random(5, seed=2))),
        (language.causal_attention, (random(2, 3, 2), random(2, 4, 2, seed=1), random(2, 4, 3, seed=2))),
    ):
        assert gradcheck(fun, [x.requires_grad_() for x in inputs])


def test_look_up_in_the_transformations():
    """The look-up has a forward derivative, and can be compiled."""
    table, tokens, change = random(4, 2), minigrad.tensor([1, 1, 3]), random(4, 2, seed=1)
    look_up = lambda table: language.Embed.apply(table, tokens=tokens)  # noqa: E731
    _, tangent = transforms.jvp(look_up, (table,), (change,))
    assert tangent.tolist() == change.numpy()[[1, 1, 3]].tolist()
    slopes = transforms.grad(lambda table, tokens: language.Embed.apply(table, tokens=tokens).square().sum())
    assert minigrad.jit(slopes)(table, tokens).tolist() == slopes(table, tokens).tolist()


def test_later_tokens_change_nothing():
    """Other keys and values at place t leave all outputs before t as they are, to the last bit."""
    q, k, v = (random(2, 6, 4, seed=seed) for seed in range(3))
    before = language.causal_attention(q, k, v).numpy()
    for t in range(6):
        other_k, other_v = k.numpy().copy(), v.numpy().copy()
        other_k[:, t:] = 100.0
        other_v[:, t:] = -5.0
        after = language.causal_attention(q, minigrad.tensor(other_k), minigrad.tensor(other_v)).numpy()
        assert (after[:, :t] == before[:, :t]).all()
        assert not (after[:, t] == before[:, t]).any()


def test_last_queries():
    """Fewer queries than keys are those of the last tokens."""
    q, k, v = (random(6, 4, seed=seed) for seed in range(3))
    whole = language.causal_attention(q, k, v).numpy()
    for n in range(1, 7):
        np.testing.assert_allclose(language.causal_attention(q[-n:], k, v).numpy(), whole[-n:], rtol=1e-12)


def test_batches_stay_inside():
    """Targets follow their inputs; the first and the last place occur, and none beyond; the seed decides which."""
    text = np.arange(9)
    drawn = list(itertools.islice(language.batches(text, 4, np.random.default_rng(0), size=5), 40))
    assert all((y == x + 1).all() and x.shape == y.shape == (5, 4) for x, y in drawn)
    assert {int(row[0]) for x, _ in drawn for row in x} == set(range(5))
    assert len({x.tobytes() for x, _ in drawn}) > 1
    again = next(language.batches(text, 4, np.random.default_rng(0), size=5))
    assert (again[0] == drawn[0][0]).all()


@pytest.mark.parametrize(("n", "share", "kept"), [(10, 0.1, 1), (11, 0.25, 3), (7, 0.0, 0), (7, 1.0, 7)])
def test_split(n, share, kept):
    """The end of a text is for validation, and both parts together are the text."""
    first, last = language.split(np.arange(n), share)
    assert len(last) == kept
    assert [*first, *last] == list(range(n))


def test_samples():
    """Frequencies follow the softmax of logits over temperature; top_k leaves the largest, ties by their order."""
    rng, logits = np.random.default_rng(0), np.log(np.array([1.0, 2.0, 4.0, 1.0], np.float32))

    def shares(**options):
        drawn = [language.sample(logits, rng, **options) for _ in range(4000)]
        assert all(type(each) is int for each in drawn)
        return np.bincount(drawn, minlength=4) / 4000

    np.testing.assert_allclose(shares(), [1 / 8, 2 / 8, 4 / 8, 1 / 8], atol=0.03)
    np.testing.assert_allclose(shares(temperature=0.5), np.array([1, 4, 16, 1]) / 22, atol=0.03)
    np.testing.assert_allclose(shares(top_k=2), [0, 1 / 3, 2 / 3, 0], atol=0.03)
    np.testing.assert_allclose(shares(top_k=3), np.array([1, 2, 4, 0]) / 7, atol=0.03)
    np.testing.assert_allclose(shares(top_k=9, temperature=2.0).sum(), 1.0)
    assert shares(temperature=0.0).tolist() == [0, 0, 1, 0]
    assert language.sample(np.array([1e4, -1e4]), rng) == 0
    assert language.sample(np.array([3.0, 3.0]), rng, temperature=0.0) == 0


# --- the whole ------------------------------------------------------------------------------------------------------


def loss_of(p, x, y):
    """The mean cross entropy of the next characters."""
    logits = language.gpt(p, x, HEADS)
    return nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))


@pytest.mark.full("a model is compiled, and trained beside PyTorch's", share=12)
def test_model_beside_torch():
    """Loss and all gradients are PyTorch's, eager and compiled."""
    p, tokens = small(), np.random.default_rng(1).integers(0, 7, (3, 7))
    x, y = minigrad.tensor(tokens[:, :-1]), minigrad.tensor(tokens[:, 1:])
    theirs = torch_of(p)
    wanted = torch.nn.functional.cross_entropy(
        by_torch(theirs, torch.tensor(tokens[:, :-1])).reshape(-1, 7), torch.tensor(tokens[:, 1:]).reshape(-1)
    )
    wanted.backward()
    slopes = transforms.value_and_grad(loss_of)
    for run in (slopes, minigrad.jit(slopes)):
        loss, found = run(p, x, y)
        assert loss.item() == pytest.approx(wanted.item(), rel=1e-5)
        both = zip(transforms.tree_leaves(found), transforms.tree_leaves(theirs), strict=True)
        for ours, their in both:
            np.testing.assert_allclose(ours.numpy(), their.grad.numpy(), rtol=1e-3, atol=1e-5)


def test_the_library_computes_by_a_students_functions():
    """While they are installed, `nn`'s layer norm and causal attention call them."""
    called = []

    def watched(name):
        original = getattr(language, name)

        def run(*args, **kwargs):
            called.append(name)
            return original(*args, **kwargs)

        return run

    names = ("layer_norm", "attention_weights")
    with exercises.install({f"language.{name}": watched(name) for name in names}):
        nn.LayerNorm(4)(minigrad.ones(2, 4))
        q = minigrad.ones(2, 4)
        nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
    assert called == [*names]


@pytest.mark.parametrize(("shape", "sizes"), [((5, 4), (4,)), ((2, 3, 4), (3, 4))])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm_of_the_library_is_the_one_to_be_read(shape, sizes, affine):
    """`nn`'s own form, and the one by `language.layer_norm`, give one result, also over several axes."""
    weight, bias = (random(*sizes, seed=2), random(*sizes, seed=3)) if affine else (None, None)
    quick = nn.functional.layer_norm(random(*shape, seed=1), sizes, weight, bias)
    overrides.use_twins(False)
    try:
        written = nn.functional.layer_norm(random(*shape, seed=1), sizes, weight, bias)
    finally:
        overrides.use_twins(True)
    np.testing.assert_allclose(quick.detach().numpy(), written.detach().numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("queries", "scale", "is_causal"), [(4, None, True), (3, None, True), (4, 0.3, True)])
def test_attention_of_the_library_is_the_one_to_be_read(queries, scale, is_causal):
    """`nn`'s own form, and the one by `language.attention_weights` where it serves, give one result."""
    given = random(2, queries, 5), random(2, 4, 5, seed=1), random(2, 4, 5, seed=2)
    attend = nn.functional.scaled_dot_product_attention
    quick = attend(*given, is_causal=is_causal, scale=scale)
    overrides.use_twins(False)
    try:
        written = attend(*given, is_causal=is_causal, scale=scale)
    finally:
        overrides.use_twins(True)
    np.testing.assert_allclose(quick.detach().numpy(), written.detach().numpy(), rtol=1e-12, atol=1e-12)


def next_logits(p, seen):
    """Return what `generate` takes for a model, which notes how many tokens it is given."""

    def model(tokens, caches):
        seen.append(len(tokens))
        with minigrad.no_grad():
            return language.gpt(p, minigrad.tensor([list(tokens)]), HEADS, caches)[0, -1].numpy()

    return model


def test_generation_with_a_cache():
    """With a cache the text is the same, and each token is computed once."""
    p, seen = small(), []
    caches = [language.Cache() for _ in p["blocks"]]
    text = language.generate(next_logits(p, seen), [1, 2, 3], 3, lambda x: int(x.argmax()), caches)
    wanted = [1, 2, 3]
    for _ in range(3):
        wanted.append(int(next_logits(p, [])(wanted, ()).argmax()))
    assert text == wanted
    assert seen == [3, 1, 1]
    assert [len(cache) for cache in caches] == [5, 5]
    assert language.generate(next_logits(p, []), [4], 0, max, caches) == [4]


@pytest.mark.full("a model is compiled, and trained beside PyTorch's", share=12)
def test_learns_a_line():
    """Sixty steps of gradient descent on one line of verse bring the loss below half of a guess's."""
    line = data.poems("sonnets")[17].text.splitlines()[0]
    characters = sorted(set(line))
    tokens = np.array([characters.index(each) for each in line])
    p = language.initial(np.random.default_rng(0), len(characters), 16, 16, 1)
    step, drawn = (
        minigrad.jit(transforms.value_and_grad(loss_of)),
        language.batches(tokens, 16, np.random.default_rng(1)),
    )
    losses = []
    for x, y in itertools.islice(drawn, 60):
        loss, slopes = step(p, minigrad.tensor(x), minigrad.tensor(y))
        p = transforms.tree_map(lambda w, g: w - 0.5 * g, p, slopes)
        losses.append(loss.item())
    assert losses[0] > 0.9 * np.log(len(characters))
    assert losses[-1] < 0.5 * np.log(len(characters))

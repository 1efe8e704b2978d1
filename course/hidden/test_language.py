"""Hidden tests of the language model: its parts on small numbers, and what a cache saves, counted."""

import functools

import numpy as np
import pytest

from autograder import expect

batches = functools.partial(pytest.mark.exercise, "language.batches")
embed = functools.partial(pytest.mark.exercise, "language.Embed")
norm = functools.partial(pytest.mark.exercise, "language.layer_norm")
attention = functools.partial(pytest.mark.exercise, "language.causal_attention")
block = functools.partial(pytest.mark.exercise, "language.block")
sample = functools.partial(pytest.mark.exercise, "language.sample")
count = functools.partial(pytest.mark.exercise, "language.count")
generate = functools.partial(pytest.mark.exercise, "language.generate")


def mixed(*shape, seed=0):
    """Numbers in no order."""
    return np.random.default_rng(seed).normal(size=shape)


# --- pieces of a text -----------------------------------------------------------------------------------------------


def some_batches(mg, text, length, size, count, seed):
    """Return inputs and targets of the first batches, and which error came, if one did."""
    rng, found = np.random.default_rng(seed), []
    drawn = iter(mg.language.batches(text, length, rng, size))
    try:
        for _ in range(count):
            x, y = next(drawn)
            found.append([np.asarray(x).tolist(), np.asarray(y).tolist()])
    except (IndexError, StopIteration) as error:
        return type(error).__name__
    return found


@batches(group="targets", because="language.batches: 'The target of a token is the one that follows it in the text.'")
def test_targets_follow_in_the_text(student):
    """In a text without order, each target is the token behind its input."""

    def observe(mg, text):
        x, y = map(np.asarray, next(iter(mg.language.batches(text, 5, np.random.default_rng(2), 4))))
        if x.shape != y.shape or x.ndim != 2:
            return [list(x.shape), list(y.shape)]
        begins = [int(np.flatnonzero(text == row[0])[0]) for row in x]
        pieces = [text[place : place + 5].tolist() for place in begins] == x.tolist()
        return [pieces, [text[place + 1 : place + 6].tolist() for place in begins] == y.tolist()]

    expect(
        student(observe, np.random.default_rng(1).permutation(40)),
        [True, True],
        hint="inputs are tokens[place : place + length], targets the same one place later",
        misconception="targets-not-shifted",
    )


@batches(group="targets", because="language.batches: 'Inputs and targets, two arrays of shape (size, length).'")
def test_shape_of_a_batch(student):
    """A batch has `size` rows of `length` tokens, and batches have no end."""
    found = student(some_batches, np.arange(30), 4, 3, 70, 0)
    expect(
        found if isinstance(found, str) else [len(found), *np.shape(found[-1])],
        [70, 2, 3, 4],
        hint="`while True`, and in it a `yield`",
        misconception="one-batch-only",
    )


@batches(group="places", because="language.batches: 'each place that has room for a piece and its targets'")
def test_all_places(student):
    """Pieces begin at every place with room for them and their targets, the last one included, and at no other."""
    found = student(some_batches, np.arange(7), 3, 16, 20, 0)
    expect(
        found if isinstance(found, str) else sorted({row[0] for x, _ in found for row in x}),
        [0, 1, 2, 3],
        hint="of 7 tokens, pieces of 3 with their targets begin at 0, 1, 2 or 3",
        misconception="last-place-missing",
        when={"IndexError": ("place-beyond-the-end", "a target lay beyond the end of the text")},
    )


@batches(group="places", because="language.batches: 'Draws where pieces begin'")
def test_generator_draws(student):
    """The generator decides: equal seeds give equal batches, and other seeds and later batches differ."""
    first, again, other = (student(some_batches, np.arange(500), 4, 8, 2, seed) for seed in (3, 3, 4))
    expect(
        [first == again, first == other, first[0] == first[1]],
        [True, False, False],
        hint="draw with the `rng` that is given",
        misconception="own-randomness",
        when={(True, True, False): ("pieces-in-order", "the places are drawn by `rng`, and not one behind the other")},
    )


@batches(group="split", because="language.split: 'the end of it for validation'")
def test_validation_is_the_end(student):
    """The last quarter of a text is kept, and the rest is for learning; no token is in both."""

    def observe(mg, text, share):
        return [np.asarray(part).tolist() for part in mg.language.split(text, share)]

    expect(
        student(observe, np.arange(12), 0.25),
        [list(range(9)), [9, 10, 11]],
        hint="the last three of twelve for validation, the first nine for learning",
        misconception="parts-overlap",
        when={
            ((3, 4, 5, 6, 7, 8, 9, 10, 11), (0, 1, 2)): ("validation-in-front", "the end of the text is kept"),
        },
    )


@batches(group="split", because="language.split: 'the last ``round(share * n)``'")
def test_share_is_rounded(student):
    """Of 19 tokens a tenth is 2, and of 7 none at a share of 0."""

    def observe(mg, text, share):
        return [len(part) for part in mg.language.split(text, share)]

    expect(student(observe, np.arange(7), 0.0), [7, 0], hint="tokens[-0:] is everything", misconception="minus-zero")
    expect(
        student(observe, np.arange(19), 0.1),
        [17, 2],
        hint="round(1.9) is 2",
        misconception="share-rounded-down",
    )


# --- a vector for each character ------------------------------------------------------------------------------------


@embed(group="forward", because="language.Embed.forward: 'Row numbers: int64, of any shape'")
def test_rows(student):
    """Each token's row stands at the token's place, whatever the shape of the tokens."""

    def observe(mg, table, tokens):
        return mg.language.Embed.apply(mg.tensor(table), tokens=mg.tensor(tokens)).tolist()

    table, tokens = mixed(5, 3), np.array([[[4, 0], [2, 2]]])
    expect(
        student(observe, table, tokens),
        table[tokens].tolist(),
        hint="table[tokens]",
        misconception="flat-tokens-only",
    )


def gradient_of_table(mg, table, tokens, upstream):
    """Return the gradient of the table."""
    table = mg.tensor(table).requires_grad_()
    mg.language.Embed.apply(table, tokens=mg.tensor(tokens)).backward(mg.tensor(upstream))
    return "none" if table.grad is None else table.grad.tolist()


@embed(group="gradients", because="language.Embed.backward: 'so it gets the sum of their gradients'")
def test_repeated_tokens(student):
    """A row that was looked up three times gets the sum of three gradients."""
    upstream = mixed(4, 2)
    expect(
        student(gradient_of_table, mixed(3, 2), np.array([1, 2, 1, 1]), upstream),
        [[0.0, 0.0], (upstream[0] + upstream[2] + upstream[3]).tolist(), upstream[1].tolist()],
        hint="add each row of d_output at its place",
        misconception="last-one-wins",
    )


@embed(group="gradients", because="language.Embed.backward: 'The gradient of the rows, in their shape.'")
def test_upstream_gradient(student):
    """The gradient is that of the rows that were looked up, not how often they were."""
    upstream = mixed(2, 3)
    expect(
        student(gradient_of_table, mixed(3, 3), np.array([2, 0]), upstream),
        [upstream[1].tolist(), [0.0] * 3, upstream[0].tolist()],
        hint="d_output, row by row, at the places of the tokens",
        misconception="counts-for-gradients",
    )


@embed(group="gradients", because="language.Embed.forward: 'Row numbers: int64, of any shape'")
def test_gradients_of_a_batch(student):
    """Tokens of two axes have gradients of three, and all of them arrive."""
    upstream, tokens, wanted = mixed(2, 3, 2), np.array([[0, 1, 3], [3, 3, 0]]), np.zeros((4, 2))
    np.add.at(wanted, tokens, upstream)
    expect(
        student(gradient_of_table, mixed(4, 2), tokens, upstream),
        wanted.tolist(),
        hint="lay all tokens on one axis, and all rows of d_output as well",
        misconception="first-text-only",
    )


@embed(
    group="higher",
    because="language.Embed.backward: 'so that it can be differentiated again'",
)
def test_second_derivative(student):
    """The gradient can be differentiated again: of the sum of cubes, twice."""

    def observe(mg, table, tokens):
        table = mg.tensor(table).requires_grad_()
        rows = mg.language.Embed.apply(table, tokens=mg.tensor(tokens))
        (rows * rows * rows).sum().backward(create_graph=True)
        slopes, table.grad = table.grad, None
        if not slopes.requires_grad:
            return "a constant"
        slopes.sum().backward()
        return table.grad.tolist()

    table = mixed(3, 2)
    expect(
        student(observe, table, np.array([1, 1, 0])),
        (6.0 * table * np.array([[1.0], [2.0], [0.0]])).tolist(),
        hint="what goes by way of an array has no history: use the tensors' own methods",
        misconception="cut-off-the-graph",
    )


# --- one length for all vectors -------------------------------------------------------------------------------------


def by_hand(x, weight, bias, eps=1e-5):
    """A layer norm, with NumPy."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * weight + bias


def normed(mg, x, weight, bias, *eps):
    """Return a layer norm as a list."""
    return mg.language.layer_norm(mg.tensor(x), mg.tensor(weight), mg.tensor(bias), *eps).tolist()


@norm(group="values", because="language.layer_norm: 'The variance is the mean of the squares'")
def test_variance_is_a_mean(student):
    """The variance of three numbers is a third of the sum of squares."""
    x = np.array([[0.0, 3.0, 6.0]])
    expect(
        student(normed, x, np.ones(3), np.zeros(3)),
        by_hand(x, 1.0, 0.0).tolist(),
        hint="divide the sum of squares by 3: the mean of (x - mean)^2",
        misconception="unbiased-variance",
    )


@norm(group="values", because="language.layer_norm: 'What is added at last, of shape (width,).'")
def test_weight_then_bias(student):
    """Each number is multiplied by its weight, and then its bias is added."""
    x, weight, bias = np.array([[1.0, 3.0]]), np.array([2.0, 5.0]), np.array([100.0, 10.0])
    expect(
        student(normed, x, weight, bias),
        by_hand(x, weight, bias).tolist(),
        hint="... * weight + bias",
        misconception="bias-before-weight",
    )


@norm(group="values", because="language.layer_norm: 'Added to the variance, before the root is taken.'")
def test_eps_under_the_root(student):
    """An eps of 3 and a variance of 1 make a divisor of 2."""
    x = np.array([[1.0, 3.0]])
    expect(
        student(normed, x, np.ones(2), np.zeros(2), 3.0),
        [[-0.5, 0.5]],
        hint="(variance + eps).sqrt()",
        misconception="eps-behind-the-root",
    )


@norm(group="vectors", because="language.layer_norm: 'Each vector along the last axis is treated by itself.'")
def test_each_vector_by_itself(student):
    """Vectors of very different sizes, in a batch of texts, have mean 0 and variance 1 each."""
    x = mixed(2, 3, 4) * np.array([1.0, 10.0, 100.0])[:, None] + 5.0
    weight, bias = mixed(4, seed=1), mixed(4, seed=2)
    expect(
        student(normed, x, weight, bias),
        by_hand(x, weight, bias).tolist(),
        hint="mean(-1, keepdim=True): along the last axis alone",
        misconception="whole-tensor",
    )


@norm(group="gradients", because="language.layer_norm: 'Shift and scale each vector to mean 0 and variance 1'")
def test_gradient_of_a_norm(student):
    """Mean and variance depend on the input, so the gradient has no part along the vector of ones, nor along x."""
    x, upstream = mixed(4), mixed(4, seed=1)

    def observe(mg, x, upstream):
        x = mg.tensor(x).requires_grad_()
        mg.language.layer_norm(x, x.new_ones(4), x.new_zeros(4), 0.0).backward(mg.tensor(upstream))
        return (x.grad / (x.grad * x.grad).sum().sqrt()).tolist()  # its direction; how long it is, the variance decides

    scaled, given = (np.array(x) - np.mean(x)) / np.std(x), np.array(upstream)
    along = given - given.mean() - scaled * (given * scaled).mean()
    expect(
        student(observe, x, upstream),
        (along / np.linalg.norm(along)).tolist(),
        hint="nothing is detached, and nothing goes by way of an array",
        misconception="mean-is-a-constant",
    )


# --- looking back ---------------------------------------------------------------------------------------------------


def weights_by_hand(q, k):
    """The weights of causal attention, with NumPy."""
    n, m = q.shape[-2], k.shape[-2]
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    scores = np.where(np.arange(m) > np.arange(m - n, m)[:, None], -np.inf, scores)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def weighed(mg, q, k):
    """Return the student's weights, rounded so that nan is a word."""
    found = mg.language.attention_weights(mg.tensor(q), mg.tensor(k)).tolist()
    return "nan" if np.isnan(found).any() else found


@attention(group="values", because="language.attention_weights: 'divided by the root of d'")
def test_scores_are_divided(student):
    """The last token's weights are those of scores divided by the root of d."""
    q, k = mixed(3, 9) * 2.0, mixed(3, 9, seed=1)
    expect(
        student(weighed, q, k)[-1],
        weights_by_hand(q, k)[-1].tolist(),
        hint="q @ k.mT / sqrt(d), and d is 9 here",
        misconception="scores-not-scaled",
        when={
            tuple(weights_by_hand(q / 3.0, k)[-1].tolist()): ("divided-by-d", "by the root of d, and not by d"),
        },
    )


@attention(group="values", because="language.causal_attention: 'the mean of the values, weighed by'")
def test_mean_of_values(student):
    """In a batch with heads, each output is the weighed mean of the values, which may be wider than the keys."""

    def observe(mg, q, k, v):
        return mg.language.causal_attention(mg.tensor(q), mg.tensor(k), mg.tensor(v)).tolist()

    q, k, v = mixed(2, 2, 4, 3), mixed(2, 2, 4, 3, seed=1), mixed(2, 2, 4, 5, seed=2)
    expect(
        student(observe, q, k, v),
        (weights_by_hand(q, k) @ v).tolist(),
        hint="attention_weights(q, k) @ v",
        misconception="values-not-weighed",
    )


@attention(group="causal", because="language.attention_weights: 'No query sees a key that comes later than itself'")
def test_no_look_ahead(student):
    """Keys and values of later tokens, however large, change no output before them."""

    def observe(mg, x):
        found = []
        before = mg.language.causal_attention(*[mg.tensor(x)] * 3).numpy()
        for t in range(1, len(x)):
            other = x.copy()
            other[t:] = -7.0 * other[t:]
            after = mg.language.causal_attention(mg.tensor(x), *[mg.tensor(other)] * 2).numpy()
            found.append(bool((after[:t] == before[:t]).all()))
        return found

    expect(
        student(observe, mixed(5, 4)),
        [True] * 4,
        hint="the key of token t + 1 is hidden from token t",
        misconception="look-ahead",
    )


@attention(group="causal", because="language.attention_weights: 'such a score is -inf *before* the softmax'")
def test_rows_sum_to_one(student):
    """The weights of each row sum to 1, as none was spent on hidden keys."""

    def observe(mg, q, k):
        found = mg.language.attention_weights(mg.tensor(q), mg.tensor(k)).sum(-1).tolist()
        return "nan" if np.isnan(found).any() else found

    expect(
        student(observe, mixed(4, 3), mixed(4, 3, seed=1)),
        [1.0] * 4,
        hint="hide first, then take the softmax along the last axis",
        misconception="masked-after-softmax",
    )


@attention(group="causal", because="language.attention_weights: 'No query sees a key that comes later than itself'")
def test_sees_itself(student):
    """The first token sees itself, with the weight 1, and each token gives itself a weight."""
    found = student(weighed, mixed(3, 2), mixed(3, 2))
    expect(
        found if found == "nan" else [found[0], [row[i] > 0.0 for i, row in enumerate(found)]],
        [[1.0, 0.0, 0.0], [True] * 3],
        hint="only *later* keys are hidden: a token sees itself",
        misconception="blind-to-itself",
    )


@attention(group="last", because="language.attention_weights: 'The queries are those of the last n of the m tokens.'")
def test_queries_of_the_last_tokens(student):
    """Two queries and five keys: the queries are those of the fourth and the fifth token."""
    q, k = mixed(2, 2, 3), mixed(2, 5, 3, seed=1)
    expect(
        student(weighed, q, k),
        weights_by_hand(q, k).tolist(),
        hint="query i of n stands at place m - n + i",
        misconception="queries-counted-from-the-first",
    )


@attention(group="gradients", because="language.causal_attention: 'the mean of the values, weighed by'")
def test_gradients_of_attention(student):
    """Gradients reach queries, keys and values; hidden values get none."""

    def observe(mg, q, k, v):
        q, k, v = (mg.tensor(x).requires_grad_() for x in (q, k, v))
        found = mg.language.causal_attention(q, k, v)
        if not found.requires_grad:
            return "a constant"
        found[1].sum().backward()
        return [x.grad is not None and bool((x.grad.numpy() != 0.0).any()) for x in (q, k)] + [v.grad.tolist()]

    q, k, v = mixed(3, 2), mixed(3, 2, seed=1), mixed(3, 2, seed=2)
    weights = weights_by_hand(q, k)[1]
    expect(
        student(observe, q, k, v),
        [True, True, np.repeat(weights[:, None], 2, 1).tolist()],
        hint="stay with the methods of tensors from the queries to the result",
        misconception="cut-off-the-graph",
    )


# --- a block --------------------------------------------------------------------------------------------------------


def some_parameters(width=4, seed=0):
    """Parameters of a block, all different from what they are at the beginning of training."""
    sizes = {"qkv": (3 * width, width), "mix": (width, width), "up": (4 * width, width), "down": (width, 4 * width)}
    p = {}
    for number, (name, shape) in enumerate(sizes.items()):
        p[name] = {"weight": mixed(*shape, seed=seed + number) * 0.7, "bias": mixed(shape[0], seed=seed + number + 10)}
    for number in (1, 2):
        weight, bias = mixed(width, seed=seed + 20 + number) + 1.0, mixed(width, seed=seed + 30 + number)
        p[f"norm{number}"] = {"weight": weight, "bias": bias}
    return p


def block_by_hand(x, p, heads, cached=None):
    """A block, with NumPy."""
    from math import erf, sqrt

    batch, n, width = x.shape
    joined = by_hand(x, **p["norm1"]) @ p["qkv"]["weight"].T + p["qkv"]["bias"]
    q, k, v = joined.reshape(batch, n, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
    if cached is not None:
        k, v = (np.concatenate([old, new], 2) for old, new in zip(cached, (k, v), strict=True))
    seen = (weights_by_hand(q, k) @ v).transpose(0, 2, 1, 3).reshape(batch, n, width)
    x = x + seen @ p["mix"]["weight"].T + p["mix"]["bias"]
    up = by_hand(x, **p["norm2"]) @ p["up"]["weight"].T + p["up"]["bias"]
    up = up * 0.5 * (1.0 + np.vectorize(erf)(up / sqrt(2.0)))
    return x + up @ p["down"]["weight"].T + p["down"]["bias"]


def through(mg, x, p, heads):
    """Return the student's block's output."""
    p = {name: {key: mg.tensor(value) for key, value in each.items()} for name, each in p.items()}
    return mg.language.block(mg.tensor(x), p, heads).tolist()


@block(group="sums", because="language.block: 'What each half computes is added to its input.'")
def test_both_ways_around(student):
    """Where the last layers of both halves have weights of 0, their biases are added to the input."""
    p, x = some_parameters(), mixed(2, 3, 4, seed=5)
    for name in ("mix", "down"):
        p[name] = {"weight": p[name]["weight"] * 0.0, "bias": p[name]["bias"]}
    wanted = x + p["mix"]["bias"] + p["down"]["bias"]
    expect(
        student(through, x, p, 2),
        wanted.tolist(),
        hint="x = x + the first half, and then x + the second half",
        misconception="way-around-missing",
    )


@block(group="sums", because="language.block: 'What each half computes is added to its input.'")
def test_second_half_sees_the_first(student):
    """The input of the second half is the sum that the first half has made."""
    p, x = some_parameters(), np.array([[[1.0, -1.0, 1.0, -1.0]]])
    # Norms change neither x nor the sums: their mean is 0 and their deviation 1. So it makes no difference here where
    # they stand. The first half adds a bias, and the second one moves what it sees by a place.
    p["norm1"] = p["norm2"] = {"weight": np.ones(4), "bias": np.zeros(4)}
    p["mix"] = {"weight": np.zeros((4, 4)), "bias": np.array([0.0, 0.0, -2.0, 2.0])}
    moving = np.roll(np.eye(4), 1, axis=0) - np.eye(4)
    p["up"] = {"weight": np.eye(16, 4), "bias": np.full(16, 100.0)}  # gelu leaves large numbers as they are
    p["down"] = {"weight": np.hstack([moving, np.zeros((4, 12))]), "bias": np.zeros(4)}
    expect(
        student(through, x, p, 1),
        [[[1.0, 1.0, -1.0, -1.0]]],
        tolerance=1e-3,  # a norm adds eps to the variance
        hint="the second half takes the new x",
        misconception="halves-side-by-side",
    )


@block(group="norms", because="language.block: 'First half: norm1, then queries, keys and values'")
def test_norm_in_front_of_attention(student):
    """The first half norms its input, and the sum is not normed."""
    p, x = some_parameters(), mixed(1, 1, 4, seed=5) * 10.0  # of one token, whose attention is its value
    p["down"] = {"weight": p["down"]["weight"] * 0.0, "bias": p["down"]["bias"]}
    expect(
        student(through, x, p, 1),
        block_by_hand(x, p, 1).tolist(),
        hint="layer_norm(x, **p['norm1']) is what 'qkv' sees, and the sum is not normed",
        misconception="norm-behind-the-sum",
    )


@block(group="norms", because='language.block: \'Second half: norm2, "up", gelu, and "down".\'')
def test_each_half_has_its_norm(student):
    """The second half is normed by norm2: its bias goes through "up" and "down" there, and norm1's does not."""
    p, x, found = some_parameters(), mixed(1, 2, 4, seed=5), []
    offset = np.array([0.5, -1.0, 2.0, 0.25])
    p["mix"] = {"weight": p["mix"]["weight"] * 0.0, "bias": p["mix"]["bias"]}
    p["up"] = {"weight": p["up"]["weight"], "bias": p["up"]["bias"] + 100.0}  # gelu leaves large numbers as they are
    for name in ("norm1", "norm2"):
        moved = dict(p, **{name: dict(p[name], bias=p[name]["bias"] + offset)})
        first, second = (np.array(student(through, x, each, 1)) for each in (p, moved))
        found.append((second - first).tolist())
    added = p["down"]["weight"] @ (p["up"]["weight"] @ offset)
    expect(
        found,
        [np.zeros_like(x).tolist(), np.broadcast_to(added, x.shape).tolist()],
        hint="norm1 for attention, norm2 for the second half",
        misconception="norm1-twice",
    )


@block(group="parts", because="language.block: 'queries, keys and values of all heads by \"qkv\"'")
def test_whole_block(student):
    """With two heads, a batch of two and all weights drawn, the output is that of the formula."""
    p, x = some_parameters(), mixed(2, 3, 4, seed=5)
    expect(
        student(through, x, p, 2),
        block_by_hand(x, p, 2).tolist(),
        hint="per_head, causal_attention, joined, and gelu between 'up' and 'down'",
        misconception="relu-for-gelu",
    )


@block(group="cache", because="language.block: 'returns the keys and values of all tokens so far'")
def test_cache_is_asked(student):
    """With a cache, attention sees the keys and values that `extend` returns."""

    def observe(mg, x, p, keys, values):
        class Given:
            def extend(self, k, v):
                cat = mg.cat
                return cat([mg.tensor(keys), k], 2), cat([mg.tensor(values), v], 2)

        p = {name: {key: mg.tensor(value) for key, value in each.items()} for name, each in p.items()}
        return mg.language.block(mg.tensor(x), p, 2, Given()).tolist()

    p, x = some_parameters(), mixed(1, 2, 4, seed=5)
    keys, values = mixed(1, 2, 3, 2, seed=6), mixed(1, 2, 3, 2, seed=7)
    expect(
        student(observe, x, p, keys, values),
        block_by_hand(x, p, 2, (keys, values)).tolist(),
        hint="k, v = cache.extend(k, v), between per_head and causal_attention",
        misconception="cache-not-asked",
    )


@block(group="cache", because="language.block: 'cache: If there is one, ``cache.extend(k, v)`` returns'")
def test_an_empty_cache_is_asked(student):
    """A cache that has seen nothing yet, and so has the length 0, keeps the keys and values of the first tokens."""

    def observe(mg, x, p):
        class Empty:
            asked = 0

            def __len__(self):
                return 0

            def extend(self, k, v):
                self.asked += 1
                return k, v

        cache = Empty()
        p = {name: {key: mg.tensor(value) for key, value in each.items()} for name, each in p.items()}
        return [*mg.language.block(mg.tensor(x), p, 2, cache).flatten().tolist(), cache.asked]

    p, x = some_parameters(), mixed(1, 2, 4, seed=5)
    expect(
        student(observe, x, p),
        [*block_by_hand(x, p, 2).ravel().tolist(), 1],
        hint="`if cache is not None` asks whether there is a cache; what has the length 0 counts as false",
        misconception="empty-cache-not-asked",
    )


# --- loaded dice ----------------------------------------------------------------------------------------------------


def shares(mg, logits, options, times):
    """Return how often each token is drawn, as a part of all."""
    rng, counts = np.random.default_rng(0), [0] * len(logits)
    with np.errstate(all="ignore"):
        for _ in range(times):
            try:
                counts[int(mg.language.sample(logits.copy(), rng, **options))] += 1
            except (ValueError, ZeroDivisionError) as error:
                return type(error).__name__
    return [count / times for count in counts]


@sample(group="temperature", because="language.sample: 'the softmax of the logits divided by the temperature'")
def test_high_temperature(student):
    """At the temperature 2 the odds are the roots of what they were."""
    expect(
        student(shares, np.log([1.0, 4.0, 16.0]), {"temperature": 2.0}, 4000),
        [1 / 7, 2 / 7, 4 / 7],
        tolerance=0.04,
        hint="1 : 4 : 16 becomes 1 : 2 : 4",
        misconception="temperature-multiplied",
        when={
            (1 / 21, 4 / 21, 16 / 21): ("temperature-on-probabilities", "divide the logits, not the probabilities"),
        },
    )


@sample(group="temperature", because="language.sample: 'The probabilities are the softmax of the logits'")
def test_chances(student):
    """At the temperature 1 each token is drawn as often as the softmax says, the rare ones too."""
    expect(
        student(shares, np.log(np.array([1.0, 2.0, 5.0], np.float32)), {}, 4000),
        [1 / 8, 2 / 8, 5 / 8],
        tolerance=0.04,
        hint="draw: the largest is not the only one that has a chance",
        misconception="always-the-largest",
    )


@sample(group="top_k", because="language.sample: 'How many of the largest logits have a chance'")
def test_top_two(student):
    """With top_k=2 the two largest share all chances as before, and the others have none."""
    expect(
        student(shares, np.log([4.0, 1.0, 8.0, 2.0]), {"top_k": 2}, 4000),
        [1 / 3, 0.0, 2 / 3, 0.0],
        tolerance=0.04,
        hint="the two largest, whose probabilities sum to 1 again",
        misconception="smallest-kept",
    )


@sample(group="top_k", because="language.sample: 'Of equal ones the first.'")
def test_ties_at_the_edge(student):
    """Of forty equal logits behind a larger one, the first two stay beside it."""
    logits = np.log(np.array([2.0] * 20 + [4.0] + [2.0] * 20))
    expect(
        student(shares, logits, {"top_k": 3}, 4000),
        [1 / 4, 1 / 4] + [0.0] * 18 + [1 / 2] + [0.0] * 20,
        tolerance=0.04,
        hint="a comparison with the k-th largest keeps all that equal it",
        misconception="ties-kept",
    )


@sample(group="special", because="language.sample: 'For 0 it is the first of the largest logits.'")
def test_temperature_zero(student):
    """At the temperature 0 the first of the largest is drawn always."""
    expect(
        student(shares, np.array([1.0, 3.0, 3.0]), {"temperature": 0.0}, 20),
        [0.0, 1.0, 0.0],
        hint="argmax, before anything is divided by 0",
        misconception="divided-by-zero",
    )


@sample(group="special", because="lesson 12, 'Loaded dice': lesson 09 has said how to keep it from overflowing.")
def test_large_logits(student):
    """Logits of a thousand do not overflow, and -1000 has no chance."""
    expect(
        student(shares, np.array([1000.0, -1000.0, 1000.0]), {}, 2000),
        [0.5, 0.0, 0.5],
        tolerance=0.06,
        hint="subtract the largest before the exponential",
        misconception="overflow",
    )


@sample(group="special", because="language.sample: 'A token, as a number of Python.'")
def test_number_of_python(student):
    """The token is an int of Python, at every temperature."""

    def observe(mg, logits):
        rng = np.random.default_rng(0)
        return [type(mg.language.sample(logits, rng, temperature)).__name__ for temperature in (0.0, 1.0)]

    expect(
        student(observe, np.array([1.0, 2.0], np.float32)),
        ["int", "int"],
        hint="int(...) makes one of a number of NumPy's",
        misconception="number-of-numpy",
    )


@sample(group="special", because="language.sample: 'It stays as it is.'")
def test_logits_stay(student):
    """The array of logits is not changed."""

    def observe(mg, logits):
        before = logits.copy()
        mg.language.sample(logits, np.random.default_rng(0), temperature=0.5, top_k=2)
        return bool((logits == before).all())

    expect(
        student(observe, np.array([1.0, 2.0, 3.0])),
        True,
        hint="work on a copy: `logits / temperature` is one, `logits /= temperature` is none",
        misconception="logits-changed",
    )


# --- nothing twice --------------------------------------------------------------------------------------------------

SIZES = (7, 12, 8, 2)


def written(mg, sizes, prompt, count, cached):
    """Return a text that a small model has written, the tokens that it was given, and the products it took.

    A product is a multiplication of two numbers in a matrix product; each one of the library is counted.
    """
    language, functions = mg.language, mg.tensor_functions
    p, heads, counted, given = language.initial(np.random.default_rng(1), *sizes), 2, [0], []

    def counting(function):
        forward = function.forward

        def run(ctx, a, b, *rest):
            columns = b.shape[0] if function is functions.Linear else b.shape[-1]
            counted[0] += int(np.prod(a.shape)) * int(columns)
            return forward(ctx, a, b, *rest)

        function.forward = staticmethod(run)
        return function, forward

    def model(tokens, caches):
        given.append(len(tokens))
        with mg.no_grad():
            return language.gpt(p, mg.tensor([list(map(int, tokens))]), heads, caches)[0, -1].numpy()

    def largest(logits):
        return int(np.argmax(logits))

    restored = [counting(each) for each in (functions.MatMul, functions.Linear)]
    try:
        if cached:
            caches = [language.Cache() for _ in p["blocks"]]
            text = language.generate(model, list(prompt), count, largest, caches)
        else:
            text = list(prompt)
            for _ in range(count):
                text.append(largest(model(text, ())))
    finally:
        for function, forward in restored:
            function.forward = staticmethod(forward)
    return [list(map(int, text)), given, counted[0]]


@generate(group="same", because="language.generate: 'The prompt with the new tokens behind it.'")
def test_same_text(student):
    """The text is the one that the model writes without a cache, with the prompt in front."""
    found, wanted = (student(written, list(SIZES), [3, 1, 4], 8, cached)[0] for cached in (True, False))
    expect(
        found,
        wanted,
        hint="what is chosen is added to the text, and is what the model is given next",
        misconception="stale-token",
    )


@generate(group="same", because="language.Cache.extend: 'The keys and the values of all tokens so far.'")
def test_cache_keeps(student):
    """Three calls one behind the other return all keys and all values so far, in order, and the length says how many."""

    def observe(mg, k, v):
        cache, found = mg.language.Cache(), []
        for start, stop in ((0, 2), (2, 3), (3, 5)):
            keys, values = cache.extend(mg.tensor(k[:, :, start:stop]), mg.tensor(v[:, :, start:stop]))
            found.append([keys.tolist() == k[:, :, :stop].tolist(), values.tolist() == v[:, :, :stop].tolist()])
        return [found, len(cache)]

    expect(
        student(observe, mixed(2, 2, 5, 3), mixed(2, 2, 5, 3, seed=1)),
        [[[True, True]] * 3, 5],
        hint="join along the axis of the tokens, -2, and keep what was joined",
        misconception="only-the-newest",
        when={
            (((True, True), (True, True), (False, False)), 2): (
                "never-kept",
                "set self.keys and self.values each time",
            ),
            (((True, True), (False, False), (False, False)), 5): (
                "newest-in-front",
                "first the old ones, then the new",
            ),
        },
    )


@generate(group="same", because="language.generate: 'How many tokens to add, at least 0.'")
def test_nothing_to_add(student):
    """With a count of 0 the text is the prompt, which is left as it is."""

    def observe(mg):
        prompt = [1, 2]
        found = [mg.language.generate(lambda *_: np.array([1.0]), prompt, n, lambda _: 0, []) for n in (0, 2)]
        return [list(map(list, found)), prompt]

    expect(
        student(observe),
        [[[1, 2], [1, 2, 0, 0]], [1, 2]],
        hint="list(prompt) makes a copy; add to that",
        misconception="prompt-changed",
    )


@generate(group="work", because="language.generate: 'The model sees each token once, and the last one never.'")
def test_each_token_once(student):
    """For a prompt of 3 and 6 new tokens the model is given 8 tokens."""
    expect(
        sum(student(written, list(SIZES), [3, 1, 4], 6, True)[1]),
        8,
        hint="the prompt, and then each new token alone, but for the last one",
        misconception="tokens-given-again",
        when={9: ("one-call-too-many", "nobody needs the logits behind the last token")},
    )


@generate(group="work", because="lesson 12, 'Nothing twice': In the hidden tests the products are counted")
def test_counted_products(student):
    """Nine new tokens take less than half of the products that they take without a cache."""
    (found, _, cached), (wanted, _, without) = (
        student(written, list(SIZES), [3, 1, 4], 9, each) for each in (True, False)
    )
    expect(
        [len(found) == len(wanted), 0 < 2 * cached < without],
        [True, True],
        hint="keys and values of older tokens come out of the cache; nothing is computed for these tokens again",
        misconception="cache-thrown-away",
    )


# --- what a model costs -----------------------------------------------------------------------------------------------


def counted(mg, place, sizes, batch):
    """Probe: one of the three numbers, or that there was no memory for what was to be counted only."""
    try:
        return mg.language.count(*sizes, batch=batch)[place]
    except MemoryError:
        return "no memory"


@count(group="parameters", because="language.count: 'The parameters that `initial` makes.'")
def test_count_of_parameters(student):
    """Tables of characters and places, two blocks with their layers and norms, the last norm and the last layer."""
    expect(
        student(counted, 0, [5, 4, 8, 2], 1),
        1877,
        hint="go through `initial` line by line: a layer from a to b numbers has a * b weights and b biases",
        misconception="biases-forgotten",
        when={
            1797: ("norms-forgotten", "a norm has a weight and a bias for each number of a vector"),
            1845: ("places-forgotten", "places have a table, too"),
            1832: ("head-forgotten", "the last layer has parameters of its own"),
        },
    )


@count(group="parameters", because="language.count: 'Count what a model costs before it is made.'")
def test_count_of_a_model_beyond_any_memory(student):
    """A model of twelve million billion parameters is counted, not made."""
    expect(
        student(counted, 0, [10**6, 10**4, 10**6, 1000], 1),
        12_002_023_003_000_000,
        hint="the numbers follow from the sizes by products and sums; nothing has to be made",
        misconception="made-to-be-counted",
    )


@count(group="products", because="language.count: 'The multiplications of two numbers in the products of matrices'")
def test_count_of_multiplications(student):
    """Five pieces of three tokens, in two blocks: layers, scores, weighted values, and the last layer."""
    expect(
        student(counted, 1, [7, 3, 4, 2], 5),
        6900,
        hint="each token meets each weight of a layer once; queries meet keys, and weights meet values",
        misconception="attention-forgotten",
        when={
            6660: ("hidden-scores-left-out", "scores that are hidden later have been computed before"),
            6540: ("values-not-weighed", "attention has two products: queries by keys, and weights by values"),
            6480: ("last-layer-forgotten", "the last layer makes logits of each token's vector"),
            1380: ("batch-forgotten", "every piece of the batch goes through the model"),
            460: ("one-token-only", "every token of every piece goes through the model"),
        },
    )


@count(group="bytes", because="language.count: 'the parameters, a gradient for each, and its two running means'")
def test_count_of_bytes(student):
    """Four numbers of four bytes for each parameter."""

    def observe(mg, sizes):
        parameters, _, size = mg.language.count(*sizes)
        return size / parameters if parameters else "no parameters"

    expect(
        student(observe, [5, 4, 8, 2]),
        16.0,
        hint="a parameter, its gradient and two means are four numbers of float32",
        misconception="parameters-alone",
        when={
            12.0: ("one-mean", "Adam keeps two means: of the gradient, and of its square"),
            8.0: ("without-adam", "Adam keeps two means for each parameter"),
            32.0: ("eight-bytes", "a number of float32 has four bytes"),
        },
    )

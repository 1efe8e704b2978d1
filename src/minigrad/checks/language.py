"""Visible tests of the language model, on numbers worked out by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import language
from minigrad.checks.blaming import blaming, called_by, fault_of
from minigrad.checks.expectation import Expectation, expect, expect_that, hinting
from minigrad.checks.nn_functional import as_list, gradient, numbers
from minigrad.checks.runner import visible
from minigrad.tensors import Tensor, creation

PIECES = "12 'Pieces of a text'"
VECTORS = "12 'A vector for each character'"
NORM = "12 'One length for all vectors'"
PAST = "12 'Looking back'"
HUNT = "12 'A hunt'"
BLOCK = "12 'A block'"
DICE = "12 'Loaded dice'"
COSTS = "12 'What it costs'"
TWICE = "12 'Nothing twice'"


# --- pieces of a text -----------------------------------------------------------------------------------------------


@visible("language.batches", PIECES)
def targets_follow(student: SimpleNamespace) -> None:
    """In the text 0, 1, 2, ... each target is its input plus 1, and a batch has `size` pieces of `length` tokens."""
    x, y = next(student.batches(np.arange(50), 4, np.random.default_rng(0), size=3))
    expect([list(np.shape(x)), list(np.shape(y))], [[3, 4], [3, 4]], hint="inputs and targets of shape (size, length)")
    hint = "the target of the token at place i is the token at place i + 1"
    expect((np.asarray(y) - np.asarray(x)).tolist(), [[1] * 4] * 3, hint=hint)


@visible("language.batches", PIECES)
def every_place(student: SimpleNamespace) -> None:
    """In a text of 6 tokens pieces of 3 begin at 0, 1 or 2; each of these places occurs."""
    drawn = list(itertools.islice(student.batches(np.arange(6), 3, np.random.default_rng(0), size=8), 10))
    expect(len(drawn), 10, hint="batches have no end: `while True`, and in it a `yield`", of="the number of batches")
    begins = {int(row[0]) for x, _ in drawn for row in x}
    meanings = {(0, 1): "the last place that has room is missing: `high` itself is never drawn"}
    expect(sorted(begins), [0, 1, 2], hint="draw from 0 up to, and without, len(tokens) - length", when=meanings)


@visible("language.batches", PIECES)
def two_parts(student: SimpleNamespace) -> None:
    """A fifth of ten tokens is kept: the last two."""
    first, last = student.split(np.arange(10), 0.2)
    meanings = {(0, 1): "that is the beginning of the text; the end of it is kept"}
    expect(list(map(int, last)), [8, 9], hint="the last round(share * n) tokens", when=meanings)
    expect(list(map(int, first)), list(range(8)), hint="everything in front of these; no token is in both parts")


# --- a vector for each character ------------------------------------------------------------------------------------

TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def looked_up(student: SimpleNamespace, tokens: object, upstream: object) -> Any:
    """Return the gradient of the table, as a list."""
    table = numbers(TABLE).requires_grad_()
    return gradient(student.Embed.apply(table, tokens=creation.tensor(tokens)), table, upstream)


@visible("language.Embed", VECTORS)
def rows_of_a_table(student: SimpleNamespace) -> None:
    """The tokens 2, 0 give the rows 2 and 0, and [[1], [1]] gives an axis more."""
    found = student.Embed.apply(numbers(TABLE), tokens=creation.tensor([2, 0]))
    expect(as_list(found), [[5.0, 6.0], [1.0, 2.0]], hint="the row of each token")
    found = student.Embed.apply(numbers(TABLE), tokens=creation.tensor([[1], [1]]))
    expect(as_list(found), [[[3.0, 4.0]], [[3.0, 4.0]]], hint="tokens may have any shape")


@visible("language.Embed", VECTORS)
def gradients_of_rows(student: SimpleNamespace) -> None:
    """The gradient of each row goes to the row that was looked up; the others get 0."""
    seen = looked_up(student, [2, 0], [[10.0, 20.0], [30.0, 40.0]])
    meanings = {((1.0, 1.0), (0.0, 0.0), (1.0, 1.0)): "these are counts: add up the rows of d_output"}
    expect(seen, [[30.0, 40.0], [0.0, 0.0], [10.0, 20.0]], hint="d_output's row 0 belongs to token 2", when=meanings)


@visible("language.Embed", VECTORS)
def repeated_tokens(student: SimpleNamespace) -> None:
    """Token 1 is looked up twice, so that its row gets the sum of both gradients."""
    seen = looked_up(student, [[1], [1]], [[[10.0, 20.0]], [[30.0, 40.0]]])
    hint = "a later row must not replace an earlier one: add"
    meanings = {
        ((0.0, 0.0), (30.0, 40.0), (0.0, 0.0)): "only the last one is there: it was put in the place of the first",
        ((0.0, 0.0), (10.0, 20.0), (0.0, 0.0)): "only the first one is there",
    }
    expect(seen, [[0.0, 0.0], [40.0, 60.0], [0.0, 0.0]], hint=hint, when=meanings)


# --- one length for all vectors -------------------------------------------------------------------------------------


def normed(student: SimpleNamespace, x: object, weight: object, bias: object, **options: float) -> Any:
    """Return the result of layer_norm as a list."""
    return as_list(student.layer_norm(numbers(x), numbers(weight), numbers(bias), **options))


@visible("language.layer_norm", NORM)
def mean_and_variance(student: SimpleNamespace) -> None:
    """[1, 3] and [10, 30] both become [-1, 1], each vector by itself."""
    found = normed(student, [[1, 3], [10, 30]], [1, 1], [0, 0], eps=0.0)
    half = math.sqrt(0.5)
    meanings = {
        ((-half, half), (-half, half)): "the variance is the mean of the squares: divide their sum by 2, not by 1",
        ((-0.5, 0.5), (-0.5, 0.5)): "divide by the root of the variance",
        ((-1.0, 1.0), (-10.0, 10.0)): "the means are right; now divide by the root of the variance",
    }
    expect(found, [[-1.0, 1.0], [-1.0, 1.0]], hint="mean 2 and variance 1; mean 20 and variance 100", when=meanings)


@visible("language.layer_norm", NORM)
def weight_and_bias(student: SimpleNamespace) -> None:
    """With the weights [2, 3] and the biases [10, 20], [-1, 1] becomes [8, 23]."""
    found = normed(student, [[1, 3]], [2, 3], [10, 20], eps=0.0)
    meanings = {((18.0, 63.0),): "the bias is added last: it is not multiplied"}
    expect(found, [[8.0, 23.0]], hint="2 * -1 + 10, and 3 * 1 + 20", when=meanings)


@visible("language.layer_norm", NORM)
def something_under_the_root(student: SimpleNamespace) -> None:
    """A vector of equal numbers becomes 0, not nan, and with an eps of 3 [1, 3] becomes [-0.5, 0.5]."""
    found = normed(student, [[5, 5]], [1, 1], [0, 0])
    expect(found, [[0.0, 0.0]], hint="its variance is 0: eps is what keeps the quotient finite")
    third = 1.0 / (1.0 + 3.0)
    meanings = {((-third, third),): "eps is added to the variance, before the root is taken"}
    expect(normed(student, [[1, 3]], [1, 1], [0, 0], eps=3.0), [[-0.5, 0.5]], hint="1 / sqrt(1 + 3)", when=meanings)


@visible("language.layer_norm", NORM)
def mean_and_variance_depend_on_x(student: SimpleNamespace) -> None:
    """With an eps of 3, a gradient of 8 at the first output of [1, 3] is 1.5 and -1.5 at the inputs."""
    x = numbers([[1.0, 3.0]]).requires_grad_()
    found = student.layer_norm(x, numbers([1.0, 1.0]), numbers([0.0, 0.0]), 3.0)
    hint = "both inputs move the mean and the variance: detach nothing"
    expect(gradient(found, x, [[8.0, 0.0]]), [[1.5, -1.5]], hint=hint)


# --- looking back ---------------------------------------------------------------------------------------------------


@visible("language.causal_attention", PAST)
def equal_keys(student: SimpleNamespace) -> None:
    """Where all keys are equal, each token takes the mean of itself and of all tokens before it."""
    zero = numbers([[0.0], [0.0], [0.0]])
    third = 1.0 / 3.0
    meanings = {
        ((third, third, third),) * 3: "each query sees all keys: hide those that come later",
        ((third, 0.0, 0.0), (third, third, 0.0), (third,) * 3): "hide *before* the softmax: these rows do not sum to 1",
    }
    seen = as_list(student.attention_weights(zero, zero))
    hint = "a score of -inf has the weight 0, and the others share 1"
    expect(seen, [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [third] * 3], hint=hint, when=meanings)
    found = student.causal_attention(zero, zero, numbers([[6.0], [12.0], [30.0]]))
    expect(as_list(found), [[6.0], [9.0], [16.0]], hint="the weights times the values: 6, (6 + 12) / 2, 48 / 3")


@visible("language.causal_attention", PAST)
def scores_are_scaled(student: SimpleNamespace) -> None:
    """For vectors of four numbers the product 2 log 3 is a score of log 3: weights of 1/4 and 3/4."""
    q, k = [[1.0, 0.0, 0.0, 0.0]] * 2, [[0.0] * 4, [2.0 * math.log(3.0), 0.0, 0.0, 0.0]]
    meanings = {
        ((1.0, 0.0), (0.1, 0.9)): "divide the scores by the root of d",
        ((1.0, 0.0), (1.0 / (1.0 + math.sqrt(3.0)), math.sqrt(3.0) / (1.0 + math.sqrt(3.0)))): "by the root of d",
    }
    seen = as_list(student.attention_weights(numbers(q), numbers(k)))
    expect(seen, [[1.0, 0.0], [0.25, 0.75]], hint="d is 4, so divide by 2", when=meanings)
    found = student.causal_attention(numbers(q), numbers(k), numbers([[4.0], [8.0]]))
    expect(as_list(found), [[4.0], [7.0]], hint="4 / 4 + 8 * 3 / 4 for the second: the weights times the values")


@visible("language.causal_attention", PAST)
def no_look_ahead(student: SimpleNamespace) -> None:
    """Other tokens from t + 1 on leave the output at t as it was, for every t."""
    x = np.sin(np.arange(20.0)).reshape(5, 4)
    before = as_list(student.causal_attention(numbers(x), numbers(x), numbers(x)))
    for t in range(4):
        other = x.copy()
        other[t + 1 :] = np.cos(np.arange(4.0 * (4 - t))).reshape(-1, 4) * 7.0
        after = as_list(student.causal_attention(numbers(x), numbers(other), numbers(other)))
        hint = f"the keys and values from {t + 1} on were exchanged, and output {t} has changed"
        expect(after[t], before[t], hint=hint)


@visible("language.causal_attention", PAST)
def queries_of_the_last_tokens(student: SimpleNamespace) -> None:
    """One query and three keys: it is the query of the third token, and sees all three."""
    seen = as_list(student.attention_weights(numbers([[0.0]]), numbers([[0.0]] * 3)))
    meanings = {((1.0, 0.0, 0.0),): "this query was taken for that of the first token; it is that of the last one"}
    expect(seen, [[1.0 / 3.0] * 3], hint="query i of n stands at place m - n + i", when=meanings)


@visible("language.causal_attention", PAST)
def leads_back(student: SimpleNamespace) -> None:
    """Gradients reach the values and the queries: of two equal weights, each is worth half."""
    zero, v = numbers([[0.0], [0.0]]), numbers([[1.0], [2.0]]).requires_grad_()
    found = student.causal_attention(zero, zero, v)
    hint = "10 + 20 / 2 for the first, 20 / 2 for the other"
    expect(gradient(found, v, [[10.0], [20.0]]), [[20.0], [10.0]], hint=hint)
    q = numbers([[0.0], [0.0]]).requires_grad_()
    found = student.causal_attention(q, numbers([[0.0], [1.0]]), v.detach())
    hint = "the first query sees one key, and the second moves its output by a quarter of what it moves its score"
    expect(gradient(found, q, [[8.0], [8.0]]), [[0.0], [2.0]], hint=hint)


# --- a hunt ---------------------------------------------------------------------------------------------------------


def _unscaled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return language.causal_attention(q * 10.0, k, v)


def _slipped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    places = creation.tensor(np.tri(q.shape[-2], k.shape[-2], k.shape[-2] - q.shape[-2] + 1))
    powers = (q @ k.mT / math.sqrt(q.shape[-1])).exp() * places
    return powers / powers.sum(-1, keepdim=True) @ v


def _centred(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return language.causal_attention(q, k, v - v.mean(-2, keepdim=True))


@visible("language.is_causal", HUNT)
def nothing_leaks(student: SimpleNamespace) -> None:
    """The library's attention passes, and so does one with scores ten times as large."""
    of = "the verdict on an attention that leaks nothing"
    hint = "no output of this attention changes with a later token: which outputs did you compare?"
    expect(bool(student.is_causal(language.causal_attention)), True, hint=hint, of=of)
    hint = "this attention has other numbers and leaks nothing: compare it with itself, on two texts that begin alike"
    expect(bool(student.is_causal(_unscaled)), True, hint=hint, of=of)


@visible("language.is_causal", HUNT)
def leaks_are_refused(student: SimpleNamespace) -> None:
    """The attention of the lesson whose mask has slipped is refused, and the one with centred values."""
    of = "the verdict on an attention that leaks"
    hint = "this is the one of the lesson whose mask has slipped: each token sees the next one, too"
    expect(bool(student.is_causal(_slipped)), False, hint=hint, of=of)
    hint = "this one subtracts the mean of all values: let later values change, not later keys alone"
    expect(bool(student.is_causal(_centred)), False, hint=hint, of=of)


# --- a block --------------------------------------------------------------------------------------------------------

KINDS = ("qkv", "mix", "up", "down")


def parameters(**changed: Any) -> Mapping[str, Any]:
    """Return parameters of a block for vectors of two numbers: all weights 0, but norms, and those given."""
    sizes = {"qkv": (6, 2), "mix": (2, 2), "up": (8, 2), "down": (2, 8)}
    p: dict[str, Any] = {f"norm{i}": {"weight": numbers([1.0, 1.0]), "bias": numbers([0.0, 0.0])} for i in (1, 2)}
    for name, (outputs, inputs) in sizes.items():
        p[name] = {"weight": np.zeros((outputs, inputs)), "bias": np.zeros(outputs)} | changed.get(name, {})
        p[name] = {key: numbers(value) for key, value in p[name].items()}
    for name in ("norm1", "norm2"):
        p[name] |= {key: numbers(value) for key, value in changed.get(name, {}).items()}
    return p


def through(student: SimpleNamespace, x: object, p: Mapping[str, Any], heads: int = 1, cache: Any = None) -> Any:
    """Return the block's output for one text, as a list."""
    found = as_list(student.block(numbers([x]), p, heads, cache))
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def wrong_part(student: SimpleNamespace) -> Expectation | None:
    """Return the fault if a block calls a norm or an attention that is wrong by itself."""
    norm = called_by(student.block, "layer_norm", language)
    attention = called_by(student.block, "causal_attention", language)
    weights = called_by(attention, "attention_weights", language) or language.attention_weights
    fault = None
    if norm:
        tests = (mean_and_variance, weight_and_bias, something_under_the_root)
        fault = fault_of("language.layer_norm", SimpleNamespace(layer_norm=norm), tests)
    if attention and not fault:
        both = SimpleNamespace(causal_attention=attention, attention_weights=weights)
        tests = (equal_keys, scores_are_scaled, queries_of_the_last_tokens)
        fault = fault_of("language.causal_attention", both, tests)
    return fault


@visible("language.block", BLOCK)
@blaming(wrong_part)
def ways_around(student: SimpleNamespace) -> None:
    """With weights of 0 each half adds its last bias: [1, 2] becomes [1 + 10 + 100, 2 + 20 + 200]."""
    p = parameters(mix={"bias": [10.0, 20.0]}, down={"bias": [100.0, 200.0]})
    meanings = {
        ((110.0, 220.0),): "the block's input is missing in the sum: x + ...",
        ((100.0, 200.0),): "what each half computes is *added* to its input",
        ((101.0, 202.0),): "the second half continues with the sum that the first one has made",
    }
    expect(through(student, [[1.0, 2.0]], p), [[111.0, 222.0]], hint="both halves are added", when=meanings)


@visible("language.block", BLOCK)
@blaming(wrong_part)
def norms_in_front(student: SimpleNamespace) -> None:
    """Attention takes the mean of the *normed* tokens, and the sum is not normed again."""
    value = np.zeros((6, 2))
    value[4:] = np.eye(2)
    p = parameters(qkv={"weight": value}, mix={"weight": np.eye(2)}, norm1={"bias": [5.0, 5.0]})
    hint = "norm1 makes [-1, 1] and [1, -1], and adds 5: the values are [4, 6] and [6, 4], the means [4, 6] and [5, 5]"
    found = through(student, [[1.0, 3.0], [30.0, 10.0]], p)
    meanings = {((6.0, 10.0), (51.5, 28.5)): "norm1 is missing in front of attention"}
    expect(found, [[5.0, 9.0], [35.0, 15.0]], hint=hint, tolerance=1e-3, when=meanings)


@visible("language.block", BLOCK)
@blaming(wrong_part)
def second_half(student: SimpleNamespace) -> None:
    """norm2, then "up", gelu and "down": [1, 3] gets gelu(2 * 1 + 1) in the second place."""
    up, down = np.zeros((8, 2)), np.zeros((2, 8))
    up[0, 1] = down[1, 0] = 1.0
    p = parameters(up={"weight": up, "bias": [1.0] + [0.0] * 7}, down={"weight": down}, norm2={"weight": [2.0, 2.0]})
    gelu = 3.0 * 0.9986501019683699
    meanings = {
        ((1.0, 6.0),): "gelu, not relu",
        ((1.0, 3.0 + 2.0 * 0.9772498680518208),): "the second half has norm2, with weights of its own",
        ((1.0, 3.0 + 4.0 * 0.9999683287581669),): "norm2 is missing in front of the second half",
    }
    expect(
        through(student, [[1.0, 3.0]], p), [[1.0, 3.0 + gelu]], hint="gelu(3) is 2.996", tolerance=1e-4, when=meanings
    )


@visible("language.block", BLOCK)
@blaming(wrong_part)
def second_half_sees_the_first(student: SimpleNamespace) -> None:
    """The first half makes [5, 3] of [1, 3]; the second one norms that, and adds gelu(-1) in the second place."""
    up, down = np.zeros((8, 2)), np.zeros((2, 8))
    up[0, 1] = down[1, 0] = 1.0
    found = through(
        student, [[1.0, 3.0]], parameters(mix={"bias": [4.0, 0.0]}, up={"weight": up}, down={"weight": down})
    )
    gelu = -0.15865525393145707
    meanings = {
        ((5.0, 3.0 + 0.8413447460685429),): "the second half continues with the sum that the first one has made"
    }
    expect(found, [[5.0, 3.0 + gelu]], hint="x = x + ..., and then x + ...", tolerance=1e-4, when=meanings)


class _Remembers:
    """A stand-in for a cache: it has seen one token, whose key is 0 and whose value is [100, 200]."""

    def __init__(self) -> None:
        self.asked = 0

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return the key and the value of that token, and then those given."""
        self.asked += 1
        before = numbers([100.0, 200.0]).view(1, 1, 1, 2)
        return creation.cat([before * 0.0, k], 2), creation.cat([before, v], 2)


@visible("language.block", BLOCK)
@blaming(wrong_part)
def asks_the_cache(student: SimpleNamespace) -> None:
    """With a cache that has seen the value [100, 200], a token with the value 0 gets half of it."""
    cache = _Remembers()
    found = through(student, [[1.0, 2.0]], parameters(mix={"weight": np.eye(2)}), cache=cache)
    expect(cache.asked, 1, hint="cache.extend(k, v) once, before attention")
    expect(found, [[51.0, 102.0]], hint="attend to the keys and values that extend returns")


class _Empty:
    """A stand-in for a cache before the first token. Its length is 0, so it counts as false."""

    def __init__(self) -> None:
        self.length = 0

    def __len__(self) -> int:
        return self.length

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Count the tokens, and return what was given."""
        self.length += k.shape[-2]
        return k, v


@visible("language.block", BLOCK)
@blaming(wrong_part)
def fills_an_empty_cache(student: SimpleNamespace) -> None:
    """An empty cache is asked, too: after three tokens it has three."""
    cache = _Empty()
    through(student, [[1.0, 2.0]] * 3, parameters(), cache=cache)
    meanings = {0: "a cache of length 0 counts as false: `if cache is not None` asks whether there is one"}
    hint = "cache.extend(k, v) once, with all three"
    expect(len(cache), 3, hint=hint, when=meanings, of="the number of tokens in the cache")


# --- loaded dice ----------------------------------------------------------------------------------------------------


def shares(student: SimpleNamespace, logits: Sequence[float], **options: Any) -> list[float]:
    """Return how often each token is drawn, of 1000 times."""
    rng, given = np.random.default_rng(0), np.array(logits, np.float32)
    drawn = [student.sample(given, rng, **options) for _ in range(1000)]
    expect_that(
        all(isinstance(each, int) and not isinstance(each, bool) for each in drawn),
        f"sample returned {type(drawn[0]).__name__}, expected int",
        "int(...) makes a number of Python",
    )
    expect(given.tolist(), np.array(logits, np.float32).tolist(), hint="the logits were changed: work on a copy")
    return [drawn.count(token) / 1000 for token in range(len(logits))]


@visible("language.sample", DICE)
def temperatures(student: SimpleNamespace) -> None:
    """Logits of 0 and log 4 are drawn 1 : 4, at the temperature 2 1 : 2, at 1/2 1 : 16."""
    for temperature, share in ((1.0, 0.8), (2.0, 2 / 3), (0.5, 16 / 17)):
        found = shares(student, [0.0, math.log(4.0)], temperature=temperature)
        hint = f"at the temperature {temperature} the second one has the probability {share:.3f}"
        expect(found[1], share, hint=f"{hint}: softmax(logits / temperature)", tolerance=0.05)


@visible("language.sample", DICE)
def coldest(student: SimpleNamespace) -> None:
    """At the temperature 0 the largest is drawn always, the first of equal ones; logits of 1000 overflow nowhere."""
    with np.errstate(all="raise", under="ignore"):
        seen = shares(student, [1.0, 3.0, 3.0], temperature=0.0)
        expect(seen, [0.0, 1.0, 0.0], hint="argmax, before anything is divided")
        hint = "subtract the largest before the exponential"
        expect(shares(student, [1000.0, 0.0]), [1.0, 0.0], hint=hint)


@visible("language.sample", DICE)
def the_best_two(student: SimpleNamespace) -> None:
    """With top_k=2 of 1 : 2 : 1 : 4 only the second and the fourth are drawn, 1 : 2."""
    found = shares(student, [math.log(each) for each in (1.0, 2.0, 1.0, 4.0)], top_k=2)
    hint = "the two largest logits, and a softmax of these alone"
    expect([found[0], found[2]], [0.0, 0.0], hint=hint)
    expect(found[3], 2 / 3, hint=hint, tolerance=0.05)


# --- what it costs --------------------------------------------------------------------------------------------------


@visible("language.count", COSTS)
def parameters_by_hand(student: SimpleNamespace) -> None:
    """With two characters, and one place, one number in a vector and one block, there are 34 parameters."""
    meanings = {
        23: "a layer has a bias for each number that comes out: 3, 1, 4 and 1 in the block, 2 in the last layer",
        28: "each of the three norms has a weight and a bias",
        33: "places have a table as well",
        30: "the last layer has parameters of its own, two weights and two biases",
    }
    hint = "the tables have 2 + 1, the block 25, the last norm 2 and the last layer 4"
    found = student.count(characters=2, window=1, width=1, blocks=1)
    expect(found[0], 34, hint=hint, when=meanings, of="the parameters")


@visible("language.count", COSTS)
def parameters_that_are_made(student: SimpleNamespace) -> None:
    """The parameters are as many as `initial` makes, and are not made: 10^15 of them are counted as well."""
    made = language.initial(np.random.default_rng(0), 5, 4, 8, 2)
    rest: list[Any] = [made]
    parameters = 0
    while rest:
        each = rest.pop()
        if isinstance(each, Tensor):
            parameters += each.numel()
        else:
            rest += each.values() if isinstance(each, dict) else each
    expect(student.count(5, 4, 8, 2)[0], parameters, hint="go through `initial` line by line", of="the parameters")
    with hinting("count them from the sizes: nothing has to be made", MemoryError):
        found = student.count(10, 10, 10**6, 100)[0]
    expect(found, 1_200_001_332_000_010, of="the parameters")


@visible("language.count", COSTS)
def products_by_hand(student: SimpleNamespace) -> None:
    """Two pieces of two tokens, one number in a vector: 76 multiplications."""
    meanings = {
        60: "attention multiplies, too: queries by keys, and weights by values",
        68: "attention has two products: queries by keys, and weights by values",
        72: "scores that are hidden later have been computed before",
        64: "the last layer makes a logit of each character",
        38: "the batch has two pieces",
        19: "each of the two pieces has two tokens",
    }
    found = student.count(characters=3, window=2, width=1, blocks=1, batch=2)
    hint = "for each of 4 tokens: 12 in the layers of the block, 2 + 2 in attention, 3 in the last layer"
    expect(found[1], 76, hint=hint, when=meanings, of="the multiplications")


@visible("language.count", COSTS)
def bytes_by_hand(student: SimpleNamespace) -> None:
    """The 34 parameters of the first check take 544 bytes."""
    meanings = {
        136: "these are the parameters alone: training keeps a gradient for each, and Adam two means",
        272: "Adam keeps two running means for each parameter",
        408: "Adam keeps two means, of the gradient and of its square",
        1088: "a number of float32 has four bytes",
    }
    found = student.count(characters=2, window=1, width=1, blocks=1)
    expect(found[2], 544, hint="four numbers of four bytes for each", when=meanings, of="the bytes")


# --- nothing twice --------------------------------------------------------------------------------------------------


@contextmanager
def before_the_first_token() -> Iterator[None]:
    """Give a hint to an error that comes of keys or values that are None."""
    try:
        yield
    except (AttributeError, TypeError) as error:
        if "NoneType" not in str(error):
            raise
        with hinting(
            "self.keys and self.values are None before the first token: then what comes is all there is", type(error)
        ):
            raise


@visible("language.generate", TWICE)
def keys_stay(student: SimpleNamespace) -> None:
    """After two calls the cache has the keys and values of both, in their order, along the axis of tokens."""
    cache = student.Cache()
    k, v = numbers(np.arange(4.0).reshape(1, 1, 2, 2)), numbers(np.arange(4.0, 8.0).reshape(1, 1, 2, 2))
    with before_the_first_token():
        cache.extend(k, v)
        keys, values = cache.extend(v, k)
    joined = [[[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]]]
    meanings = {tuple(map(tuple, [((4.0, 5.0), (6.0, 7.0))])): "only the newest are there"}
    expect(as_list(keys), joined, hint="the old keys first, along the axis -2", when=meanings)
    expect(as_list(values), [[[[4.0, 5.0], [6.0, 7.0], [0.0, 1.0], [2.0, 3.0]]]], hint="values beside values")
    hint = "extend must also keep them: self.keys and self.values"
    expect(len(cache), 4, hint=hint, of="the number of tokens in the cache")


class _Counts:
    """A stand-in for a model: the next token is the sum of all tokens so far, modulo 10."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.total = 0

    def __call__(self, tokens: Sequence[int], caches: Sequence[Any]) -> np.ndarray:
        self.given.append(len(tokens))
        self.total += sum(tokens)
        return np.array([float(token == self.total % 10) for token in range(10)])


@visible("language.generate", TWICE)
def each_token_once(student: SimpleNamespace) -> None:
    """The model gets the prompt, and then each new token alone; the last one is never looked at."""
    model = _Counts()
    prompt = [3, 4]
    found = student.generate(model, prompt, 3, lambda logits: int(np.argmax(logits)), [student.Cache()])
    meanings = {
        (2, 3, 4): "the whole text was given each time: the caches have seen the older tokens",
        (2, 1, 1, 1): "nobody asks for a token after the last one",
        (1, 1, 1, 1): "the prompt can be given at once",
    }
    expect(model.given, [2, 1, 1], hint="2 tokens, then 1, then 1", when=meanings)
    expect(list(found), [3, 4, 7, 4, 8], hint="the prompt, and behind it the new tokens")
    expect(prompt, [3, 4], hint="the prompt belongs to the caller: work on a copy")

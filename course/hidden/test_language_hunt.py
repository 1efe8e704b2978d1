"""Hidden tests of a student's test of leaks: what is causal must pass, and what leaks must not."""

import functools

import pytest

from autograder import Hunt, expect

is_causal = functools.partial(pytest.mark.exercise, "language.is_causal")

ATTENTIONS = Hunt("language.causal_attention", "language.is_causal(causal_attention)")

HEAD = """
def weights(q, k, later, axis=-1, hidden=-math.inf):
    scores = (q @ k.mT) / math.sqrt(q.shape[-1])
    later = np.broadcast_to(later, scores.shape)
    return scores.masked_fill(q.from_host(np.array(later)), hidden).softmax(axis)


def after(q, k):
    n, m = q.shape[-2], k.shape[-2]
    return np.arange(m) > np.arange(m - n, m)[:, None]


def causal_attention(q, k, v):
"""

CENTRED_VALUES = (
    HEAD
    + """
    return weights(q, k, after(q, k)) @ (v - v.mean(-2, keepdim=True))
"""
)

FIRST_ROW_ALONE = (
    HEAD
    + """
    later = after(q, k)
    if len(later) > 1:
        later[0, 1 - len(later)] = False
    return weights(q, k, later) @ v
"""
)

LAST_ROW_BUT_ONE = (
    HEAD
    + """
    later = after(q, k)
    later[-2:-1, -1] = False
    return weights(q, k, later) @ v
"""
)

LAST_TOKEN_SEEN = (
    HEAD
    + """
    later = after(q, k)
    later[:, -1] = False
    return weights(q, k, later) @ v
"""
)

LAST_TOKEN_BUT_ONE_SEEN = (
    HEAD
    + """
    later = after(q, k)
    later[:, -2:-1] = False
    return weights(q, k, later) @ v
"""
)

MASK_FOR_THE_LAST_ALONE = (
    HEAD
    + """
    return weights(q, k, after(q, k) & (q.shape[-2] != k.shape[-2])) @ v
"""
)

SUMS_ALONG_THE_QUERIES = (
    HEAD
    + """
    return weights(q, k, after(q, k), axis=-2) @ v
"""
)

NO_MASK_FOR_THE_LAST = (
    HEAD
    + """
    return weights(q, k, after(q, k) & (q.shape[-2] == k.shape[-2])) @ v
"""
)

FIRST_HEAD_HIDES = (
    HEAD
    + """
    later = np.broadcast_to(after(q, k), (*q.shape[:-1], k.shape[-2])).copy()
    if later.ndim > 2:
        later[1:] = False
    return weights(q, k, later) @ v
"""
)

A_SMALL_NUMBER_HIDES = (
    HEAD
    + """
    return weights(q, k, after(q, k), hidden=-12.0) @ v
"""
)


@is_causal(
    group="keys",
    because="language.is_causal: 'Its numbers may be any, as long as no output changes with a later token. A leak may'",
)
def test_strange_ones_that_leak_nothing(student):
    """Scores that are not scaled pass, and so do tokens that do not see themselves; a mask that slipped does not."""
    expect(
        ATTENTIONS(student, "softmax_by_hand", "added_mask", "scores-not-scaled", "blind-to-itself", "look-ahead"),
        ["passes", "passes", "passes", "passes", "refused"],
        example="two right attentions, two that are wrong and leak nothing, and one whose mask has slipped",
        hint="no numbers were asked for: compare an attention with itself",
        misconception="compared-with-ones-own",
    )


@is_causal(
    group="keys",
    because="language.is_causal: 'be small. It may be one of queries, of keys or of values; it may come from the next'",
)
def test_leaks_of_keys_and_of_values(student):
    """A mask behind the softmax leaks keys alone, and a mean of all values leaks values alone: both are refused."""
    expect(
        ATTENTIONS(student, "softmax_by_hand", "masked-after-softmax", CENTRED_VALUES),
        ["passes", "refused", "refused"],
        example="a right attention, one that hides after the softmax, and one that subtracts the mean of all values",
        hint="let later keys change",
        misconception="keys-kept",
        when={("passes", "refused", "passes"): ("values-kept", "let later values change")},
    )


@is_causal(
    group="rows", because="language.is_causal: 'token or from any other one, in some rows, or in some heads alone.'"
)
def test_rows(student):
    """A mask that slipped is refused, and so are leaks of one row, the first or a later one, and of one token."""
    one_row, one_token = (FIRST_ROW_ALONE, LAST_ROW_BUT_ONE), (LAST_TOKEN_SEEN, LAST_TOKEN_BUT_ONE_SEEN)
    expect(
        ATTENTIONS(student, "softmax_by_hand", "look-ahead", *one_row, *one_token),
        ["passes", "refused", "refused", "refused", "refused", "refused"],
        example="a right attention, one whose mask slipped, two of which one row leaks, and two that show one token",
        hint="compare all outputs in front of the place, from the first one on",
        misconception="newest-output-only",
        when={
            ("passes", "passes", "passes", "passes", "refused", "passes"): (
                "last-token-only",
                "each place may be the first one that differs, and each output in front of it may change",
            ),
            ("passes", "refused", "refused", "refused", "refused", "passes"): (
                "last-token-changed",
                "any token may leak: let the others change as well, and not the last one alone",
            ),
            ("passes", "refused", "refused", "passes", "refused", "refused"): (
                "first-output-only",
                "the first output alone is always in front of the place, and a leak may be behind it",
            ),
        },
    )


@is_causal(
    group="queries",
    because="language.is_causal: 'be small. It may be one of queries, of keys or of values; it may come from the next'",
)
def test_leaks_of_queries(student):
    """A softmax along the wrong axis divides by what later queries have found, and is refused."""
    expect(
        ATTENTIONS(student, "softmax_by_hand", SUMS_ALONG_THE_QUERIES),
        ["passes", "refused"],
        example="a right attention, and one with the softmax along the queries",
        hint="a later token has a query, too: let it change with the others",
        misconception="queries-kept",
    )


@is_causal(
    group="queries",
    because="language.is_causal: 'leading axes. There may be fewer queries than keys: they are those of the'",
)
def test_fewer_queries_than_keys(student):
    """Attentions that hide nothing where there are fewer queries than keys, or only there, are refused."""
    expect(
        ATTENTIONS(student, "softmax_by_hand", NO_MASK_FOR_THE_LAST, MASK_FOR_THE_LAST_ALONE),
        ["passes", "refused", "refused"],
        example="a right attention, and two that hide only where there are as many queries as keys, or only where not",
        hint="ask with the queries of the last tokens alone as well",
        misconception="as-many-queries",
        when={("passes", "refused", "passes"): ("fewer-queries-always", "ask with the queries of all tokens, too")},
    )


@is_causal(
    group="heads", because="language.is_causal: 'token or from any other one, in some rows, or in some heads alone.'"
)
def test_heads(student):
    """An attention that hides in the first head alone is refused."""
    expect(
        ATTENTIONS(student, "softmax_by_hand", FIRST_HEAD_HIDES),
        ["passes", "refused"],
        example="a right attention, and one that hides in the first head alone",
        hint="compare along the leading axes as well",
        misconception="first-text-only",
    )


@is_causal(
    group="small",
    because="language.is_causal: 'be small. It may be one of queries, of keys or of values; it may come from the next'",
)
def test_small_leaks(student):
    """Scores of -12 in place of minus infinity leave later keys some millionths, and are refused."""
    expect(
        ATTENTIONS(student, "softmax_by_hand", A_SMALL_NUMBER_HIDES),
        ["passes", "refused"],
        example="a right attention, and one that hides by a score of -12",
        hint="nothing may change, and no rounding comes near the seventh digit",
        misconception="tolerance-too-large",
    )

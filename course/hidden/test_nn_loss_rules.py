"""Hidden tests of the gradient of a cross entropy."""

import functools

import numpy as np
import pytest

from autograder import expect

back = functools.partial(pytest.mark.exercise, "nn.loss_rules.cross_entropy_back")


def slopes(mg, logits, classes):
    """Probe: the student's gradient as a list."""
    return np.asarray(mg.nn.loss_rules.cross_entropy_back(logits, classes)).tolist()


def softmax_of(x, axis=1):
    """Compute the softmax without overflow."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def as_key(array):
    """A table as tuples, which can be the key of a dictionary."""
    return tuple(map(tuple, array.tolist()))


@back(
    group="values",
    because="nn.loss_rules.cross_entropy_back: '-log of the probability that the softmax of its logits gives to its class'",
)
def test_one_row(student):
    """With probabilities of 1/4 and 3/4 and the first class, the slopes are -3/4 and 3/4."""
    expect(
        student(slopes, np.log([[1.0, 3.0]]), np.array([0])),
        [[-0.75, 0.75]],
        hint="a larger logit of the right class makes the loss smaller, one of any other class makes it larger",
        misconception="sign-turned",
        when={
            ((0.25, 0.75),): ("nothing-subtracted", "the logit of the right class stands in the loss twice"),
            ((-0.75, 0.0),): ("right-class-only", "the sum of all powers moves with every logit"),
        },
    )


@back(group="values", because="nn.loss_rules.cross_entropy_back: 'The class of each row'")
def test_rows_by_themselves(student):
    """Each row has its own probabilities and its own class."""
    logits, classes = np.random.default_rng(1).normal(size=(3, 4)), np.array([2, 0, 2])
    wanted = softmax_of(logits)
    wanted[np.arange(3), classes] -= 1.0
    across = softmax_of(logits, 0)
    across[np.arange(3), classes] -= 1.0
    expect(
        student(slopes, logits, classes),
        (wanted / 3.0).tolist(),
        hint="one number of each row has 1 subtracted: a pair of row and class for each",
        misconception="classes-taken-as-columns",
        when={as_key(across / 3.0): ("softmax-across-the-batch", "the probabilities of a row sum to 1")},
    )


@back(
    group="mean",
    because="nn.loss_rules.cross_entropy_back: 'The cross entropy of the batch is the mean of these losses.'",
)
def test_the_mean_of_a_batch(student):
    """In a batch of four rows, each has a quarter of the slopes that it has alone."""
    found = student(slopes, np.zeros((4, 2)), np.array([0, 1, 1, 0]))
    wanted = [[-0.125, 0.125], [0.125, -0.125], [0.125, -0.125], [-0.125, 0.125]]
    expect(
        found,
        wanted,
        hint="a loss counts for 1 / n in the mean, and so do its slopes",
        misconception="not-divided",
        when={
            as_key(np.array(wanted) / 2.0): ("divided-by-all-numbers", "there are n losses, whatever the classes"),
        },
    )


@back(group="stability", because="nn.loss_rules.cross_entropy_back: 'of any size: 1000, say'")
def test_large_logits(student):
    """The slopes for 1000 and 1001 are those for 0 and 1."""
    wanted = softmax_of(np.array([[0.0, 1.0]])) - np.array([[1.0, 0.0]])
    expect(
        student(slopes, np.array([[1000.0, 1001.0]]), np.array([0])),
        wanted.tolist(),
        hint="e^1000 is beyond all floats: take the largest logit of the row away first",
        misconception="overflows",
    )


@back(group="stability", because="nn.loss_rules.cross_entropy_back: 'of any size: 1000, say'")
def test_rows_far_apart(student):
    """Each row is right, although another one is larger by 2000."""
    expect(
        student(slopes, np.array([[1000.0, 1000.0], [-1000.0, -1000.0]]), np.array([0, 1])),
        [[-0.25, 0.25], [0.25, -0.25]],
        hint="with the largest number of all rows taken away, all powers of a row far below are 0, and 0 / 0 is nan",
        misconception="maximum-of-everything",
    )


@back(group="stability", because="nn.loss_rules.cross_entropy_back: 'of any size: 1000, say'")
def test_a_probability_of_zero(student):
    """Where the probability of the right class is 0 as a float, the slopes are -1 and 1."""
    expect(
        student(slopes, np.array([[0.0, 1000.0]]), np.array([0])),
        [[-1.0, 1.0]],
        hint="work with a pencil until no probability is left below the line: p / p is 1, and 0 / 0 is nan",
        misconception="divided-by-the-probability",
    )


@back(
    group="special",
    because="nn.loss_rules.cross_entropy_back: 'They stay as they are.' and 'of the shape and type of the logits'",
)
def test_type_and_logits(student):
    """The gradient of float32 is float32, its numbers are below 1, and the logits are not changed."""

    def observe(mg, logits, classes):
        given = logits.astype(np.float32)
        kept = given.copy()
        found = np.asarray(mg.nn.loss_rules.cross_entropy_back(given, classes))
        sizes = abs(found)
        return [str(found.dtype), list(found.shape), bool((given == kept).all() and 0.1 < sizes.max() < 1.0)]

    expect(
        student(observe, np.array([[1.0, 2.0, 0.5], [3.0, -1.0, 0.0]]), np.array([2, 0])),
        ["float32", [2, 3], True],
        hint="`-=` on the logits changes the caller's array: make a new one",
        misconception="logits-changed",
        when={("float64", (2, 3), True): ("double-precision", "np.eye and np.zeros are float64 and widen the result")},
    )

"""Visible tests of the gradient of a cross entropy, on numbers worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from minigrad.checks.expectation import expect
from minigrad.checks.runner import visible

SLOPE = "09 'The slope of the loss'"


@visible("nn.loss_rules.cross_entropy_back", SLOPE)
def a_quarter_and_three_quarters(student: SimpleNamespace) -> None:
    """The logits 0 and log 3 mean 1/4 and 3/4; if the first class is right, the slopes are -3/4 and 3/4."""
    found = student.cross_entropy_back(np.log([[1.0, 3.0]]), np.array([0]))
    meanings = {
        ((0.75, -0.75),): "a larger logit of the right class makes the loss smaller: its slope is negative",
        ((0.25, 0.75),): "this is the softmax: the logit of the right class stands in the loss once more, by itself",
        ((-0.75, 0.0),): "the sum of the powers moves with every logit, so the other one has a slope, too",
    }
    hint = "what is the slope of log(e^a + e^b) - a, in a and in b?"
    expect(np.asarray(found).tolist(), [[-0.75, 0.75]], hint=hint, when=meanings)


@visible("nn.loss_rules.cross_entropy_back", SLOPE)
def two_rows(student: SimpleNamespace) -> None:
    """Of two rows of equal logits, each has its own class, and half of the slopes that it would have alone."""
    found = student.cross_entropy_back(np.zeros((2, 2)), np.array([1, 0]))
    meanings = {
        ((0.5, -0.5), (-0.5, 0.5)): "the loss is the mean of two rows: each counts for a half",
        ((0.125, -0.125), (-0.125, 0.125)): "the mean is that of two losses, not of four logits",
        ((-0.25, -0.25), (-0.25, -0.25)): "each row has one class: a pair of row and class for each",
    }
    expect(np.asarray(found).tolist(), [[0.25, -0.25], [-0.25, 0.25]], when=meanings)
    found = student.cross_entropy_back(np.log([[1.0, 3.0], [1.0, 1.0]]), np.array([0, 0]))
    hint = "the probabilities of each row sum to 1"
    expect(np.asarray(found).tolist(), [[-0.375, 0.375], [-0.25, 0.25]], hint=hint)


@visible("nn.loss_rules.cross_entropy_back", SLOPE)
def large_logits(student: SimpleNamespace) -> None:
    """Logits of 1000 and of -1000 have slopes as all others, and so has a class of probability 0."""
    found = student.cross_entropy_back(np.array([[1000.0, 1000.0]]), np.array([0]))
    hint = "e^1000 is infinite: take the largest logit of the row away first"
    expect(np.asarray(found).tolist(), [[-0.5, 0.5]], hint=hint)
    found = student.cross_entropy_back(np.array([[1000.0, 1000.0], [-1000.0, -1000.0]]), np.array([0, 0]))
    hint = "take away the largest logit of each row, not that of all rows"
    expect(np.asarray(found).tolist(), [[-0.25, 0.25], [-0.25, 0.25]], hint=hint)
    found = student.cross_entropy_back(np.array([[0.0, 1000.0]]), np.array([0]))
    hint = "the probability of the right class is 0 here: on paper it goes out of the formula before it divides"
    expect(np.asarray(found).tolist(), [[-1.0, 1.0]], hint=hint)


@visible("nn.loss_rules.cross_entropy_back", SLOPE)
def logits_as_they_were(student: SimpleNamespace) -> None:
    """The gradient of float32 is float32, and the logits stay as they are."""
    logits = np.array([[1.0, 2.0]], np.float32)
    found = np.asarray(student.cross_entropy_back(logits, np.array([0])))
    expect(logits.tolist(), [[1.0, 2.0]], hint="`-=` changes the caller's array", of="the logits afterwards")
    expect(str(found.dtype), "float32", hint="np.eye and np.zeros make float64", of="the type of the gradient")

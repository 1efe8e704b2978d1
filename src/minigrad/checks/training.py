"""Visible tests of training: where weights begin, steps of optimizers, batches, and the law that they obey."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks.expectation import expect, hinting
from minigrad.checks.runner import visible

BEGIN = "08b 'Where weights begin'"
VELOCITY = "08b 'A step with a memory'"
ADAM = "08b 'A step for each element'"
LOADER = "08b 'Batches in a new order'"
LAW = "08b 'A test that invents its batches'"


def rounded(values: Any) -> Any:
    """Return numbers to six digits behind the point, as lists."""
    return np.round(np.asarray(values, dtype=np.float64), 6).tolist()


# --- training.initialization --------------------------------------------------------------------------------


@visible("training.initialization", section=BEGIN)
def fans_of_a_linear_layer(student: SimpleNamespace) -> None:
    """Weights of shape (3, 5), from 5 inputs to 3 outputs, have fan_in 5 and fan_out 3."""
    hint = "a linear layer has no window; the product of no sizes is 1, which is what math.prod gives"
    with hinting(hint, ValueError, IndexError, TypeError):
        seen = tuple(student.fans((3, 5)))
    meanings = {(3, 5): "the shape begins with the outputs; fan_in counts what is added up to one output: the inputs"}
    expect(seen, (5, 3), hint=hint, when=meanings)


@visible("training.initialization", section=BEGIN)
def fans_of_a_window(student: SimpleNamespace) -> None:
    """Weights of shape (8, 3, 2, 5), whose windows have ten places, have fan_in 30 and fan_out 80."""
    hint = "multiply with all sizes after the first two"
    meanings = {
        (3, 8): "an output of a convolution adds up the products of the whole window, for each input",
        (3, 80): "the window counts for fan_in as well",
        (12, 32): "a window may be no square: multiply with each of its sizes",
    }
    expect(tuple(student.fans((8, 3, 2, 5))), (30, 80), hint=hint, when=meanings)
    expect(tuple(student.fans((4, 2, 3))), (6, 12), hint="a window may have one axis, or three")


@visible("training.initialization", section=BEGIN)
def by_xavier(student: SimpleNamespace) -> None:
    """From 5 inputs to 3 outputs Xavier's deviation is the root of 1/4."""
    meanings = {
        0.25: "this is the variance; the deviation is its root",
        0.353553: "the mean of 5 and 3 is 4, their sum is 8",
        0.447214: "fan_out counts, too",
    }
    hint = "the root of 1 over the mean of both fans"
    expect(round(float(student.xavier_std((3, 5))), 6), 0.5, hint=hint, when=meanings)


@visible("training.initialization", section=BEGIN)
def by_kaiming(student: SimpleNamespace) -> None:
    """Behind a ReLU and with 8 inputs Kaiming's deviation is the root of 2/8, with 2 inputs it is 1."""
    meanings = {
        0.25: "this is the variance; the deviation is its root",
        0.353553: "ReLU leaves half of the mean square: it is made up for by twice the variance",
        0.707107: "fan_in is the second size here, 8",
    }
    hint = "the root of 2 over fan_in"
    expect(round(float(student.kaiming_std((4, 8))), 6), 0.5, hint=hint, when=meanings)
    expect(round(float(student.kaiming_std((4, 2))), 6), 1.0, hint=hint)


@visible("training.initialization", section=BEGIN)
def by_kaiming_with_a_slope(student: SimpleNamespace) -> None:
    """A leaky ReLU with slope 1 changes nothing, so the variance is 1 over fan_in."""
    meanings = {0.707107: "slope is not used: a leaky ReLU leaves more than half"}
    seen = round(float(student.kaiming_std((3, 4), 1.0)), 6)
    expect(seen, 0.5, hint="with slope 1 both halves stay whole", when=meanings)
    meanings = {0.57735: "a half that is multiplied by the slope has its squares multiplied by the square of it"}
    seen = round(float(student.kaiming_std((3, 4), 0.5)), 6)
    expect(seen, 0.632456, hint="half of the squares stay, the others become slope**2 of themselves", when=meanings)


# --- training.sgd_step --------------------------------------------------------------------------------------


@visible("training.sgd_step", section=VELOCITY)
def a_first_step(student: SimpleNamespace) -> None:
    """From rest, a gradient of 3 with lr 0.1 moves a parameter from 2 to 1.7, and the velocity is 3."""
    meanings = {
        (2.3, 3.0): "uphill: the parameter moves against the velocity",
        (2.0, 3.0): "the parameter moves by the new velocity, not by the old one",
        (1.7, 0.3): "the velocity adds up gradients; lr comes in where the parameter moves",
        (1.85, 1.5): "the velocity takes the whole gradient in; momentum is for the old velocity",
    }
    seen = _numbers(student.sgd_step(np.array([2.0]), np.array([3.0]), np.array([0.0]), 0.1, 0.5))
    expect(seen, (1.7, 3.0), hint="velocity = momentum * velocity + grad, then p - lr * velocity", when=meanings)


@visible("training.sgd_step", section=VELOCITY)
def a_second_step(student: SimpleNamespace) -> None:
    """With a velocity of 4 and momentum 0.5, the same gradient makes it 5, and the step 0.5."""
    meanings = {
        (1.7, 3.0): "the old velocity counts: momentum times it",
        (1.6, 5.0): "the step goes along the new velocity",
        (1.45, 5.5): "momentum multiplies the old velocity, not the gradient",
    }
    given = np.array([2.0]), np.array([3.0]), np.array([4.0])
    expect(_numbers(student.sgd_step(*given, 0.1, 0.5)), (1.5, 5.0), hint="0.5 * 4 + 3 is 5", when=meanings)
    hint = "`v *= ...` and `v += ...` change an array in place; make a new one"
    expect([float(each[0]) for each in given], [2.0, 3.0, 4.0], hint=hint)


@visible("training.sgd_step", section=VELOCITY)
def a_step_of_numbers(student: SimpleNamespace) -> None:
    """Plain numbers have a step, too."""
    hint = "use +, - and * alone, which numbers and arrays both have"
    with hinting(hint, AttributeError, TypeError):
        expect(tuple(rounded(student.sgd_step(2.0, 3.0, 4.0, 0.1, 0.5))), (1.5, 5.0), hint=hint)


def _numbers(arrays: Any) -> tuple[float, ...]:
    """Return the numbers of arrays of one element."""
    return tuple(round(float(np.asarray(each).reshape(-1)[0]), 6) for each in arrays)


# --- training.adam_step -------------------------------------------------------------------------------------


def _adam(student: SimpleNamespace, p: float, grad: float, mean: float, square: float, *settings: Any) -> Any:
    """Take a step with arrays of one element."""
    with np.errstate(all="ignore"):
        return _numbers(student.adam_step(*(np.array([x]) for x in (p, grad, mean, square)), *settings))


@visible("training.adam_step", section=ADAM)
def running_means(student: SimpleNamespace) -> None:
    """With betas 0.5 and 0.75, a mean of 2 and a gradient of 4 give 3; a square of 8 and one of 16 give 10."""
    meanings = {
        (5.0, 10.0): "the mean takes 1 - beta of the gradient, not all of it",
        (2.5, 12.0): "the first beta is the mean's, the second the square's",
        (3.0, 8.25): "the square of the gradient, not that of the mean",
        (4.0, 22.857143): "return the means as they are; the corrected ones serve for the step alone",
    }
    seen = _adam(student, 1.0, 4.0, 2.0, 8.0, 2, 0.1, (0.5, 0.75))[1:]
    expect(seen, (3.0, 10.0), hint="0.5 * 2 + 0.5 * 4, and 0.75 * 8 + 0.25 * 16", when=meanings)


@visible("training.adam_step", section=ADAM)
def the_first_step(student: SimpleNamespace) -> None:
    """Whatever the gradient is, the first step has the length of lr: from 1 to 0.75 with lr 0.25."""
    meanings = {
        1.25: "uphill: the parameter moves against the mean",
        0.209431: "neither mean is corrected: at the first step they are 0.1 and 0.001 of what they should be",
        -6.905694: "the square is not corrected: it began at 0, as the mean did",
        0.9975: "divide by the root of the square",
    }
    hint = "mean / (1 - betas[0]**step) is the gradient then, and the square its square"
    expect(_adam(student, 1.0, 100.0, 0.0, 0.0, 1, 0.25)[0], 0.75, hint=hint, when=meanings)
    seen = rounded(student.adam_step(*np.array([[1.0, 1.0], [100.0, -0.5], [0.0, 0.0], [0.0, 0.0]]), 1, 0.25)[0])
    expect(seen, [0.75, 1.25], hint="each element has a divisor of its own: nothing is summed over the elements")


@visible("training.adam_step", section=ADAM)
def a_later_step(student: SimpleNamespace) -> None:
    """At step 2 the corrections are 1 - 0.5**2 and 1 - 0.75**2: from 1 with lr 0.1 to 0.916334."""
    meanings = {0.905132: "the correction changes from step to step: 1 - beta**step"}
    seen = _adam(student, 1.0, 4.0, 2.0, 8.0, 2, 0.1, (0.5, 0.75))[0]
    expect(seen, 0.916334, hint="0.1 * (3 / 0.75) / the root of (10 / 0.4375)", when=meanings)


@visible("training.adam_step", section=ADAM)
def where_eps_is_added(student: SimpleNamespace) -> None:
    """With a corrected mean of 4, a root of 4 and an eps of 4, a step of lr 1 has the length 1/2."""
    meanings = {
        0.0: "eps is not used",
        0.105573: "eps is added to the root, not to the square",
        0.666667: "correct the square first, then take its root, then add eps",
    }
    hint = "the root of the corrected square, plus eps"
    expect(_adam(student, 1.0, 4.0, 0.0, 0.0, 1, 1.0, (0.5, 0.75), 4.0)[0], 0.5, hint=hint, when=meanings)
    seen = _adam(student, 1.0, 0.0, 0.0, 0.0, 1)[0]
    expect(seen, 1.0, hint="where all gradients were 0, 0 / (0 + eps) is 0: the parameter stays")


@visible("training.adam_step", section=ADAM)
def the_decay(student: SimpleNamespace) -> None:
    """Without gradients, lr 0.25 and weight decay 0.25 take a sixteenth of the parameter away."""
    meanings = {
        2.0: "the decay is not used",
        1.75: "the decay has the gradient's way, and is divided by its own size: take it from p directly",
        1.5: "lr times weight_decay of it",
    }
    hint = "lr * weight_decay * p, apart from the gradient's step"
    seen = _adam(student, 2.0, 0.0, 0.0, 0.0, 1, 0.25, (0.9, 0.999), 1e-8, 0.25)
    expect(seen[0], 1.875, hint=hint, when=meanings)
    meanings = {1.3125: "the decay is a share of the old parameter, not of what the step has made of it"}
    seen = _adam(student, 2.0, 1.0, 0.0, 0.0, 1, 0.5, (0.9, 0.999), 1e-8, 0.25)
    expect(seen[0], 1.25, hint="2 - 0.5 - 0.5 * 0.25 * 2", when=meanings)


@visible("training.adam_step", section=ADAM)
def arguments_stay(student: SimpleNamespace) -> None:
    """What was handed in is as it was before."""
    given = [np.array([x]) for x in (1.0, 4.0, 2.0, 8.0)]
    student.adam_step(*given, 2)
    hint = "`mean *= beta` changes an array in place; `mean = beta * mean + ...` makes a new one"
    expect([float(each[0]) for each in given], [1.0, 4.0, 2.0, 8.0], hint=hint)


# --- training.Batches ---------------------------------------------------------------------------------------


class _Orders:
    """A generator that gives known orders, and counts."""

    def __init__(self, *orders: list[int]) -> None:
        self.orders = list(orders)
        self.asked = 0

    def permutation(self, count: int) -> Any:
        """Return the next order."""
        self.asked += 1
        return np.array(self.orders[(self.asked - 1) % len(self.orders)][:count])


def _epoch(batches: Any) -> list[list[int]]:
    return [[int(number) for number in batch] for batch in batches]


@visible("training.Batches", section=LOADER)
def in_their_own_order(student: SimpleNamespace) -> None:
    """Without a generator six examples in twos are 0 1, 2 3, 4 5, in every epoch."""
    made = student.Batches(6, 2)
    expect(
        [type(batch).__name__ for batch in made], ["list"] * 3, hint="a batch is a list: make one of the order first"
    )
    whole = [[0, 1], [2, 3], [4, 5]]
    expect(_epoch(made), whole, hint="where rng is None the order is range(count)")
    expect(_epoch(made), whole, hint="each `for` loop calls __iter__ anew: begin a new epoch there")


@visible("training.Batches", section=LOADER)
def in_a_new_order(student: SimpleNamespace) -> None:
    """With a generator every epoch has the order that it gives, and asks for it once."""
    rng = _Orders([2, 0, 3, 1], [1, 3, 0, 2])
    hint = "call self.rng.permutation(self.count), and take its numbers in their order"
    with hinting(hint, AttributeError):
        made = student.Batches(4, 2, rng)
        expect(rng.asked, 0, hint="ask for an order when an epoch begins, not when the object is made")
        expect(_epoch(made), [[2, 0], [3, 1]], hint=hint)
        expect(_epoch(made), [[1, 3], [0, 2]], hint="the second epoch has a new order: ask for it in __iter__")
        expect(rng.asked, 2, hint="one order for each epoch: ask once, not for each batch")


@visible("training.Batches", section=LOADER)
def the_rest(student: SimpleNamespace) -> None:
    """Of five examples in twos the last is a batch of its own, and with drop_last it is left out."""
    meanings = {
        ((0, 1), (2, 3)): "without drop_last the rest is a batch, too",
        ((0, 1), (2, 3), (4, 0)): "no example comes twice",
    }
    expect(
        _epoch(student.Batches(5, 2)), [[0, 1], [2, 3], [4]], hint="a slice beyond the end is shorter", when=meanings
    )
    expect(_epoch(student.Batches(5, 2, _Orders([0, 1, 2, 3, 4])))[-1:], [[4]], hint="with a generator, too")
    expect(_epoch(student.Batches(5, 2, drop_last=True)), [[0, 1], [2, 3]], hint="with drop_last it is left out")
    expect(_epoch(student.Batches(4, 2, drop_last=True)), [[0, 1], [2, 3]], hint="a last batch that is whole stays")
    expect(_epoch(student.Batches(0, 2)), [], hint="of no examples there are no batches")


@visible("training.Batches", section=LOADER)
def how_many(student: SimpleNamespace) -> None:
    """Five examples in twos are three batches, or two with drop_last; four are two."""
    meanings = {5: "the number of batches, not that of examples", 2: "the shorter batch counts, too"}
    expect(len(student.Batches(5, 2)), 3, hint="two whole ones and the rest", when=meanings)
    expect(len(student.Batches(5, 2, drop_last=True)), 2, hint="what is left out is not counted")
    expect(len(student.Batches(4, 2)), 2, hint="where batch_size divides count there is no rest")


@visible("training.Batches", section=LOADER)
def two_at_once(student: SimpleNamespace) -> None:
    """Two loops over the same object do not disturb each other."""
    made = student.Batches(4, 2)
    pairs = [[_epoch([a])[0], _epoch([b])[0]] for a, b in zip(made, made, strict=False)]
    hint = "keep the place in a variable of __iter__, not in self"
    expect(pairs, [[[0, 1], [0, 1]], [[2, 3], [2, 3]]], hint=hint)


# --- training.is_epoch --------------------------------------------------------------------------------------


def _verdict(student: SimpleNamespace, *arguments: Any) -> bool:
    return bool(student.is_epoch(*arguments))


@visible("training.is_epoch", section=LAW)
def epochs(student: SimpleNamespace) -> None:
    """Every example once, in any order, is an epoch; so is a shorter last batch, and none of no examples."""
    expect(_verdict(student, [[3, 0], [2, 1]], 4, 2), True, hint="the order is free")
    expect(_verdict(student, [[3, 0], [2, 1], [4]], 5, 2), True, hint="the last batch may be shorter")
    expect(_verdict(student, [], 0, 2), True, hint="no examples, no batches")


@visible("training.is_epoch", section=LAW)
def wrong_examples(student: SimpleNamespace) -> None:
    """An example that is missing, comes twice, or does not exist is noticed."""
    expect(_verdict(student, [[0, 1], [3, 4]], 5, 2), False, hint="2 is missing")
    expect(_verdict(student, [[0, 1], [1, 2]], 4, 2), False, hint="1 comes twice, and 3 is missing")
    hint = "1 comes twice; a set forgets that"
    expect(_verdict(student, [[0, 1], [1, 2]], 3, 2), False, hint=hint)
    expect(_verdict(student, [[0, 4], [1, 2]], 4, 2), False, hint="there is no example 4 of 4: they begin at 0")
    expect(_verdict(student, [[0, -1], [1, 2]], 4, 2), False, hint="there is no example -1")


@visible("training.is_epoch", section=LAW)
def wrong_sizes(student: SimpleNamespace) -> None:
    """A batch that is too long, short before the end, or empty is noticed."""
    expect(_verdict(student, [[0, 1], [2, 3, 4]], 5, 2), False, hint="the last batch has more than batch_size numbers")
    expect(_verdict(student, [[0], [1, 2], [3, 4]], 5, 2), False, hint="only the last batch may be shorter")
    expect(_verdict(student, [[0, 1], [2, 3], []], 4, 2), False, hint="the last batch may have fewer, but not none")


@visible("training.is_epoch", section=LAW)
def with_drop_last(student: SimpleNamespace) -> None:
    """With drop_last the rest may be missing, a whole batch may not, and a shorter one is wrong."""
    expect(_verdict(student, [[4, 1], [0, 3]], 5, 2, True), True, hint="fewer than batch_size may be missing")
    expect(_verdict(student, [[4, 1]], 5, 2, True), False, hint="three are missing, more than a rest")
    expect(_verdict(student, [[0, 1], [2, 3], [4]], 5, 2, True), False, hint="drop_last leaves the shorter batch out")

"""The visible checks of lesson 08b name the mistake."""

import pytest
from visible import COURSE, check

from autograder.building.slicing import slice_exercise
from autograder.course.answers import wrong_answers
from autograder.course.loading import DEFAULT_COURSE
from minigrad import exercises
from minigrad.errors import ExerciseNotDone
from minigrad.exercises import install

EXERCISES = [each.id for each in COURSE.of_lesson("08b_training")]

KNOWN = [
    ("training.initialization", "fan-out-taken", "fan_in is the second size here, 8"),
    ("training.initialization", "fans-exchanged", "the shape begins with the outputs; fan_in counts"),
    ("training.initialization", "gain-forgotten", "ReLU leaves half of the mean square: it is made"),
    ("training.initialization", "slope-ignored", "slope is not used: a leaky ReLU leaves more than"),
    ("training.initialization", "slope-not-squared", "a half that is multiplied by the slope has its"),
    ("training.initialization", "sum-for-mean", "the mean of 5 and 3 is 4, their sum is 8"),
    ("training.initialization", "variance-returned", "this is the variance; the deviation is its root"),
    ("training.initialization", "window-always-expected", "a linear layer has no window; the product of no"),
    ("training.initialization", "window-at-fan-out-only", "the window counts for fan_in as well"),
    ("training.initialization", "window-ignored", "an output of a convolution adds up the products"),
    ("training.initialization", "window-taken-for-square", "a window may be no square: multiply with each of"),
    ("training.initialization", "xavier-without-fan-out", "fan_out counts, too"),
    ("training.sgd_step", "arguments-changed", "`v *= ...` and `v += ...` change an array in"),
    ("training.sgd_step", "arrays-only", "use +, - and * alone, which numbers and arrays"),
    ("training.sgd_step", "momentum-at-the-gradient", "the velocity takes the whole gradient in"),
    ("training.sgd_step", "old-velocity-used", "the parameter moves by the new velocity, not by"),
    ("training.sgd_step", "rate-in-the-velocity", "the velocity adds up gradients; lr comes in"),
    ("training.sgd_step", "uphill", "uphill: the parameter moves against the velocity"),
    ("training.sgd_step", "velocity-as-mean", "the velocity takes the whole gradient in"),
    ("training.sgd_step", "velocity-forgotten", "the old velocity counts: momentum times it"),
    ("training.adam_step", "arguments-changed", "`mean *= beta` changes an array in place; `mean"),
    ("training.adam_step", "betas-exchanged", "the first beta is the mean's, the second the"),
    ("training.adam_step", "corrected-by-one-step", "the correction changes from step to step: 1 -"),
    ("training.adam_step", "corrected-means-returned", "return the means as they are; the corrected ones"),
    ("training.adam_step", "decay-by-the-gradient", "the decay has the gradient's way, and is divided"),
    ("training.adam_step", "decay-ignored", "the decay is not used"),
    ("training.adam_step", "decay-of-the-new-value", "the decay is a share of the old parameter, not"),
    ("training.adam_step", "decay-without-rate", "lr times weight_decay of it"),
    ("training.adam_step", "eps-before-the-correction", "correct the square first, then take its root"),
    ("training.adam_step", "eps-ignored", "eps is not used"),
    ("training.adam_step", "eps-only-where-it-is-large", "where all gradients were 0, 0 / (0 + eps) is 0"),
    ("training.adam_step", "eps-under-the-root", "eps is added to the root, not to the square"),
    ("training.adam_step", "not-corrected", "neither mean is corrected: at the first step"),
    ("training.adam_step", "one-size-for-all", "each element has a divisor of its own: nothing"),
    ("training.adam_step", "root-forgotten", "divide by the root of the square"),
    ("training.adam_step", "square-not-corrected", "the square is not corrected: it began at 0, as"),
    ("training.adam_step", "square-of-the-mean", "the square of the gradient, not that of the mean"),
    ("training.adam_step", "uphill", "uphill: the parameter moves against the mean"),
    ("training.adam_step", "whole-gradient-added", "the mean takes 1 - beta of the gradient, not all"),
    ("training.Batches", "batches-no-lists", "a batch is a list: make one of the order first"),
    ("training.Batches", "drop-last-ignored", "with drop_last it is left out"),
    ("training.Batches", "empty-batch-of-nothing", "of no examples there are no batches"),
    ("training.Batches", "length-not-of-batches", "the number of batches, not that of examples"),
    ("training.Batches", "length-rounded-down", "the shorter batch counts, too"),
    ("training.Batches", "length-without-drop-last", "what is left out is not counted"),
    ("training.Batches", "one-more-always", "where batch_size divides count there is no rest"),
    ("training.Batches", "one-order-for-ever", "ask for an order when an epoch begins, not when"),
    ("training.Batches", "order-asked-too-often", "ask for an order when an epoch begins, not when"),
    ("training.Batches", "order-not-the-generators", "call self.rng.permutation(self.count), and take"),
    ("training.Batches", "place-kept-in-self", "keep the place in a variable of __iter__, not in"),
    ("training.Batches", "rest-filled-up", "no example comes twice"),
    ("training.Batches", "rest-left-out", "without drop_last the rest is a batch, too"),
    ("training.Batches", "shuffled-without-a-generator", "where rng is None the order is range(count)"),
    ("training.Batches", "used-up", "where rng is None the order is range(count)"),
    ("training.Batches", "whole-last-dropped", "a last batch that is whole stays"),
    ("training.is_epoch", "drop-last-forgives-all", "three are missing, more than a rest"),
    ("training.is_epoch", "drop-last-not-known", "fewer than batch_size may be missing"),
    ("training.is_epoch", "empty-not-noticed", "the last batch may have fewer, but not none"),
    ("training.is_epoch", "missing-not-noticed", "2 is missing"),
    ("training.is_epoch", "numbers-only-counted", "there is no example 4 of 4: they begin at 0"),
    ("training.is_epoch", "order-demanded", "the order is free"),
    ("training.is_epoch", "short-in-spite-of-drop-last", "drop_last leaves the shorter batch out"),
    ("training.is_epoch", "short-in-the-middle", "only the last batch may be shorter"),
    ("training.is_epoch", "short-last-refused", "the last batch may be shorter"),
    ("training.is_epoch", "too-long-not-noticed", "the last batch has more than batch_size numbers"),
    ("training.is_epoch", "twice-not-noticed", "1 comes twice, and 3 is missing"),
]


def test_every_mistake_is_listed():
    """There is a line above for each known-wrong answer of the lesson."""
    files = {(id, mistake) for id in EXERCISES for mistake in wrong_answers(DEFAULT_COURSE, id)}
    assert files == {(id, mistake) for id, mistake, _ in KNOWN}


@pytest.mark.parametrize(("id", "mistake", "words"), KNOWN, ids=[f"{id}/{mistake}" for id, mistake, _ in KNOWN])
@pytest.mark.full("every mistake of a lesson is checked", share=4)
def test_the_hint_fits_the_mistake(id, mistake, words):
    """Some check fails, and its hint speaks of this mistake."""
    report = check(id, wrong_answers(DEFAULT_COURSE, id)[mistake])
    assert any(words in result.hint for result in report.results if not result.passed), str(report)


@pytest.mark.parametrize("id", EXERCISES)
def test_no_check_needs_another_exercise(id):
    """Where the other exercises raise ExerciseNotDone, the checks of a right answer still pass."""

    def unwritten(other):
        def raises(*_, **__):
            raise ExerciseNotDone(other)

        return type("Batches", (), {"__init__": raises}) if other == "training.Batches" else raises

    others = [name for other in EXERCISES if other != id for name in exercises.get(other).objects]
    with install({other: unwritten(other) for other in others}):
        report = check(id, slice_exercise(COURSE, id).reference_cell)
    assert report.passed, str(report)

"""Predictions that lessons ask for: kept before a cell is run, answered by that cell, counted by `minigrad progress`.

A lesson asks in a cell of its own, `minigrad.predict("blocks-for-ten", ...)`. A student writes the prediction in the
place of the three dots. The cell that finds the true value says so: `minigrad.predict("blocks-for-ten", truth=(3, 2))`.
Nothing happens there without a prediction, so that a notebook runs from top to bottom with nobody before it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from minigrad.errors import MinigradError
from minigrad.exercises.telling import Told, told
from minigrad.tutor.keeping import Part, now

__all__ = ["FORMS", "counted", "predict"]


@dataclass(frozen=True)
class Form:
    """What a prediction consists of, and how near it must be.

    Attributes:
        of: What is predicted: a name for each value.
        choices: The values that there are; numbers if it is empty.
        within: How far a number may be from the true one, as a share of that.
    """

    of: tuple[str, ...]
    choices: tuple[Any, ...] = ()
    within: float = 1e-3

    def __str__(self) -> str:
        kind: Told = f"one of {', '.join(map(repr, self.choices))}" if self.choices else "a number"
        each = f"{kind} each, as {'(..., ...)' if len(self.of) == 2 else '(..., ..., and so on)'}"
        near = f"; {self.within:.0%} more or less is near enough" if self.within >= 0.01 and not self.choices else ""
        wanted = told((kind if len(self.of) == 1 else each) + near)
        return f"{', '.join(map(told, self.of))} ({wanted})"

    def values(self, given: Any) -> list[Any] | None:
        """Return what was given as a list of plain values, one for each name; None if it has another form."""
        found = _listed(given)
        if self.choices:
            known = {str(each).lower(): each for each in self.choices}
            found = [known.get(str(each).lower()) for each in found]
        elif not all(isinstance(each, float) or (isinstance(each, int) and abs(each) < 1e300) for each in found):
            return None  # an int that no float can hold is none that can be compared
        return found if len(found) == len(self.of) and None not in found else None

    def is_right(self, predicted: list[Any], truth: list[Any]) -> bool:
        """Return whether each value is the true one, or near enough."""
        if self.choices:
            return predicted == truth
        return all(
            math.isclose(mine, true, rel_tol=0.0, abs_tol=self.within * abs(true))
            for mine, true in zip(predicted, truth, strict=True)
        )


def _numbers(*of: str, within: float = 1e-3) -> Form:
    return Form(of, within=within)


def _one_of(choices: tuple[Any, ...], *of: str) -> Form:
    return Form(of, choices)


_IS_IT = (True, False)
_AFTER_LAYERS = ("smaller", "same", "larger")
_PRODUCTS = ("addition", "polynomial", "product, yours", "product by tiles", "product, NumPy")

FORMS: Mapping[str, Form] = {
    "nan-compared": _one_of(_IS_IT, "nan < 1", "nan > 1", "nan == nan", "nan != nan"),
    "folds-of-nothing": _numbers("the sum", "the product"),
    "five-questions": _numbers(
        "question 1", "question 2", "the top in question 3", "both slopes in question 5: x", "y", within=0.01
    ),
    "two-arrows": _numbers("the first arrow's slope", "the second one's", "their product"),
    "breadth-first": _numbers("what arrives at x"),
    "shared-by-reshape": _one_of(_IS_IT, "x", "x.T", "x[:2]", "x[:, :2]"),
    "diagonal-and-column": _numbers("the diagonal's stride", "the column's stride", "the column's offset"),
    "shapes-together": _numbers("four sizes: the first", "second", "third", "fourth"),
    "product-and-sum": _numbers("z[0]", "z[1]"),
    "reads-of-a-sum": _numbers("reads of an element of the column", "of the row"),
    "reads-of-a-product": _numbers("all reads of 2."),
    "a-bias-of-one": _one_of(("an error", "wrong gradients", "right gradients"), "what happens"),
    "eight-tensors": _one_of(("constant", "parameter", "result"), *"abcdefgh"),
    "twelve-runs": _one_of(("equal", "different"), "the numbers of wrong copies in twelve runs"),
    "six-loops": _one_of(_IS_IT, "a race in backwards", "neighbours", "in_place", "in_pairs", "the_largest", "marks"),
    "best-tile": _numbers("the side of the best tile", within=0.5),
    "nearest-the-roof": _one_of(_PRODUCTS, "what comes nearest its roof"),
    "blocks-for-ten": _numbers("blocks", "the thread of element 6 in its block"),
    "threads-left-over": _numbers("threads left over"),
    "turned-round": _one_of(("a guard", "a barrier", "nothing"), "what is missing"),
    "padded-passes": _numbers("passes, to write and to read"),
    "reads-with-tiles": _numbers("reads of each element"),
    "thirty-layers": _one_of(_AFTER_LAYERS, "scale 0.01", "scale 0.05", "scale 0.1", "scale 1"),
    "trials-to-the-limit": _numbers("trials"),
    "first-step-of-adam": _numbers("for a gradient of 100, in units of lr", "for one of 0.01"),
    "paler-images": _numbers("percent by the test set itself", "percent by the training set", within=0.1),
    "runs-and-passes": _numbers("of the loss: runs", "passes", "of the curve: runs", "passes of it"),
    "limit-of-the-bowl": _numbers("the rate", within=0.01),
    "price-of-pieces": _numbers("times as long", within=0.25),
    "operations-needed": _numbers("operations"),
    "times-recorded": _numbers("with a number of Python", "with np.float32"),
    "slopes-of-equal-logits": _numbers("in a wrong one of ten equal logits", "in the right one", within=0.01),
    "one-loop-for-nine": _numbers("times as fast", within=0.5),
    "loss-of-poems": _numbers("loss on lines not seen", within=0.1),
    "odds": _numbers("at the temperature 2, 1 to", "at 1/2, 1 to"),
    "compiled-step": _numbers("times as fast", within=0.25),
    "tokens-worked-on": _numbers("tokens without a cache", "with one"),
    "to-bfloat16": _numbers("1.004", "1.0039", "1 + 2**-8"),
    "where-sums-stop": _numbers("in float16", "in bfloat16"),
    "steps-skipped": _numbers("steps skipped"),
    "first-gradient": _one_of(("A", "B"), "the matrix whose gradient is not 0"),
    "lower-than-adapters": _one_of(("seen", "kept", "both", "none"), "songs on which the loss is lower"),
    "bytes-passed-around": _numbers("bytes that each worker sends"),
    "sent-by-a-ring": _numbers("arrays that each of 8 workers sends"),
    "two-means": _numbers("the mean of both means", "the slope of the mean loss"),
    "ends-of-schedules": _numbers("ms with one bucket", "with each alone", "with pairs"),
    "bytes-when-shared": _numbers("bytes on the right, as a multiple of those on the left", within=0.01),
    "two-and-four-processes": _numbers("time of a step by 2 processes, in units of 1 process", "by 4", within=0.25),
}
"""Every prediction that a lesson asks for."""


@dataclass(frozen=True)
class Prediction:
    """A prediction, and what became of it.

    Attributes:
        value: What was predicted, as a list.
        at: When, in UTC.
        truth: The true value when it was first seen, as a list; empty until then.
        right: Whether it was near enough.
    """

    value: list[Any]
    at: str = ""
    truth: tuple[Any, ...] | list[Any] = ()
    right: bool = False


def _made(fields: Mapping[str, Any]) -> Prediction:
    value, truth = list(fields["value"]), list(fields.get("truth", ()))
    return Prediction(value, str(fields.get("at", "")), truth, bool(fields.get("right")))


_PREDICTIONS = Part("predictions", _made)
_session: dict[str, Prediction] = {}  # of a student without a working folder


def predict(id: str, value: Any = ..., *, truth: Any = ...) -> None:
    """Keep a prediction, until the cell that has the true value answers it.

    The first prediction that is answered counts: a later one does not change it.

    Args:
        id: The prediction's name, as the lesson has it.
        value: What you predict; without it, the form that is asked for is printed.
        truth: The true value. The lesson's own cells give it.

    Raises:
        MinigradError: If no lesson asks for such a prediction, or the id is no text.

    >>> minigrad.predict("steps-skipped", ...)
    To predict, in the place of the three dots: steps skipped (a number).
    """
    if not isinstance(id, str):
        raise MinigradError(f"predict: the first argument is a prediction's name, such as 'steps-skipped'; got {id!r}")
    form = FORMS.get(id)
    if form is None:
        near = difflib.get_close_matches(id, FORMS, 1)
        raise MinigradError(f"predict({id!r}): no lesson asks for this{f'; is it {near[0]!r}?' if near else ''}")
    if truth is not ...:
        _answer(id, form, truth)
    elif value is ...:
        print(told(f"To predict, in the place of the three dots: {form}."))
    else:
        _keep(id, form, value)


def counted(start: Path | None = None) -> tuple[int, int]:
    """Return how many predictions were right, and how many were answered."""
    answered = [each.right for each in _PREDICTIONS.read(start).values() if each.truth]
    return sum(answered), len(answered)


def _keep(id: str, form: Form, value: Any) -> None:
    values, before = form.values(value), _known(id)
    if values is None:
        print(told(f"Not kept: {value!r} is not what is asked for, {form}."))
    elif before and before.truth:
        print(told(f"You predicted {_said(before.value)} before you saw {_said(before.truth)}: that one counts."))
    else:
        _note(id, Prediction(values, now()))
        print(told(f"Kept: {_said(values)}. Run the next cells, and see."))


def _answer(id: str, form: Form, truth: Any) -> None:
    true, known = form.values(truth), _known(id)
    if true is None:
        raise MinigradError(f"predict({id!r}): the truth {truth!r} is not of the form {form}")
    if known is None:
        return
    right = form.is_right(known.value, true)
    if not known.truth:
        _note(id, replace(known, truth=true, right=right))
    print(told(f"You predicted {_said(known.value)}. It is {_said(true)}{': right.' if right else '.'}"))


def _known(id: str) -> Prediction | None:
    kept = _PREDICTIONS.read().get(id) or _session.get(id)
    return kept if kept and FORMS[id].values(kept.value) else None  # the file may hold another form


def _note(id: str, prediction: Prediction) -> None:
    _session[id] = prediction
    _PREDICTIONS.change(id, lambda _: prediction)


def _said(values: list[Any] | tuple[Any, ...]) -> str:
    return ", ".join(f"{each:.4g}" if isinstance(each, float) else str(each) for each in values)


def _listed(given: Any) -> list[Any]:
    """Return numbers, words and truth values, out of an array or nested sequences, in one list."""
    plain = given.tolist() if hasattr(given, "tolist") else given
    return [each for part in plain for each in _listed(part)] if isinstance(plain, list | tuple) else [plain]

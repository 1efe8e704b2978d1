"""Answers given without calling anything: what could be earned by someone who forges every frame and knows no answer.

The frames of a session can be forged by the code that runs in it, so a hidden test whose wanted value is a lone True or
0 proves nothing. Each guess here is put before every hidden test, in the place of a sandbox; no group of points may be
had by guesses, even where each of its tests gets the guess that suits it best.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autograder.course import Course, Exercise
from autograder.judging.plugin import HiddenTests
from autograder.judging.warm_tests import WarmTests
from autograder.sandbox import Observation

Guess = Callable[[list[Any]], Any]
"""Makes an answer from the arguments of a question."""


def _always(value: Any) -> Guess:
    return lambda _: value


_PLAIN = (None, True, False, 0, 1, 2, 0.0, 1.0, 2.0, "", "ValueError", "IndexError")
_LISTS: tuple[Any, ...] = (
    [],
    [True] * 2,
    [True] * 3,
    [False] * 2,
    [0.0] * 2,
    [0.0] * 3,
    [1.0],
    [1.0] * 2,
    [0] * 2,
    [1] * 2,
    [0, 1],
)
_MIXED: tuple[Any, ...] = ([True, False], [False, True], [[]], [[0.0]] * 2, [0, []], [[True] * 3, 0.0])

GUESSES: Mapping[str, Guess] = {
    **{repr(value): _always(value) for value in (*_PLAIN, *_LISTS, *_MIXED)},
    "the arguments": lambda args: args,
    "the first argument": lambda args: args[0] if args else None,
    "the last argument": lambda args: args[-1] if args else None,
}

_NESTED: Any = 0.0
for _ in range(45):
    _NESTED = [_NESTED]

JUNK: Mapping[str, Guess] = {
    "a huge integer": _always(10**900),
    "huge sizes": _always([10**9] * 3),
    "a nest": _always(_NESTED),
    "a long text": _always("x" * 10**6),
    "a long list": _always([float("nan")] * 10**5),
    "a dictionary": _always({"d": {"npy": None}}),
    "an empty array": _always(np.zeros((0, 3))),
    "a large array": _always(np.zeros((1000, 1000))),
    "integers that are no index": _always([-(2**63), 2**63 - 1, -1]),
    "mixed types": _always([None, "x", [True, {}], np.float64(1.0), np.array(True)]),
}


class _Guesser:
    """Stands for a session: every question gets a guess."""

    def __init__(self, guess: Guess) -> None:
        self._guess = guess

    def observe(self, _probe: bytes, args: list[Any]) -> Observation:
        """A guess."""
        return Observation(ok=True, value=self._guess(args))


def passed_by(
    course: Course, exercise: Exercise, guesses: Mapping[str, Guess], hidden: Path | None = None
) -> dict[str, dict[str, list[str]]]:
    """The names of guesses that each hidden test of an exercise takes for right, by group and test."""
    groups = {each.id: tuple(each.groups) for each in course.exercises.values()}
    tests = WarmTests(exercise.id, groups, hidden or course.hidden)
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for name, guess in guesses.items():
        plugin = HiddenTests(exercise.id, groups, _Guesser(guess), lambda _: b"", course.seed, 0)
        for verdict in tests.run(plugin):
            found[verdict.group].setdefault(verdict.test, []).extend([name] if verdict.passed else [])
    return found


def won_by_guessing(course: Course, hidden: Path | None = None) -> Iterator[tuple[Exercise, list[str]]]:
    """Each exercise, with a sentence for each group of points that guesses could earn."""
    for exercise in course.exercises.values():
        if not exercise.points:
            continue
        by_group = passed_by(course, exercise, GUESSES, hidden)
        won = [group for group, tests in by_group.items() if tests and all(tests.values())]
        how = {group: "; ".join(f"{test} by {each[0]}" for test, each in by_group[group].items()) for group in won}
        yield exercise, [f"{exercise.id}: the group {group} can be guessed: {said}" for group, said in how.items()]

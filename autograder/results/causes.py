"""The mistake that a failed test shows: only one that is known to look like this.

Many mistakes fail the same test, so the misconception that a test carries is a guess. It is confirmed if the test saw
the same of the known wrong answer of that name, and if no test passed that this wrong answer fails.
`autograder verify --record` keeps these findings beside the answers, and `verify` proves the rule on pairs of mistakes.

One mistake costs one group of points: failures that a named mistake explains are counted in the group of the test that
names it. This does not apply where no test passes, nor to mistakes that are no work at all. `wrong/kinds.toml` says
which these are, and which are about something small, which may cost a quarter of an exercise at most.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from autograder.results import Graded

SEEN = Path("wrong", "seen.json")
"""The record's place, beside the folder of hidden tests."""

KINDS = Path("wrong", "kinds.toml")
"""The place of what known mistakes are about, where that is something special; beside the folder of hidden tests."""

SMALL = ("corner", "rounding", "second derivative", "style")
"""Kinds of mistakes that cost a quarter of an exercise at most, in whatever group they fall."""

NO_WORK = "no work"
"""The kind of a mistake that an answer without work makes as well: it costs every group in which it shows."""

Seen = Mapping[str, Mapping[str, Mapping[str, str]]]
"""For each exercise and misconception: the tests that its wrong answer fails, and the essence of what each saw."""

_GENERATED = "by `autograder verify --record` from hidden/ and wrong/; do not edit"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")
_ADDRESS = re.compile(r"0x[0-9a-f]+|\b\d{12,}\b")
PLACE = re.compile(r" \((cell|line) .*\)$", re.DOTALL)
# Half of all mistakes give one of these: enough only for a mistake that accounts for every failed test.
_TELLS_LITTLE = re.compile(r"got (True|False|None|0|1)( at \S+)?")


def essence(reason: str) -> str:
    """Return a test's finding without the parts that differ between two answers that make the same mistake.

    Examples:
        >>> essence("got 0.30000000000000004")
        'got 0.3'
    """
    rounded = _NUMBER.sub(lambda found: f"{float(found[0]):.6g}", reason)
    return PLACE.sub("", _ADDRESS.sub("an address", rounded))


def confirmed(graded: Graded, seen: Mapping[str, Mapping[str, str]], no_work: Collection[str] = ()) -> Graded:
    """The same result, in which failed tests whose misconception is known to fit are marked.

    Each failure that such a mistake explains is marked with the one group that it costs: of those whose tests name the
    mistake, the one with most points. The points are not counted anew (`judging.scoring`).

    The fewest mistakes that account for what was seen are taken: one that shows only where another one shows too
    is not named, and of two that look the same neither is.

    Args:
        graded: The result of an exercise.
        seen: For each misconception of the exercise, what the tests that its wrong answer fails saw.
        no_work: Misconceptions that cost each group in which they show.
    """
    points = {group.name: group.points for group in graded.groups}
    failed = {verdict.test: verdict for verdict in graded.verdicts if not verdict.passed}
    passed = {verdict.test for verdict in graded.verdicts if verdict.passed}
    saw = {test: essence(verdict.reason) for test, verdict in failed.items()}
    possible = {name: tests for name, tests in seen.items() if passed.isdisjoint(tests)}
    explained = {name: {test for test in saw if tests.get(test) == saw[test]} for name, tests in possible.items()}
    explained = {
        name: tests
        for name, tests in explained.items()
        if not any(tests <= others for rival, others in explained.items() if rival != name)
    }
    naming = {name: {t for t in tests if failed[t].misconception == name} for name, tests in explained.items()}
    fitting = [
        name
        for name, tests in naming.items()
        if any(not _TELLS_LITTLE.fullmatch(saw[test]) for test in tests) or (tests and explained[name] == set(saw))
    ]
    known, accounted, cost = set[str](), set[str](), dict[str, str]()
    for name in sorted(fitting, key=lambda name: (-len(explained[name]), name)):
        if not naming[name] <= accounted:
            known |= naming[name]
            accounted |= explained[name]
            group = max(sorted(failed[test].group for test in naming[name]), key=lambda each: points.get(each, 0.0))
            if passed and name not in no_work:  # where no test passed, nothing of the exercise is done
                elsewhere = {test for test in explained[name] if failed[test].group != group}
                cost = {**dict.fromkeys(elsewhere, group), **cost}
    marked = (
        replace(each, confirmed=each.test in known, counted_in=cost.get(each.test, "")) for each in graded.verdicts
    )
    return replace(graded, verdicts=tuple(marked))


def read_kinds(file: Path) -> Mapping[str, Mapping[str, str]]:
    """Read for each exercise the mistakes that are of a special kind, and that kind.

    Raises:
        ValueError: If the file is no TOML, has another kind, or another form.
    """
    if not file.is_file():
        return {}
    kinds: dict[str, dict[str, str]] = {}
    for kind, exercises in tomllib.loads(file.read_text(encoding="utf-8")).items():
        if kind not in (*SMALL, NO_WORK):
            raise ValueError(f"{file}: there is no kind {kind!r}; the kinds are {', '.join((*SMALL, NO_WORK))}")
        for exercise, names in exercises.items():
            kinds.setdefault(exercise, {}).update(dict.fromkeys(names, kind))
    return kinds


def read_seen(file: Path) -> Seen:
    """Read the record; without one, or with one that is damaged, no cause is known."""
    exercises: Seen = _read(file).get("exercises", {})
    return exercises


def read_fingerprints(file: Path) -> Mapping[str, str]:
    """Read for each exercise of the record the hash of the tests and wrong answers that it was made from."""
    fingerprints: Mapping[str, str] = _read(file).get("of", {})
    return fingerprints


def _read(file: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def seen_text(seen: Seen, fingerprints: Mapping[str, str] | None = None) -> str:
    """The record as the text of its file.

    Args:
        seen: The findings.
        fingerprints: For each exercise a hash of the tests and wrong answers that they were made from.
    """
    of = f',\n"of":{lines_of(fingerprints)}' if fingerprints else ""
    return f'{{"generated":{json.dumps(_GENERATED)},\n"exercises":{lines_of(seen, sort_keys=True)}{of}}}\n'


def lines_of(entries: Mapping[str, Any], *, sort_keys: bool = False) -> str:
    """A JSON object with a line for each entry, by the order of their keys.

    Args:
        entries: The object.
        sort_keys: Whether the objects in it are sorted too.

    Examples:
        >>> print(lines_of({"b": 1, "a": [2, 3]}))
        {
        "a":[2,3],
        "b":1
        }
    """
    text = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)
    return "{\n" + ",\n".join(f"{text(key)}:{text(value)}" for key, value in sorted(entries.items())) + "\n}"

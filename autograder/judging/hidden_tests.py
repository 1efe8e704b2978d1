"""The files of hidden tests, and what each test says of itself: what it grades, for which points, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from autograder.course.answers import VARIANTS, WRONG, files_of_answers
from autograder.judging.student import HiddenTestError
from autograder.results import Verdict

_HUNT = re.compile(r'\bHunt\(\s*"([\w.]+)"')
"""The exercise whose answers a hunt judges, which is another one than the test is for."""


def files_of(exercise: str | None, hidden: Path) -> list[Path]:
    """The files of hidden tests that mention an exercise: the only ones worth collecting for it."""
    files = sorted(hidden.glob("test_*.py"))
    if exercise is None:
        return files
    return [file for file in files if exercise in _HUNT.sub("", file.read_text(encoding="utf-8"))]


def files_of_hunts(tests: Iterable[Path]) -> list[Path]:
    """The files of known answers that some files of hidden tests hand to students' tests, see `hunting`."""
    hunted = [(file.parents[1], name) for file in tests for name in _HUNT.findall(file.read_text(encoding="utf-8"))]
    found = (files_of_answers(folder, kind, name) for folder, name in hunted for kind in (VARIANTS, WRONG))
    return list(dict.fromkeys(file for files in found for file in files))


def described(item: pytest.Item, groups: Mapping[str, Iterable[str]]) -> tuple[str, Verdict]:
    """The exercise that a test is for, and the verdict of a submission that passes it.

    Args:
        item: The test.
        groups: For each exercise of the course, the names of its groups.

    Raises:
        HiddenTestError: If the test lacks what a report needs, or need not decide.
    """
    where = f"{item.path.name}: {item.name}"
    markers = list(item.iter_markers("exercise"))
    if len(markers) != 1 or len(markers[0].args) != 1:
        raise HiddenTestError(f"{where}: has no single @pytest.mark.exercise(ID, group=..., because=...); add it")
    for name in ("skip", "skipif", "xfail"):
        if item.get_closest_marker(name):
            raise HiddenTestError(f"{where}: is marked {name}; a hidden test must decide")
    exercise, marker = markers[0].args[0], markers[0]
    if exercise not in groups:
        raise HiddenTestError(f"{where}: grades {exercise!r}, which course.toml does not list")
    group, because = marker.kwargs.get("group"), marker.kwargs.get("because")
    if not isinstance(group, str) or group not in groups[exercise]:
        known = ", ".join(groups[exercise])
        raise HiddenTestError(f"{where}: group {group!r} is not one of {exercise}'s groups: {known}")
    if not isinstance(because, str) or not because.strip():
        raise HiddenTestError(f"{where}: has no because=, the sentence that it enforces")
    if marker.kwargs.get("show", "wanted") != "wanted":
        raise HiddenTestError(f'{where}: show={marker.kwargs["show"]!r}; write "wanted" or leave it out')
    title = _title(item)
    if not title:
        raise HiddenTestError(f"{where}: has no docstring, the fact that it expects")
    name = getattr(item, "originalname", item.name) + _case(item)
    return exercise, Verdict(name, title, group, because.strip(), passed=True)


def watched_groups(items: Sequence[pytest.Item]) -> frozenset[str]:
    """The groups of points, among those of these tests, that rest on what a witness inside the sandbox reports.

    A file of hidden tests names them in its `WATCHED`.
    """
    groups = set[str]()
    for item in items:
        marker = item.get_closest_marker("exercise")
        watched = getattr(getattr(item, "module", None), "WATCHED", ())
        groups |= {marker.kwargs["group"]} & set(watched) if marker else set()
    return frozenset(groups)


def _title(item: pytest.Item) -> str:
    """The first paragraph of a test's docstring, and its case where it has several."""
    function = getattr(item, "obj", None)
    paragraph = (getattr(function, "__doc__", None) or "").strip().split("\n\n")[0]
    title = " ".join(paragraph.split())
    return f"{title} {_case(item)}".strip() if title else ""


def _case(item: pytest.Item) -> str:
    """The number of a parametrised test's case; pytest's own id would show parameters, and wanted values with them."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return ""
    return f"[{'.'.join(str(index + 1) for index in dict.fromkeys(callspec.indices.values()))}]"

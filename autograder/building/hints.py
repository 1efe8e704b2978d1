"""The hints of `course/hints`: read, refused where they say too little or too much, bundled for the library.

A lesson's author writes `course/hints/NN_lesson.toml`, with three texts for each exercise of the lesson:

    ["autodiff.chain_rule"]
    nudge = "Where to look."
    idea = "The idea in words, no code."
    outline = "The steps, never the answer's own lines."

From the first released lesson that has hints, every released exercise needs them; drafts may wait for their lessons.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.building.slicing import squeeze, telling_lines
from autograder.course import Course, CourseError, Exercise

Hints = Mapping[str, Mapping[str, str]]

TIERS = ("nudge", "idea", "outline")
"""The texts of an exercise, in the order in which the library shows them."""


def hints_json(course: Course) -> str | None:
    """Return what the library's `hint` reads, as JSON; None for a course without a folder of hints.

    Raises:
        CourseError: If a hint is missing, empty, of no exercise, or gives the answer away.
    """
    if not _folder(course).is_dir():
        return None
    content = {
        "generated": f"from {course.directory.name}/hints by `autograder build`; do not edit",
        "hints": load_hints(course),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def load_hints(course: Course) -> Hints:
    """Return the texts of all hints, by exercise, in the order of course.toml.

    Raises:
        CourseError: As `hints_json`.
    """
    found: dict[str, Mapping[str, str]] = {}
    for path in sorted(_folder(course).glob("*.toml")):
        for exercise_id, texts in _read(path).items():
            exercise = _exercise(course, path, exercise_id)
            found[exercise_id] = _texts(path, exercise, texts)
            _check_leaks(course, path, exercise, found[exercise_id])
    begun = any(exercise.id in found for exercise in course.released)  # drafts get theirs with their lessons
    for exercise in course.released if begun else ():
        if exercise.id not in found:
            raise CourseError(
                f"hints/{exercise.lesson}.toml: has no hints for {exercise.id!r}; add a table "
                f'["{exercise.id}"] with {", ".join(TIERS)}'
            )
    return {exercise_id: found[exercise_id] for exercise_id in course.exercises if exercise_id in found}


def _folder(course: Course) -> Path:
    return course.directory / "hints"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(f"hints/{path.name}: is not TOML: {error}; correct that place") from error


def _exercise(course: Course, path: Path, exercise_id: str) -> Exercise:
    exercise = course.exercises.get(exercise_id)
    if exercise is None:
        raise CourseError(
            f"hints/{path.name}: there is no exercise {exercise_id!r}; correct the name, "
            'which stands in quotes: ["autodiff.chain_rule"]'
        )
    if exercise.lesson != path.stem:
        raise CourseError(f"hints/{path.name}: {exercise_id!r} belongs into hints/{exercise.lesson}.toml; move it")
    return exercise


def _texts(path: Path, exercise: Exercise, texts: Any) -> dict[str, str]:
    where = f"hints/{path.name}: {exercise.id}"
    if not isinstance(texts, dict) or set(texts) != set(TIERS):
        raise CourseError(f"{where}: needs exactly {', '.join(TIERS)}; write these three")
    for tier in TIERS:
        if not isinstance(texts[tier], str) or not texts[tier].strip():
            raise CourseError(f"{where}: {tier!r} says nothing; write a text")
    return {tier: "\n".join(line.rstrip() for line in texts[tier].strip("\n").split("\n")) for tier in TIERS}


def _check_leaks(course: Course, path: Path, exercise: Exercise, texts: Mapping[str, str]) -> None:
    """Refuse a hint that holds a line of the answer, however it is laid out."""
    answer = telling_lines(course, exercise)
    for tier in TIERS:
        text = squeeze(texts[tier])
        line = next((line for line in answer if squeeze(line) in text), None)
        if line is not None:
            raise CourseError(
                f"hints/{path.name}: {exercise.id}: {tier!r} holds {line!r}, a line of the answer; say it in words"
            )

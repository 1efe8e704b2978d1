"""Results of grading, as plain data: one value object for each level of a report.

A `Submission` holds one `Graded` for each exercise, which holds `GroupScore`s (where points come from)
and `Verdict`s (one for each hidden test). `as_json` and `from_json` take them to plain JSON and
back. Nothing here ever holds a test's source, nor a wanted value unless the test's author shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from autograder.common.unforeseen import UNGRADED

__all__ = [
    "NOT_BEGUN",
    "NOT_STARTED",
    "NO_CELL",
    "Example",
    "Graded",
    "GroupScore",
    "Submission",
    "Verdict",
    "format_points",
]

NOT_STARTED, NO_CELL = "this exercise was not started", "there is no cell for this exercise"

NOT_BEGUN = frozenset({NOT_STARTED, NO_CELL})
"""The reasons of an exercise that nobody tried."""


@dataclass(frozen=True)
class Example:
    """An input with which a test failed, and what came of it, in words that need no test to be read.

    Attributes:
        given: The inputs: pairs of a name and a value; a description alone has the name ``""``.
        came: The answer of the student's code; empty where it gave no answer.
        wanted: The right value, where the test's author shows it.
        picture: A picture as plain data, which `autograder.results.pictures` draws.
        withheld: Why the example is not shown; everything else is empty then.
        derived: Whether the inputs may be made of what the student's code had answered before.
    """

    given: tuple[tuple[str, str], ...] = ()
    came: str = ""
    wanted: str = ""
    picture: Mapping[str, Any] | None = None
    withheld: str = ""
    derived: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Example:
        """The inverse of `asdict`, by way of JSON."""
        given = tuple((str(name), str(value)) for name, value in data["given"])
        return cls(given, data["came"], data["wanted"], data["picture"], data["withheld"], data["derived"])


@dataclass(frozen=True)
class Verdict:
    """The finding of one hidden test.

    Attributes:
        test: The test's name, for instructors and for `verify`.
        title: The test's docstring: the fact it expects.
        group: The group of points it belongs to.
        because: The sentence of a lesson or a docstring that it enforces.
        passed: Whether the fact holds.
        reason: The finding, in words for the student.
        hint: Advice on where to look.
        misconception: The misconception it shows, in kebab-case.
        failure: The sandbox's word for what kept the code from answering (``"timeout"``, ``"error"``, ...).
        confirmed: Whether the misconception is known to look like what was seen.
        example: The smallest input with which it failed.
        counted_in: The group that this failure costs, where a mistake that is known explains it and costs another
            group than the test's own; else empty.
    """

    test: str
    title: str
    group: str
    because: str
    passed: bool
    reason: str = ""
    hint: str = ""
    misconception: str = ""
    failure: str = ""
    confirmed: bool = False
    example: Example | None = None
    counted_in: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Verdict:
        """The inverse of `asdict`, by way of JSON."""
        example = data.get("example")
        return cls(**{**data, "example": None if example is None else Example.from_json(example)})


@dataclass(frozen=True)
class GroupScore:
    """Points of one group of tests: all of them, or none."""

    name: str
    points: float
    earned: float


@dataclass(frozen=True)
class Graded:
    """The result of one exercise.

    Attributes:
        exercise: The exercise's id.
        points: The points that it is worth.
        groups: Where the points come from.
        verdicts: The finding of each hidden test; empty where nothing could be tested.
        reason: Why nothing could be tested, for the student; empty where tests ran.
        notes: Remarks for the student about the cells.
        events: Events that the sandbox had to contain, for the instructor.
    """

    exercise: str
    points: float
    groups: tuple[GroupScore, ...]
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()

    @property
    def earned(self) -> float:
        """The points earned."""
        return sum(group.earned for group in self.groups)

    @property
    def full(self) -> bool:
        """True if each point was earned."""
        return all(group.earned == group.points for group in self.groups)

    @property
    def lost(self) -> str:
        """Why an answer that is right does not earn every point: what was seen, in at most three parts."""
        failed = [f"{verdict.test}: {verdict.reason}" for verdict in self.verdicts if not verdict.passed]
        parts = [part for part in (self.reason, *self.notes, *failed) if part]
        rest = f"; and {len(parts) - 3} more" if len(parts) > 3 else ""
        return "; ".join(parts[:3]) + rest

    @property
    def is_ungraded(self) -> bool:
        """True if the grader itself failed at it."""
        return self.reason.startswith(UNGRADED)

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The failed tests as a report shows them: first those whose misconception is known to fit.

        The others say what was seen. They give no hint, because a hint says what mistake was made.
        """
        failed = [verdict for verdict in self.verdicts if not verdict.passed]
        known = [verdict for verdict in failed if verdict.confirmed]
        others = [replace(verdict, hint="", misconception="") for verdict in failed if not verdict.confirmed]
        return (*known, *others)

    def as_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return {"earned": self.earned, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Graded:
        """The inverse of `as_json`.

        Raises:
            KeyError: If a field is missing.
            TypeError: If a field is unknown.
        """
        return cls(
            exercise=data["exercise"],
            points=data["points"],
            groups=tuple(GroupScore(**group) for group in data["groups"]),
            verdicts=tuple(Verdict.from_json(verdict) for verdict in data["verdicts"]),
            reason=data["reason"],
            notes=tuple(data["notes"]),
            events=tuple(data.get("events", ())),
        )


@dataclass(frozen=True)
class Submission:
    """The result of one notebook.

    Attributes:
        lesson: The notebook's lesson.
        exercises: One result for each of its exercises, in the course's order.
        notes: The repairs of the notebook as a whole, and the parts that were ignored.
        unreadable: Why the notebook could not be read; empty where it could.
        language: The language that the notebook says it is in, such as "zh_CN"; empty for English.
    """

    lesson: str
    exercises: tuple[Graded, ...]
    notes: tuple[str, ...] = ()
    unreadable: str = ""
    language: str = ""

    @property
    def earned(self) -> float:
        """The points earned in the whole notebook."""
        return sum(exercise.earned for exercise in self.exercises)

    @property
    def points(self) -> float:
        """The points there are in the whole notebook."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def ungraded(self) -> tuple[str, ...]:
        """A sentence for each exercise at which the grader itself failed, for the instructor."""
        return tuple(f"{each.exercise}: {each.reason}" for each in self.exercises if each.is_ungraded)

    def as_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return {
            "lesson": self.lesson,
            "earned": self.earned,
            "points": self.points,
            "unreadable": self.unreadable,
            "notes": list(self.notes),
            "exercises": [exercise.as_json() for exercise in self.exercises],
            **({"language": self.language} if self.language else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Submission:
        """The inverse of `as_json`.

        Raises:
            KeyError: If a field is missing.
            TypeError: If a field is unknown.
        """
        exercises = tuple(Graded.from_json(exercise) for exercise in data["exercises"])
        return cls(data["lesson"], exercises, tuple(data["notes"]), data["unreadable"], data.get("language", ""))


def format_points(points: float) -> str:
    """Points as people write them: 2 rather than 2.0."""
    return f"{points:g}"

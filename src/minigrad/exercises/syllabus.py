"""The exercises of the course, in its order."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minigrad.errors import UnknownExercise

if TYPE_CHECKING:
    from minigrad.exercises.telling import Told


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes:
        id: Its name, for example ``"autodiff.chain_rule"``.
        lesson: The lesson that places it, for example ``"02_chain_rule"``.
        objects: What the student writes: dotted names inside ``minigrad``.
        points: The points that a grader gives for it.
        uses: Packages that it cannot be run without, for example ``"numba"``.
        draft: Whether its lesson is still being written.
        minutes: What it takes an average student; 0 if the course does not say.
        difficulty: From 1 to 5; 0 if the course does not say.
        rank: "core", "more" or "stretch"; "" if the course does not say.

    >>> minigrad.exercises.get("autodiff.backpropagate").objects
    ('autodiff.backpropagate',)
    """

    id: str
    lesson: str
    objects: tuple[str, ...]
    points: float
    uses: tuple[str, ...] = ()
    draft: bool = False
    minutes: int = 0
    difficulty: int = 0
    rank: str = ""

    @property
    def header(self) -> str:
        """What the line above it in the notebook says; "" if the course does not say it.

        >>> minigrad.exercises.get("autodiff.chain_rule").header
        'about 20 minutes, difficulty 3 of 5, core'
        """
        if not self.rank:
            return ""
        return (
            f"about {self.minutes} minutes, difficulty {self.difficulty} of 5, "
            f"{'core' if self.rank == 'core' else 'more' if self.rank == 'more' else 'stretch'}"
        )


@cache
def catalogue() -> Mapping[str, Exercise]:
    """Return all exercises by id, in the order of the course.

    >>> list(minigrad.exercises.catalogue())[0]
    'operators.arithmetic'
    """
    return {each["id"]: _exercise(each) for each in course()["exercises"]}


def _exercise(each: Mapping[str, Any]) -> Exercise:
    uses, draft = tuple(each.get("uses", ())), bool(each.get("draft"))
    header = each.get("minutes", 0), each.get("difficulty", 0), each.get("rank", "")
    return Exercise(each["id"], each["lesson"], tuple(each["objects"]), float(each["points"]), uses, draft, *header)


def get(id: str) -> Exercise:
    """Return the exercise with that id.

    Raises:
        UnknownExercise: If there is none; the message names ids that look alike.

    >>> minigrad.exercises.get("autodiff.chain_rule").lesson
    '02_chain_rule'
    """
    known = catalogue()
    if id == "":
        raise UnknownExercise('which exercise? Give its id, for example "autodiff.chain_rule"')
    if callable(id):
        raise UnknownExercise(f"an exercise is named by a text: write {_named_like(id)}, with the quotes")
    if not isinstance(id, str):
        raise UnknownExercise(f"there is no exercise {id!r}; one is named by a text, such as 'autodiff.chain_rule'")
    if id not in known:
        near = named(id) or difflib.get_close_matches(id, known, n=3, cutoff=0.4)
        meant = f"did you mean {' or '.join(near)}?" if near else f"the exercises are {', '.join(known)}"
        raise UnknownExercise(f"there is no exercise {id!r}; {meant}")
    return known[id]


def named(name: str) -> list[str]:
    """Return the ids that a short name may stand for: the end of an id, or a function, with its module or without.

    >>> from minigrad.exercises.syllabus import named
    >>> named("permute"), named("operators.mul"), named("sum")
    (['tensor_data.permute'], ['operators.arithmetic'], ['operators.folds'])
    """
    return [
        each.id
        for each in catalogue().values()
        if name in each.objects or name in {part.rpartition(".")[2] for part in (each.id, *each.objects)}
    ]


def meant(name: str) -> str:
    """Return the id of the exercise that a name stands for: an id, or a short name of one exercise alone.

    Raises:
        UnknownExercise: If there is none, or if several may be meant.

    >>> from minigrad.exercises.syllabus import meant
    >>> meant("max")
    'operators.comparison'
    """
    found = [] if callable(name) or name in catalogue() else named(name)
    return found[0] if len(found) == 1 else get(name).id


def _named_like(function: Any) -> str:
    """Return the ids, as Python writes them, of the exercises that ask for a function of that name."""
    name = getattr(function, "__name__", "")
    asked = (each for each in catalogue().values() if any(o.rpartition(".")[2] == name for o in each.objects))
    return " or ".join(f'"{each.id}"' for each in asked) or '"autodiff.chain_rule", for example'


@cache
def course() -> dict[str, Any]:
    """Return what `autograder build` told the library of the course."""
    content: dict[str, Any] = json.loads((Path(__file__).parents[1] / "course.json").read_text(encoding="utf-8"))
    return content


def minutes_of(lesson: str) -> int:
    """Return the minutes that a lesson takes, reading and exercises together; 0 if the course does not say.

    >>> from minigrad.exercises.syllabus import minutes_of
    >>> minutes_of("08_gpu")
    375
    """
    return next((int(each.get("minutes", 0)) for each in course()["lessons"] if each["name"] == lesson), 0)


def in_hours(minutes: int) -> str:
    """Return minutes as people say them.

    >>> from minigrad.exercises.syllabus import in_hours
    >>> in_hours(150), in_hours(45), in_hours(120)
    ('2 h 30 min', '45 min', '2 h')
    """
    hours, rest = divmod(minutes, 60)
    said: Told = f"{hours} h {rest} min" if hours and rest else f"{hours} h" if hours else f"{rest} min"
    return said


def assignment_words(name: str) -> str:
    """Return an assignment with its title and its lessons.

    >>> from minigrad.exercises.syllabus import assignment_words
    >>> assignment_words("module1")
    'module1 (Autodiff, lessons 01 to 03)'
    """
    found = next(each for each in course()["assignments"] if each["name"] == name)
    numbers = [lesson.partition("_")[0] for lesson in found["lessons"]]
    which = f"lesson {numbers[0]}" if len(numbers) == 1 else f"lessons {numbers[0]} to {numbers[-1]}"
    return f"{name} ({found['title']}, {which})"

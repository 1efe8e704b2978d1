"""The attacks on another course than minigrad's: those that need nothing of minigrad are handed in there too.

Attacks are written against one exercise of minigrad's first lesson. While one is made for another course, an exercise
of that course lends its place to it under those names; what is handed in has the other course's names again, and its
right and wrong answers. An attack that takes something of minigrad, or is about another exercise, does not apply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import nbformat

from autograder.building.slicing import slice_exercise
from autograder.course import Course, CourseError
from autograder.library import MINIGRAD
from autograder.proof.attack.model import ARITHMETIC, LESSON, RIGHT, RIGHT_POINTS, WRONG, Attack, Files, Link, Released
from autograder.proof.hollow import hollow_answers

_LIBRARYS = re.compile(rb"(import|from) minigrad\b|minigrad\.\w")
_ANSWERED = "add = mul = lambda x, y: "  # how answers that say all the same begin (`truth`)
_TOLD = "mul = neg = add"  # how answers end that raise what the system said (`system`)


@dataclass(frozen=True)
class Target:
    """The exercise that hostile submissions answer, rightly or wrongly.

    Attributes:
        exercise: Its id.
        lesson: Its lesson.
        objects: The names that its cell defines.
        points: Its points.
        right: A right answer.
        wrong: A wrong one.
    """

    exercise: str = ARITHMETIC
    lesson: str = LESSON
    objects: tuple[str, ...] = ("add", "mul", "neg")
    points: float = RIGHT_POINTS
    right: str = RIGHT
    wrong: str = WRONG


def target_of(course: Course) -> Target:
    """Return the exercise of a course that is attacked: its first one that brings points.

    The wrong answer returns None everywhere, which `verify` proves to be worth nothing.

    Raises:
        CourseError: If it has none.
    """
    if course.library == MINIGRAD:
        return Target()
    exercise = next((each for each in course.released if each.points), None)
    if exercise is None:
        raise CourseError(f"{course.path.name}: no exercise brings points, so that none can be attacked")
    answer = slice_exercise(course, exercise.id)
    names = tuple(each.rpartition(".")[2] for each in exercise.objects)
    _, nothing = next(hollow_answers(answer.reference_cell))
    wrong = nothing.partition("\n")[2]
    return Target(exercise.id, exercise.lesson, names, exercise.points, answer.reference, wrong)


def applied(attacks: Iterable[Attack], target: Target, released: Released) -> Iterator[Attack]:
    """Yield the attacks that apply to a target, as they are handed in there."""
    for attack in attacks:
        if target == Target():
            yield attack
        elif not attack.exercise and attack.lesson == LESSON and attack.honest in (0.0, RIGHT_POINTS):
            moved = _moved(attack, target)
            if _applies(moved.hand_in(released), target):
                yield moved


def _moved(attack: Attack, target: Target) -> Attack:
    def hand_in(released: Released) -> Files:
        notebook = nbformat.from_dict(json.loads(_swapped(json.dumps(released[target.lesson]), _names(target))))
        files = attack.hand_in({LESSON: notebook})
        return {name.replace(LESSON, target.lesson): _as_there(content, target) for name, content in files.items()}

    points = target.points if attack.honest else 0.0
    return replace(attack, hand_in=hand_in, lesson=target.lesson, honest=points, naive="")


def _names(target: Target) -> list[tuple[str, str]]:
    """Pairs of a name of the target's course and the name that it has while an attack is made."""
    ids = (target.exercise, ARITHMETIC), (target.exercise.replace(".", "-"), ARITHMETIC.replace(".", "-"))
    return [*ids, (target.lesson, LESSON)]


def _swapped(text: str, names: Iterable[tuple[str, str]]) -> str:
    for ours, theirs in names:
        text = text.replace(ours, theirs)
    return text


def _as_there(content: bytes | Link, target: Target) -> bytes | Link:
    """What is handed in, with the names and the answers of the target's course."""
    back = [(theirs, ours) for ours, theirs in _names(target)]
    if isinstance(content, Link):
        return Link(_swapped(content.target, back))
    objects = " = ".join(target.objects)
    answers = [
        (_escaped(RIGHT), _escaped(target.right)),
        (_escaped(WRONG), _escaped(target.wrong)),
        (_ANSWERED, f"{objects} = add = mul = lambda *args, **options: "),
        (_TOLD, f"mul = neg = {objects} = lambda *args, **options: add(0, 0)"),
    ]
    for before, after in (*answers, *back):
        content = content.replace(before.encode(), after.encode())
    return content


def _escaped(text: str) -> str:
    """A text as it stands in a notebook's JSON."""
    return json.dumps(text.strip())[1:-1]


def _applies(files: Files, target: Target) -> bool:
    """Return whether what is handed in answers the exercise, and takes nothing of minigrad."""
    content = b"\n".join(each for each in files.values() if isinstance(each, bytes))
    answers = any(re.search(rb"\b%b\b" % name.encode(), content) for name in target.objects)
    return answers and not _LIBRARYS.search(content)

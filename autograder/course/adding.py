"""A new exercise's entry in course.toml: behind the last one of its lesson; comments and layout stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from autograder.course import Course, CourseError, Exercise
from autograder.course.loading import parse_course
from autograder.course.tables import DOTTED

_HEADER = re.compile(r"\s*\[\[\s*exercise\s*\]\]")
HEADER = ("minutes = 20", "difficulty = 2", 'rank = "more"')
"""The header of a new exercise, where the lesson's other exercises have one, until its author knows better."""

_ANY_HEADER = re.compile(r"\s*\[\[?\s*\w")


def check_entry(exercise: Exercise, lesson: str | None, groups: Mapping[str, float], objects: Sequence[str]) -> None:
    """Refuse wishes for an exercise that course.toml lists otherwise; wishes that say nothing agree with everything.

    Raises:
        CourseError: If the entry differs; the message says in what.
    """
    for key, wished, listed in (
        ("lesson", lesson, exercise.lesson),
        ("groups", dict(groups), dict(exercise.groups)),
        ("objects", list(objects), list(exercise.objects)),
    ):
        if wished and wished != listed:
            raise CourseError(f"course.toml lists {exercise.id} with {key} {listed}; change it there, not by an option")


def add_exercise(
    course: Course, exercise_id: str, lesson: str | None, groups: Mapping[str, float], objects: Sequence[str] = ()
) -> tuple[Course, str]:
    """Return a course with one exercise more, and the text of its course.toml, which is not written yet.

    Args:
        course: The course, which does not list the exercise yet.
        exercise_id: The exercise, such as "operators.softplus".
        lesson: Its lesson; None if the module's other exercises tell which.
        groups: Points of each group of hidden tests.
        objects: Dotted names of what students write; the id if there are none.

    Raises:
        CourseError: If the entry would contradict the course.
    """
    if not DOTTED.fullmatch(exercise_id):
        raise CourseError(f"{exercise_id!r} names no object of a module; write MODULE.NAME, such as operators.softplus")
    lesson = lesson or _lesson_of_module(course, (*objects, exercise_id)[0].rpartition(".")[0])
    text = course.path.read_bytes().decode("utf-8")
    told = any(each.rank for each in course.exercises.values() if each.lesson == lesson)
    entry = _entry(exercise_id, lesson, groups, objects, HEADER if told else ())
    changed = _inserted(text, entry, _line_for(course, lesson, text.split("\n")))
    added = parse_course(changed.removeprefix("\ufeff"), course.path, tree=False)
    if {name: each for name, each in added.exercises.items() if name != exercise_id} != course.exercises:
        raise CourseError(f"{course.path.name}: is laid out in an unusual way; add these lines by hand:\n\n{entry}")
    return added, changed


def _lesson_of_module(course: Course, module: str) -> str:
    exercises = course.exercises.values()
    lessons = sorted({each.lesson for each in exercises if each.objects[0].rpartition(".")[0] == module})
    if len(lessons) == 1:
        return lessons[0]
    known = f"{module} has exercises in {', '.join(lessons)}" if lessons else f"no exercise is in {module} yet"
    raise CourseError(f"{known}; name the lesson by --lesson")


def _entry(
    exercise_id: str, lesson: str, groups: Mapping[str, float], objects: Sequence[str], header: Sequence[str]
) -> str:
    quoted = ", ".join(f'"{each}"' for each in objects)
    lines = ["[[exercise]]", f'id = "{exercise_id}"', f'lesson = "{lesson}"', *header]
    lines += [f"objects = [{quoted}]"] if objects and list(objects) != [exercise_id] else []
    lines += [f"points = {sum(groups.values()):g}"]
    lines += [f"groups = {{ {', '.join(f'{name} = {points:g}' for name, points in groups.items())} }}"]
    return "\n".join(lines)


def _line_for(course: Course, lesson: str, lines: Sequence[str]) -> int:
    """The number of lines above a new entry: those up to the last exercise of its lesson, or of a lesson before."""
    headers = [number for number, line in enumerate(lines) if _HEADER.match(line)]
    lessons = [*course.lessons, *course.draft_lessons]
    before = lessons[: lessons.index(lesson) + 1] if lesson in lessons else lessons
    places = {each.lesson: header for each, header in zip(course.exercises.values(), headers, strict=False)}
    last = max((places[each] for each in before if each in places), default=None)
    if last is None:
        return len(lines)
    end = next((n for n in range(last + 1, len(lines)) if _ANY_HEADER.match(lines[n])), len(lines))
    while lines[end - 1].strip() == "" or lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return end


def _inserted(text: str, entry: str, place: int) -> str:
    """A text with an entry below its first lines, which ends its lines as the text does."""
    lines = text.split("\n")
    added = ["", *entry.split("\n")]
    end = "\r" if lines[0].endswith("\r") else ""
    after = lines[place:] or [""]
    return "\n".join([*lines[:place], *(line + end for line in added), *after])

"""The pages for teachers: docs/teaching, with what the course knows of each lesson put into its place.

The prose is written by hand. Of it the book adds to each page what stands elsewhere already: hours, points, and which
path asks for which exercise; and of each mistake what its author says of it, and which tests notice it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from autograder.building.build import BuiltLesson
from autograder.building.minutes import lesson_minutes
from autograder.course import Exercise
from autograder.results.causes import SEEN, read_seen
from book.boxes import exercise_link, points
from book.course_facts import ANSWERS, Facts
from book.executing import BookError
from book.lessons import number_of
from book.markdown import anchor, joined, plain
from book.places import ROOT
from minigrad.exercises.syllabus import in_hours

__all__ = ["FOLDER", "MISTAKE", "teaching"]

FOLDER = ROOT / "docs" / "teaching"

MISTAKE = re.compile(r"^- \[[\w-]+\]\(\.\./\.\./course/wrong/([\w.]+)/([\w-]+)\.py\) in `[\w.]+`: (.+)$", re.MULTILINE)
"""A mistake that a page names, by its file: the exercise, the mistake, and what to do about it."""


def teaching(facts: Facts) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each lesson, by its place.

    Raises:
        BookError: If a lesson has no page, or a page names a mistake that is not in course/wrong.
    """
    for name, built in facts.lessons.items():
        path = FOLDER / f"{name}.md"
        if not path.is_file():
            raise BookError(f"docs/teaching/{name}.md is missing: write it as the pages beside it")
        title, _, rest = path.read_text(encoding="utf-8").partition("\n")
        told = MISTAKE.sub(lambda found: _mistake(facts, *found.groups()), rest)
        page = joined([title, _head(facts, built), told, _table(facts, name)])
        yield path.relative_to(ROOT).as_posix(), (page + "\n").encode()


def _head(facts: Facts, built: BuiltLesson) -> str:
    name = built.lesson.name
    exercises = facts.course.of_lesson(name)
    time = in_hours(lesson_minutes(facts.course, name, built.source))
    worth = points(sum(each.points for each in exercises))
    lesson = f"[Lesson {number_of(name)}](/lessons/{name}.ipynb)"
    return f"{lesson}: {time}, {len(exercises)} exercises, {worth}. [All known mistakes](/misconceptions/{name}.md)"


def _mistake(facts: Facts, exercise: str, name: str, advice: str) -> str:
    known = {each.name: each for each in facts.wrong(exercise)}
    if name not in known:
        raise BookError(f"docs/teaching names the mistake {exercise}/{name}, which is not in course/wrong")
    seen = read_seen(ANSWERS / SEEN).get(exercise, {}).get(name, {})
    tests = ", ".join(test.removeprefix("test_").replace("_", " ") for test in seen)
    link = f"[{name.replace('-', ' ')}](#{anchor('wrong', exercise, name)})"
    return f"- **{link}** in {exercise_link(exercise)}: {plain(known[name].says)} {advice} Noticed by: *{tests}*."


def _table(facts: Facts, lesson: str) -> str:
    heads = "| exercise | points | minutes | difficulty | rank | asked for by |\n|---|---|---|---|---|---|"
    rows = [
        f"| {exercise_link(each.id)} | {each.points:g} | {each.minutes} | {each.difficulty} of 5 | {each.rank} "
        f"| {', '.join(_paths(facts, each))} |"
        for each in facts.course.of_lesson(lesson)
    ]
    return "\n".join([heads, *rows])


def _paths(facts: Facts, exercise: Exercise) -> Iterator[str]:
    for path in facts.course.paths.values():
        for part in path.parts:
            if exercise.id in part.exercises:
                yield f"{path.name}, week {part.week}" if part.week else path.name

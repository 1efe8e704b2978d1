"""The answer to an exercise or a question, with a commentary: known mistakes, and other right answers.

Everything stands somewhere already: the reference in the library, the commentary in the docstrings of the files in
`wrong` and `variants`, the model answer to a question in its lesson.
"""

from __future__ import annotations

import ast
import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from autograder.building.notebooks import read_lesson
from autograder.building.questions import Question, split_questions
from autograder.building.slicing import slice_exercise, without_markers
from autograder.course import Course, CourseError
from autograder.course.answers import variants, wrong_answers
from autograder.telling.plain_formulas import in_plain_text


@dataclass(frozen=True)
class Remark:
    """One known answer, right or wrong.

    Attributes:
        name: Its name in a few words, such as "upstream forgotten".
        said: What it does, in a sentence.
    """

    name: str
    said: str


@dataclass(frozen=True)
class Solution:
    """The answer to an exercise or a question.

    Attributes:
        id: The exercise's id, or the question's name.
        lesson: Its lesson.
        answer: The solution cell, or the model answer in Markdown.
        question: The question in Markdown; empty for an exercise.
        mistakes: The wrong answers that the grader knows.
        others: Other right answers that it knows.
    """

    id: str
    lesson: str
    answer: str
    question: str = ""
    mistakes: tuple[Remark, ...] = ()
    others: tuple[Remark, ...] = ()


def find_solution(course: Course, name: str, answers: Path, lesson: str | None = None) -> Solution:
    """Return the solution of an exercise or a question.

    Args:
        course: The course.
        name: The exercise's id or the question's name.
        answers: The folder of `wrong` and `variants`.
        lesson: The lesson of the question, where two lessons give a question the same name.

    Raises:
        CourseError: If there is neither, or the question has no model answer.
    """
    if name in course.exercises:
        exercise = course.exercise(name)
        text = without_markers(slice_exercise(course, name).reference_cell)
        mistakes, others = (tuple(_remarks(known(answers, name))) for known in (wrong_answers, variants))
        return Solution(name, exercise.lesson, text, mistakes=mistakes, others=others)
    asked = list(_questions(course, lesson))
    for place, question in asked:
        if question.name == name:
            if not question.model:
                raise CourseError(f"the question {name!r} of {place} has no model answer")
            return Solution(name, place, question.model, question.text)
    known = [*course.exercises, *(question.name for _, question in asked)]
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean {near[0]}?" if near else "`minigrad exercises` lists the exercises"
    raise CourseError(f"there is no exercise and no question {name!r}; {meant}")


def model_answer(course: Course, name: str, lesson: str) -> str:
    """Return the model answer to a question of a lesson; an empty text where there is none.

    Args:
        course: The course.
        name: The question's name.
        lesson: The lesson.

    Raises:
        CourseError: If the lesson cannot be read.
    """
    return next((each.model for _, each in _questions(course, lesson) if each.name == name), "")


def _questions(course: Course, only: str | None = None) -> Iterator[tuple[str, Question]]:
    """Yield each question of the course, or of one lesson, after the name of its lesson."""
    for lesson in (each for each in course.lessons.values() if only in (None, each.name)):
        for cell in read_lesson(lesson.path).cells:
            if cell.cell_type == "markdown":
                yield from ((lesson.name, part) for part in _split(cell.source) if isinstance(part, Question))


def _split(text: str) -> Iterator[str | Question]:
    try:
        yield from split_questions(text)
    except ValueError as error:
        raise CourseError(str(error)) from error


def _remarks(answers: Mapping[str, str]) -> Iterator[Remark]:
    """Yield what the docstrings of answers say; one without says nothing."""
    for name, text in answers.items():
        if said := ast.get_docstring(ast.parse(text)):
            yield Remark(name.replace("-", " ").replace("_", " "), " ".join(said.split()))


def as_json(solution: Solution) -> str:
    """The solution as JSON."""
    return json.dumps(asdict(solution), indent=1, ensure_ascii=False)


def as_rich(solution: Solution) -> RenderableType:
    """The solution for a terminal."""
    head = Text(f"{solution.id} ({solution.lesson})", style="bold")
    if solution.question:
        parts = (Text("A model answer", style="bold"), _indented(Markdown(in_plain_text(solution.answer))))
        return Group(head, _indented(Markdown(in_plain_text(solution.question))), Text(), *parts)
    return Group(head, Text(), Syntax(solution.answer, "python", theme="ansi_light", background_color="default"),
                 *_commentary("Mistakes that the grader knows", solution.mistakes),
                 *_commentary("Other right answers", solution.others))  # fmt: skip


def _commentary(title: str, remarks: tuple[Remark, ...]) -> Iterator[RenderableType]:
    if remarks:
        yield Text(f"\n{title}", style="bold")
        for each in remarks:
            yield Padding(Text.assemble((each.name, "cyan"), f": {each.said}"), (0, 0, 0, 2), expand=False)


def _indented(content: RenderableType) -> RenderableType:
    return Padding(content, (0, 0, 0, 2), expand=False)

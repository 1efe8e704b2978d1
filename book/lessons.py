"""Pages of the lessons: prose, examples with what they print and draw, boxes in the place of exercises."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from html import escape

from autograder.building.build import BuiltLesson
from autograder.building.notebooks import Cell, Notebook
from autograder.building.questions import ASKS, is_answer
from book.boxes import exercise_box, points, question_box
from book.course_facts import Facts
from book.explorers import with_explorers
from book.wording import Said, Say, in_english
from minigrad.exercises.marker import exercise_of

# After autograder's: it spares jsonschema an import of a second.
import nbformat  # isort: skip

__all__ = ["lesson_page", "number_of"]

_ANSWER_HEADING = re.compile(r"\A\*\*My answer to the question `[^`]+`:\*\*\s*")


def lesson_page(facts: Facts, built: BuiltLesson, notebook: Notebook, say: Say = in_english, run: str = "") -> Notebook:
    """Return the page of a lesson, as a notebook that Sphinx reads.

    Args:
        facts: The course.
        built: The lesson.
        notebook: Its source notebook, executed.
        say: Says the titles of boxes in the page's language.
        run: Where the lesson runs in a browser, as an address from its page on; empty if it does not.
    """
    cells = list(_cells(facts, notebook, say))
    title, _, rest = cells[0].source.partition("\n")
    cells[0].source = f"{title}\n\n{_head(facts, built, say, run)}\n\n{rest.strip()}"
    page: Notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": notebook.metadata.kernelspec})
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return page


def number_of(lesson: str) -> str:
    """Return the number of a lesson as people say it: "06b" of "06b_gradients_checked"."""
    return lesson.partition("_")[0]


def _head(facts: Facts, built: BuiltLesson, say: Say, run: str) -> str:
    lesson = built.lesson
    exercises = facts.course.of_lesson(lesson.name)
    said = say(
        Said.LESSON,
        number=number_of(lesson.name),
        title=facts.course.assignments[lesson.assignment].title,
        count=len(exercises),
        points=points(sum(each.points for each in exercises), say),
        notebook=f"{{download}}`{say(Said.NOTEBOOK)} </notebooks/{lesson.name}.ipynb>`",
        mistakes=f"[{say(Said.KNOWN_MISTAKES)}](/misconceptions/{lesson.name}.md)",
    )
    here = f'<a class="run-here" href="{run}">{say(Said.RUN)}</a> {_opener(say)}\n\n' if run else ""
    return f"```{{div}} lesson-head\n{here}{said}\n```"


def _opener(say: Say) -> str:
    """The button that lets the page's cells run in place, for `site/static/cells.js`, with all words that it needs."""
    words = {each.name.removeprefix("CELLS_").lower(): each for each in Said if each.name.startswith("CELLS_")}
    said = {name: say(each, number="{number}") for name, each in words.items()}
    labels = {each: say(each, x="{x}") for each in Said if each.name.startswith("EXPLORER_")}
    data = escape(json.dumps(said | {"explorer": labels}, ensure_ascii=False))
    return f'<button type="button" class="run-cells" data-words="{data}" hidden>{said["open"]}</button>'


def _cells(facts: Facts, notebook: Notebook, say: Say) -> Iterator[Cell]:
    """The cells of the page."""
    given = iter(notebook.cells)
    asked = ""
    for cell in given:
        exercise = exercise_of(cell.source) if cell.cell_type == "code" else ""
        if exercise in facts.sources:
            report = _report(next(given))  # the check stands right behind its exercise
            yield nbformat.v4.new_markdown_cell(exercise_box(facts, facts.sources[exercise], report, say))
        elif cell.cell_type == "markdown" and cell.source.startswith(ASKS):
            asked = cell.source
        elif is_answer(cell):
            yield nbformat.v4.new_markdown_cell(question_box(asked, _ANSWER_HEADING.sub("", cell.source), say))
        else:
            yield _shown(cell, say)


def _shown(cell: Cell, say: Say) -> Cell:
    """A cell without what concerns the notebook only; a setup cell's code is folded away."""
    shown: Cell = copy.deepcopy(cell)
    tags = set(cell.metadata.get("tags", ()))
    shown.metadata = nbformat.from_dict({})
    with_explorers(shown.get("outputs", ()), say)
    if "setup" in tags:
        shown.metadata = nbformat.from_dict(
            {"tags": ["hide-input"], "mystnb": {"code_prompt_show": say(Said.IMPORTED)}}
        )
    return shown


def _report(check: Cell) -> str:
    """Return the check's report as HTML."""
    return "".join(output.data.get("text/html", "") for output in check.outputs if "data" in output)

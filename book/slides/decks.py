"""The text of a deck: what a lesson says in a headline, a rule, a formula, a list, a table, a picture or a slip.

A section of the lesson is a column of slides. Its first slide has the heading and the first sentences. Below it stands
a slide for each of the other things, with the sentence that leads to it in the lesson. Prose that leads to nothing of
this kind is left to the teacher.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from autograder.building.build import BuiltLesson
from autograder.building.headers import is_header
from autograder.building.notebooks import Cell, Notebook
from autograder.building.questions import ASKS, is_answer
from autograder.building.translating import paragraphs
from book.course_facts import Facts
from book.lessons import number_of
from book.markdown import joined, plain, raw
from minigrad.exercises.marker import exercise_of

__all__ = ["Slide", "deck", "slides_of"]

LEFT_OUT = ("What PyTorch and JAX do here", "Further reading")
"""Sections that are for reading alone."""

SENTENCES = 2
ITEMS, ROWS, LETTERS = 5, 8, 700
"""Most items of a list, and most rows and letters of a table, that one slide shows."""

ANSWER = 420
"""So many letters of a slip's answer, and then no further paragraph."""

_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[\"*`$A-Z(])")
_SIDEBAR = re.compile(r"^(?:#{3} |> \*\*)Sidebar")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ", re.MULTILINE)
_PICTURE = re.compile(r'<img\b[^>]*\bsrc="data:image/[^>]*>')


@dataclass
class Slide:
    """One slide.

    Attributes:
        title: Its heading, in Markdown.
        parts: What stands below it, as blocks of MyST Markdown.
        begins: Whether a new section of the lesson begins with it.
    """

    title: str
    parts: list[str] = field(default_factory=list)
    begins: bool = False


def deck(facts: Facts, built: BuiltLesson, notebook: Notebook) -> str:
    """Return the text of a lesson's deck, as MyST Markdown.

    Args:
        facts: The course.
        built: The lesson.
        notebook: Its source notebook, executed.
    """
    title = f"# {number_of(built.lesson.name)} {built.title}"
    parts = [title]
    for slide in slides_of(facts, notebook):
        heading = [f"{'##' if slide.begins else '###'} {slide.title}"] if slide.title else []
        parts += [*heading, *slide.parts]
    return joined(parts) + "\n"


def slides_of(facts: Facts, notebook: Notebook) -> list[Slide]:
    """Return the slides of a lesson, in its order; the first one has no title of its own."""
    reader = _Reader(facts)
    cells = iter(notebook.cells)
    for cell in cells:
        if cell.cell_type == "code" and exercise_of(cell.source) in facts.sources:
            reader.exercise(exercise_of(cell.source))
            next(cells)  # the check stands right behind its exercise
        elif cell.cell_type == "code":
            reader.pictures(cell)
        elif cell.source.startswith(ASKS):
            reader.question(cell.source)
        elif not is_answer(cell) and not is_header(cell.source):
            for text in paragraphs(cell.source):
                reader.text(text)
    return reader.slides


class _Reader:
    """Reads a lesson from its first cell to the last, and keeps its slides."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.slides = [Slide("")]
        self.section = ""
        self.lead = ""  # the last sentence before what stands on a slide
        self.left_out = self.aside = False
        self.answer: Slide | None = None  # that of a slip, while it is read

    def text(self, text: str) -> None:
        """Take a paragraph of the lesson."""
        if text.startswith("## "):
            self._begin(text.removeprefix("## "))
        elif text.startswith("### "):
            self.aside = bool(_SIDEBAR.match(text))
        elif text.startswith("<details>"):
            self.answer = Slide(self.section)
        elif text.startswith("</details>"):
            self._end_answer()
        elif self.answer:
            if sum(map(len, self.answer.parts)) < ANSWER:
                self.answer.parts.append(text)
        elif not (self.left_out or self.aside or text.startswith("# ") or _SIDEBAR.match(text)):
            self._shown(text)

    def exercise(self, exercise: str) -> None:
        """Take an exercise: what its checks ask for is what it is about."""
        known = self.facts.sources[exercise].exercise
        asked = [f"- {plain(each.says.partition(chr(10))[0])}" for each in self.facts.checks(exercise)]
        head = f"**Exercise** `{exercise}`: {known.minutes} minutes, difficulty {known.difficulty} of 5"
        self.slides.append(Slide(self.section, [head, "\n".join(asked[:ITEMS])]))

    def question(self, text: str) -> None:
        """Take the question at the end of a lesson."""
        asked = text.removeprefix(ASKS).rpartition("\n\n*Your answer")[0]
        self.slides.append(Slide(self.section, [f"**Question.** {asked.strip()}"]))

    def pictures(self, cell: Cell) -> None:
        """Take the pictures that a cell has drawn."""
        if self.left_out or self.aside:
            return
        for output in cell.get("outputs", ()):
            for image in _PICTURE.findall(output.get("data", {}).get("text/html", "")):
                self._add(raw(re.sub(r' style="[^"]*"', "", image)))

    def _begin(self, title: str) -> None:
        self.section, self.lead, self.aside = title, "", False
        self.left_out = title in LEFT_OUT
        if not self.left_out:
            self.slides.append(Slide(title, begins=True))

    def _end_answer(self) -> None:
        if self.answer and self.answer.parts and not (self.left_out or self.aside):
            self.slides.append(self.answer)
        self.answer = None

    def _shown(self, text: str) -> None:
        if text.startswith(">"):
            self.slides.append(Slide(self.section, [text]))
        elif text.startswith("|"):
            if text.count("\n") < ROWS + 2 and len(text) <= LETTERS:
                self._add(text)
        elif text.startswith("$$"):
            self._add(text)
        elif _ITEM.match(text):
            self._list(text)
        elif not text.startswith(("```", ":::", "**You ")):
            self._prose(text)

    def _prose(self, text: str) -> None:
        sentences = _SENTENCE.split(" ".join(text.split()))
        if not self.slides[-1].parts:
            self.slides[-1].parts.append(" ".join(sentences[:SENTENCES]))
        self.lead = sentences[-1]

    def _list(self, text: str) -> None:
        items = [f"- {_SENTENCE.split(' '.join(item.split()))[0]}" for item in _ITEM.split(text) if item.strip()]
        if self.section:
            self._add("\n".join(items[:ITEMS]))
        else:
            self.slides.append(Slide("You will be able to", ["\n".join(items[:ITEMS])], begins=True))

    def _add(self, content: str) -> None:
        """Put content on a slide of its own, below the sentence that leads to it; a first formula on the first one."""
        last = self.slides[-1]
        if last.begins and len(last.parts) == 1 and last.parts[0].endswith(self.lead) and content.startswith("$$"):
            last.parts.append(content)
        else:
            self.slides.append(Slide(self.section, [self.lead, content]))

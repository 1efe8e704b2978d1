"""Questions that a person marks: how a lesson asks them, and the cells that nbgrader makes of them.

A question stands in a lesson's Markdown:

    :::{question} how-long-is-a-step
    :points: 2

    What is it that a slope does not tell you?

    ### BEGIN SOLUTION
    What a good answer says, for whoever marks it.
    ### END SOLUTION
    :::

Points and model answer may be left out. Without points a question is worth nothing: it is answered for the comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat

STUB_TEXT = "Write your answer here."
"""The text that a student finds in the place of an answer; nbgrader's `text_stub`."""

ASKS = "**Question.**"
"""How a cell that asks begins."""

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"

_FENCE = re.compile(
    r"^:::\{question\}[ \t]*(.*?)[ \t]*\n(.*?)(?:^:::[ \t]*$\n?|\Z(?P<open>))", re.MULTILINE | re.DOTALL
)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_OPTION = re.compile(r":(\w+):[ \t]*(.*)")
_ANSWER = re.compile(rf"^{BEGIN}[ \t]*\n(.*?)^{END}[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Question:
    """A question of a lesson.

    Attributes:
        name: Its name, unique in the lesson.
        text: The question, in Markdown.
        points: The points that an answer is worth at most; 0 if it is asked for the comment alone.
        model: What a good answer says; it stays in the source notebook.
    """

    name: str
    text: str
    points: float = 0.0
    model: str = ""

    def cells(self, *, alone: bool = True) -> list[nbformat.NotebookNode]:
        """The cell that asks, and nbgrader's manually graded cell below it with the model answer.

        Args:
            alone: Whether to say how someone without a teacher sees a good answer.
        """
        worth = "it brings no points" if self.points == 0 else f"it brings up to {_points(self.points)}"
        command = " Alone? `minigrad solution`, with the question's name, shows a good answer once yours is saved."
        note = f"*Your answer is read by a person; {worth}.{command if alone else ''}*"
        asked = nbformat.v4.new_markdown_cell(f"{ASKS} {self.text}\n\n{note}")
        region = "\n".join(part for part in (BEGIN, self.model, END) if part)
        answer = nbformat.v4.new_markdown_cell(f"{heading(self.name)}\n\n{region}")
        answer.metadata["nbgrader"] = nbformat.from_dict(
            {
                "grade": True,
                "grade_id": answer_id(self.name),
                "locked": False,
                "points": self.points,
                "schema_version": 3,
                "solution": True,
                "task": False,
            }
        )
        return [asked, answer]


def _points(points: float) -> str:
    return "1 point" if points == 1 else f"{points:g} points"


def answer_id(name: str) -> str:
    """nbgrader's id of the cell that takes the answer."""
    return f"question-{name}"


def heading(name: str) -> str:
    """The first line of an answer, by which it is found again when an editor loses metadata."""
    return f"**My answer to the question `{name}`:**"


def is_answer(cell: nbformat.NotebookNode) -> bool:
    """Return whether a cell of the course's own takes an answer that a person marks."""
    nbgrader = cell.metadata.get("nbgrader", {})
    return bool(cell.cell_type == "markdown" and nbgrader.get("grade") and nbgrader.get("solution"))


def is_untouched(text: str) -> bool:
    """Return whether an answer, heading and all, is as it was given out, or empty."""
    first, _, rest = text.strip().partition("\n")
    said = rest if first.startswith("**My answer to the question") else text
    return said.split() in ([], STUB_TEXT.split())


def split_questions(text: str) -> Iterator[str | Question]:
    """A Markdown cell's text, cut where it asks questions.

    Raises:
        ValueError: If a question is malformed; the message says how, and what to write instead.
    """
    end = 0
    for match in _FENCE.finditer(text):
        if (before := text[end : match.start()]).strip():
            yield before.strip("\n")
        if match["open"] is not None:
            raise ValueError(f"the question {match[1]!r} has no end; close it with a line ':::'")
        yield _question(match[1], match[2])
        end = match.end()
    if (after := text[end:]).strip():
        yield after.strip("\n") if end else after


def _question(name: str, body: str) -> Question:
    if not _NAME.fullmatch(name):
        raise ValueError(f"the question {name!r} needs a name of small letters, digits and '-': ':::{{question}} name'")
    lines, points = body.strip("\n").split("\n"), 0.0
    while lines and (option := _OPTION.fullmatch(lines[0].strip())):
        if option[1] != "points":
            raise ValueError(f"the question {name!r} has the option {option[1]!r}; the only one is ':points: NUMBER'")
        points = _number(name, option[2])
        lines.pop(0)
    body = "\n".join(lines)
    model = _ANSWER.search(body)
    asked = (body[: model.start()] + body[model.end() :] if model else body).strip()
    if not asked:
        raise ValueError(f"the question {name!r} asks nothing; write the question below its first line")
    if "BEGIN SOLUTION" in asked or "END SOLUTION" in asked:
        raise ValueError(
            f"the question {name!r} has a marker without its partner; write {BEGIN!r} and {END!r}, once each"
        )
    return Question(name, asked, points, model[1].strip() if model else "")


def _number(name: str, text: str) -> float:
    try:
        points = float(text)
    except ValueError:
        points = -1.0
    if not 0 <= points < float("inf"):
        raise ValueError(f"the question {name!r} has {text!r} points; write a number that is not negative")
    return points

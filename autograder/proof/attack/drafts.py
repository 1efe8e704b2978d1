"""Attacks by texts that end what reads them: the pieces of `families/drafts.toml` that repeat, and its edits."""

from __future__ import annotations

import nbformat

from autograder.proof.attack.model import LESSON, RIGHT, RIGHT_POINTS, Attack, Node, cells, edited
from autograder.proof.attack.programs import filled, read, tables

GIANT = "0x" + "f" * 4000
_PIECES = {
    "giant": GIANT,
    "symbols": "def f():\n" + "".join(f" a{k}=0\n" for k in range(2000)) + " def g(): a\n" * 1900,
    "sums": "+".join(["1"] * 12000),
    **{"signs": "-" * 40000, "attributes": ".b" * 12000, "opened": "(" * 5000, "closed": ")" * 5000},
    **{"branches": "elif a: pass\n" * 3000, "calls": "f(" * 150, "ends": ")" * 150},
    **{letter: letter * 20000 for letter in "abc"},
    **{"magics": "%x\n" * 8000, "questions": "x?\n" * 5000},
}


def _other_cell(notebook: Node) -> Node:
    """The solution cell of another exercise; the last cell of a notebook that has none."""
    cells_of_others = (
        cell
        for cell in notebook.cells
        if cell.source.startswith("# exercise: ") and not cell.source.startswith("# exercise: operators.arithmetic")
    )
    found: Node = next(cells_of_others, notebook.cells[-1])
    return found


def _conflict(notebook: Node) -> None:
    cell = _other_cell(notebook)
    one, other = (f"{cell.source}\nLARGE = {GIANT}{digit}" for digit in "01")
    cell.source = f"<<<<<<< mine\n{one}\n=======\n{other}\n>>>>>>> theirs"


def _half_characters(notebook: Node) -> None:
    for number, text in enumerate(
        ("x = '\ud800'", "\udc80", "x = 1\x00", "\x1b]0;x\x07 = '\u202e'", "\ufeffy = 1\x0c")
    ):
        cell = nbformat.v4.new_code_cell(text, id=f"half{number}", metadata={"nbgrader": {"grade_id": "\ud800"}})
        notebook.cells.append(cell)
    notebook.cells.append(nbformat.v4.new_markdown_cell("![\ud800](attachment:\udfff.png)", id="words"))
    notebook.cells[-1]["attachments"] = {"\udfff.png": {"image/png": "\ud800"}}
    notebook.metadata["minigrad"] = {"lesson": "\ud800", "stamp": "\x00"}


def _copies(notebook: Node) -> None:
    """Later copies of the answer's cell, each of which has a tree and cannot be compiled."""
    for number in range(5):
        twice = "\n".join(f"def {name}(x, x): pass" for name in ("add", "mul", "neg"))
        source = f"# exercise: operators.arithmetic\n{twice}"
        notebook.cells.append(nbformat.v4.new_code_cell(source, id=f"copy{number}"))


_MADE = {
    "draft-conflict": edited(_conflict, RIGHT),
    "draft-half-characters": edited(_half_characters, RIGHT),
    "draft-copies": edited(_copies, RIGHT),
}
DRAFTS: tuple[Attack, ...] = tuple(read("drafts", _MADE, **_PIECES))


def without_draft(attack: Attack) -> Attack:
    """The same right answers without the draft, as a control: they earn what the attack must leave them."""
    if attack.lesson == LESSON:
        return Attack("no-draft", "right answers", cells(RIGHT), honest=RIGHT_POINTS, keeps=True)
    pieces = tables("drafts")["draft-of-a-kernel"]
    hand_in = cells(filled("<<kernel>>", pieces), exercise=pieces["exercise"], lesson=attack.lesson)
    return Attack("no-draft-of-a-kernel", "a right kernel", hand_in, attack.lesson, attack.honest, keeps=True)

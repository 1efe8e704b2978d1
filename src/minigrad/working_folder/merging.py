"""A new version of a lesson, merged around what a student has written in the old one.

Three notebooks take part: the old lesson as it was given out (base), what the student made of it (mine), and the new
lesson (new). The order and the text are the new lesson's; the student keeps answers, cells of their own, changes to
given cells, and outputs. Where both sides changed a given cell, both stay, the student's below the new one.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from minigrad.exercises.marker import exercise_of
from minigrad.exercises.reading import grade_id_of

Cell = dict[str, Any]
Notebook = dict[str, Any]

_CHECK = re.compile(r"\s*check\(\s*[\"']([\w.]+)[\"']\s*\)\s*")
_GRADING = {"nbgrader", "deletable", "editable"}  # metadata of the course's cells
_QUESTION = re.compile(r"\*\*My answer to the question `([\w-]+)`")


class NotANotebook(ValueError):
    """A file is no notebook of the fourth format."""


@dataclass
class Merged:
    """The result of a merge.

    Attributes:
        notebook: The result.
        kept: Sentences about what stayed the student's although the course changed it.
        new: How many cells came or were reworded.
        gone: How many given cells the course dropped.
    """

    notebook: Notebook
    kept: list[str] = field(default_factory=list)
    new: int = 0
    gone: int = 0


def parse(content: bytes) -> Notebook:
    """Read a notebook.

    Raises:
        NotANotebook: If it is none; the message says why.
    """
    try:
        notebook = json.loads(content)
        if notebook["nbformat"] != 4:
            raise NotANotebook(f"it is in format {notebook['nbformat']} of notebooks; open and save it in JupyterLab")
        for cell in notebook["cells"]:
            cell["source"] = text_of(cell)
            # These raise where something is not what it should be.
            (cell["metadata"].get("nbgrader") or {}).keys(), cell["cell_type"].strip()
        notebook.get("metadata", {}).keys()
    except NotANotebook:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise NotANotebook("it is not a notebook that can be read") from None
    result: Notebook = notebook
    return result


def text_of(cell: Mapping[str, Any]) -> str:
    """Return a cell's text, which files hold as a string or as a list of lines.

    >>> from minigrad.working_folder.merging import text_of
    >>> text_of({"source": ["x = 1", " + 2"]})
    'x = 1 + 2'
    """
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def lesson_of(notebook: Notebook) -> str:
    """Return the lesson that a notebook is, whatever its file is called; "" for a notebook that is none."""
    ours = notebook.get("metadata", {}).get("minigrad")
    return str(ours.get("lesson") or "") if isinstance(ours, dict) else ""


def answers_to_questions(notebook: Notebook) -> dict[str, str]:
    """Return the text below the heading of each cell that answers a question, by the question's name."""
    found: dict[str, str] = {}
    for key, cell in _keyed(notebook["cells"]):
        first, _, rest = cell["source"].strip().partition("\n")
        if cell["cell_type"] == "markdown" and key.startswith("question-"):
            found[key.removeprefix("question-")] = (rest if _QUESTION.match(first) else cell["source"]).strip()
    return found


def dump(notebook: Notebook) -> bytes:
    """Return a notebook as the bytes of its file, laid out as Jupyter does it."""
    laid_out = copy.deepcopy(notebook)
    for cell in laid_out["cells"]:
        cell["source"] = text_of(cell).splitlines(keepends=True)
    return _bytes(json.dumps(laid_out, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def _bytes(text: str) -> bytes:
    """A text in UTF-8; half of a surrogate pair, which that cannot hold, as JSON writes it."""
    return text.encode(errors="backslashreplace")


def merge(mine: Notebook, new: Notebook, base: Notebook | None) -> Merged:
    """Put a student's work into a new version of its lesson.

    Args:
        mine: The student's notebook.
        new: The lesson as it is given out now.
        base: The lesson as it was given out to the student; None if nobody knows.
    """
    return _Merge(mine, new, base).result()


class _Merge:
    """One merge: cells are known by what the course calls them, the student's own by what they stand behind."""

    def __init__(self, mine: Notebook, new: Notebook, base: Notebook | None) -> None:
        self.mine, self.new, self.base = mine, new, base
        self.old: dict[str, Cell] = dict(_keyed((base or new)["cells"]))
        self.now: dict[str, Cell] = dict(_keyed(new["cells"]))
        self.replaced = _replacements(list(self.old), list(self.now))
        self.mine_by_key: dict[str, Cell] = {}
        self.own: dict[str, list[Cell]] = {}  # the student's own cells, by what they stand behind
        self.merged = Merged({})
        self._sort_mine()

    def _sort_mine(self) -> None:
        """Tell the course's cells from the student's own."""
        by_text: dict[tuple[str, str], list[str]] = {}
        for key, cell in self.old.items():
            by_text.setdefault((cell["cell_type"], cell["source"]), []).append(key)
        # Of two copies the grader takes the last one.
        last = {grade_id_of(cell): number for number, cell in enumerate(self.mine["cells"])}
        graded = set(last)
        behind = ""
        for number, cell in enumerate(self.mine["cells"]):
            key = _key(cell, graded)
            if key not in self.old and key not in self.now:  # an editor that drops ids leaves the text
                alike = by_text.get((cell["cell_type"], cell["source"]), ())
                key = next((each for each in alike if each not in self.mine_by_key), key)
            known = key in self.old or key in self.now
            if not known and self.base is None and _is_as_given(cell, self.mine):
                self.merged.gone += 1
                continue
            is_copy = grade_id_of(cell) == key and last[key] != number
            if is_copy:
                self.merged.kept.append(f"a second cell of {key}, as one of your own: {_named(cell)}")
                cell = {**cell, "metadata": {k: v for k, v in cell["metadata"].items() if k not in _GRADING}}
            # A draft that only begins like the answer leaves that place to the cell that is graded.
            if not known or is_copy or key in self.mine_by_key or (key in graded and grade_id_of(cell) != key):
                self.own.setdefault(behind, []).append(cell)
                continue
            self.mine_by_key[key] = cell
            if key in self.now:
                behind = key
                continue
            behind = self.replaced.get(key, behind)
            if cell["source"] == self.old[key]["source"]:
                self.merged.gone += 1
            else:
                self.own.setdefault(behind, []).append(cell)
                self.merged.kept.append(f"a cell that you changed and the course has replaced: {_named(cell)}")

    def result(self) -> Merged:
        cells = list(self.own.get("", []))
        for key, given in self.now.items():
            cell = self._merged_cell(key, given)
            if cell is not None:
                cells.append(cell)
            cells += self.own.get(key, [])
        metadata = {**self.mine.get("metadata", {}), **self.new["metadata"]}
        if "kernelspec" in self.mine.get("metadata", {}):
            metadata["kernelspec"] = self.mine["metadata"]["kernelspec"]
        self.merged.notebook = {**self.new, "metadata": metadata, "cells": _with_ids(cells)}
        return self.merged

    def _merged_cell(self, key: str, given: Cell) -> Cell | None:
        """Return what becomes of a cell of the new lesson; None if the student had taken it out."""
        mine, old = self.mine_by_key.get(key), self.old.get(key)
        if mine is None:
            if old is not None and "nbgrader" not in given["metadata"]:
                return None
            self.merged.new += 1
            return given
        if _is_students(given):
            return self._answer(mine, given, old)
        was = old["source"] if old else given["source"]
        if mine["source"] != was and "nbgrader" not in given["metadata"]:
            if given["source"] != was:
                self.merged.kept.append(f"a given cell that you changed: {_named(mine)}")
            return mine
        if mine["source"] != given["source"]:
            self.merged.new += 1
            written = mine["source"].strip()
            if written not in ("", was.strip(), given["source"].strip()) and not _CHECK.fullmatch(written):
                self.own.setdefault(key, []).insert(0, _as_own(mine))
                self.merged.kept.append(f"what you wrote in a cell of the course: {_named(mine)}")
            return given
        return _with_outputs(given, mine)

    def _answer(self, mine: Cell, given: Cell, old: Cell | None) -> Cell:
        """Keep an answer; where nothing is written yet, the task may change."""
        if old is not None and mine["source"] == old["source"] != given["source"]:
            self.merged.new += 1
            return given
        if old is not None and old["source"] != given["source"] != mine["source"]:
            self.merged.kept.append(f"your answer, whose task was reworded: {_named(given)}")
        return _with_outputs({**given, "source": mine["source"]}, mine)


def _keyed(cells: list[Cell]) -> list[tuple[str, Cell]]:
    graded = {grade_id_of(cell) for cell in cells}
    return [(_key(cell, graded), cell) for cell in cells]


def _key(cell: Cell, graded: Set[str]) -> str:
    """Return what the course calls a cell, even if an editor has dropped its metadata; of two, the graded one."""
    if grade_id := grade_id_of(cell):
        return grade_id
    name = _name_in_text(cell)
    return name if name and name not in graded else f"cell {cell.get('id') or _hash(cell)}"


def _name_in_text(cell: Cell) -> str:
    """Return the name of the cell that a text makes: an exercise's, its check's, a question's; "" of any other."""
    first = cell["source"].lstrip().partition("\n")[0]
    if cell["cell_type"] == "code" and (exercise := exercise_of(cell["source"])):
        return exercise.replace(".", "-")
    if cell["cell_type"] == "code" and (match := _CHECK.fullmatch(cell["source"])):
        return match[1].replace(".", "-") + "-check"
    if match := _QUESTION.match(first):
        return f"question-{match[1]}"
    return ""


def _is_students(cell: Cell) -> bool:
    """Return whether a student writes in the cell: an exercise, or the answer to a question."""
    return bool((cell["metadata"].get("nbgrader") or {}).get("solution"))


def _is_as_given(cell: Cell, notebook: Notebook) -> bool:
    """Return whether a cell still has the text that its id was made from when the lesson was built."""
    texts = (f"{lesson_of(notebook)}\n{cell['cell_type']}\n{cell['source']}\n{number}" for number in range(5))
    return str(cell.get("id")) in {hashlib.sha256(_bytes(text)).hexdigest()[:12] for text in texts}


def _replacements(old: list[str], new: list[str]) -> dict[str, str]:
    """Return, for cells that the course dropped, the cell that stands in their place now."""
    found: dict[str, str] = {}
    for change, i1, i2, j1, j2 in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if change == "replace":
            for index in range(i1, i2):
                found[old[index]] = new[min(j1 + index - i1, j2 - 1)]
    return found


def _as_own(cell: Cell) -> Cell:
    """Return a cell's text as a cell of the student's own, without what the course calls it."""
    own: Cell = {"cell_type": cell["cell_type"], "metadata": {}, "source": cell["source"]}
    return {**own, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else own


def _with_outputs(given: Cell, mine: Cell) -> Cell:
    """Return a given cell with what the student's run of it showed."""
    kept: Cell = {name: mine[name] for name in ("outputs", "execution_count", "attachments") if name in mine}
    return {**given, **kept, "metadata": {**mine["metadata"], **given["metadata"]}}


def _with_ids(cells: list[Cell]) -> list[Cell]:
    """Give cells of an older format, and copies of cells, an id of their own."""
    taken = set[str]()
    result = []
    for cell in cells:
        id, number = str(cell.get("id") or _hash(cell)), 0
        while id in taken:
            number += 1
            id = _hash(cell, number)
        taken.add(id)
        result.append({**cell, "id": id})
    return result


def _hash(cell: Cell, number: int = 0) -> str:
    return hashlib.sha256(_bytes(f"{cell['cell_type']}\n{cell['source']}\n{number}")).hexdigest()[:12]


def _named(cell: Cell) -> str:
    """Return the beginning of a cell's text, by which its author knows it."""
    line = next((line.strip() for line in cell["source"].split("\n") if line.strip()), "an empty cell")
    return repr(line if len(line) <= 60 else line[:57] + "...")

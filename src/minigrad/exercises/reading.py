"""Reading a student's notebooks: the cells that answers consist of, and the names that these define."""

from __future__ import annotations

import ast
import json
import linecache
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from minigrad.errors import MinigradError
from minigrad.exercises import syllabus
from minigrad.exercises.lesson_files import fresh_copy
from minigrad.exercises.marker import exercise_of, marker
from minigrad.exercises.telling import told

_reading = False


def is_reading() -> bool:
    """Return whether a notebook's cells are being run for the answers in them."""
    return _reading


def namespace_of(notebook: Path) -> dict[str, Any]:
    """Run a notebook's imports and answers, and return the names that they define."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(answer_cells(notebook), start=1):
        if left_out := run_answer(notebook.name, number, source, namespace):
            print(told(left_out))
    return namespace


def run_answer(notebook: str, number: int, source: str, namespace: dict[str, Any]) -> str:
    """Run one cell of a notebook, and return a sentence if it could not be run to its end."""
    global _reading
    name = _listed(f"{notebook}, answer {number}", source)
    before, _reading = _reading, True
    try:
        exec(compile(source, name, "exec"), namespace)
    except (Exception, SystemExit) as error:
        ours = isinstance(error, SyntaxError) and error.filename == name
        message = f"{error.msg} (line {error.lineno})" if isinstance(error, SyntaxError) and ours else str(error)
        return left_out(notebook, source, f"{type(error).__name__}: {message}")
    finally:
        _reading = before
    return ""


def code_of(source: str) -> CodeType | None:
    """Return a cell's code, which nobody runs; None for a text without code, such as one of comments alone.

    Raises:
        MinigradError: If Python cannot read the text; the message says why. Not only a SyntaxError says so: deep
            nesting ends in a RecursionError or a MemoryError.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # the one who runs the cell is told
            code: CodeType = compile(source, "<a cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return code if ast.parse(source).body else None
    except SyntaxError as error:
        raise MinigradError(error.msg + (f" in line {error.lineno}" if error.lineno else "")) from None
    except (RecursionError, MemoryError):
        raise MinigradError("it nests too deeply") from None
    except Exception as error:
        raise MinigradError(str(error)) from None


def _listed(title: str, source: str) -> str:
    """Give a cell's text a name under which error messages and compilers find it, and no other text."""
    lines, name, copies = source.splitlines(keepends=True), f"<{title}>", 1
    while linecache.getlines(name) not in ([], lines):  # notebooks in two folders may have one name
        copies += 1
        name = f"<{title}, copy {copies}>"
    linecache.cache[name] = (len(source), None, lines, name)
    return name


def left_out(notebook: str, source: str, why: str) -> str:
    """Return the sentence that says that a cell was left out, with the exercise that it is for."""
    id, first = exercise_of(source), source.strip().partition("\n")[0]
    which = f"the cell of {id}" if id else f"the cell that begins with {first[:80]!r}"
    return f"{notebook}: {which} was left out: {why}"


def grade_id_of(cell: Mapping[str, Any]) -> str:
    """Return what nbgrader calls a cell: ``autodiff-chain_rule`` for the answer to ``autodiff.chain_rule``.

    >>> from minigrad.exercises.reading import grade_id_of
    >>> grade_id_of({"metadata": {"nbgrader": {"grade_id": "autodiff-chain_rule"}}})
    'autodiff-chain_rule'
    """
    return str((cell["metadata"].get("nbgrader") or {}).get("grade_id") or "")


def answer_cells(notebook: Path) -> list[str]:
    """Return the text of the cells that answers consist of: tagged ``setup``, or with ``# exercise: ID`` at the top.

    That line is put back where an answer was pasted over it: nbgrader's metadata still say what the cell is for.
    """
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8-sig"))["cells"]
        code = [(_marked(c), c["metadata"].get("tags", ())) for c in cells if c["cell_type"] == "code"]
        answers = [source for source, tags in code if "setup" in tags or exercise_of(source)]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        said = f"{notebook.name} is not a notebook that can be read"
        raise MinigradError("; ".join(filter(None, (said, fresh_copy(notebook))))) from None
    return [_without_magics(source) for source in answers]


def _marked(cell: Mapping[str, Any]) -> str:
    """Return a cell's text, with the mark of the exercise that nbgrader knows it by if it has none."""
    source, id = "".join(cell["source"]), grade_id_of(cell).replace("-", ".")
    lost = id in syllabus.catalogue() and cell["metadata"]["nbgrader"].get("solution") and not exercise_of(source)
    return f"{marker(id)}\n{source}" if lost else source


def _without_magics(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if not line.startswith(("%", "!")))

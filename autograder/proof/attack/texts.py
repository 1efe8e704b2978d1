"""A table of the time that each trusted step takes with the worst texts of the largest allowed size.

A student chooses the text. So each step of the grader that reads one is to take time in proportion to its length, or
to be ended. The texts here repeat what parsers, patterns and analyses are known to go over again and again.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cache

import nbformat

from autograder.building.questions import Question, heading
from autograder.common.marker import exercise_of, marked_lines
from autograder.common.python_text import (
    NotPython,
    defined_names,
    definitions_only,
    free_names,
    helper_names,
    names_in,
    python_of,
    same_code,
    without_comments,
)
from autograder.gradebook.exporting import defused
from autograder.gradebook.harmless import harmless
from autograder.gradebook.page_exporter import page_of
from autograder.grafting.graft import graft
from autograder.grafting.written import MAX_ANSWER, answers_of
from autograder.judging.student_cells import solution_cell, source_cells, what_is_missing, without_later_imports
from autograder.judging.watched import watched_cells
from autograder.reading import MAX_CELL, read_notebook
from autograder.reading.damaged import has_marks
from autograder.reading.exports import MAX_SCRIPT, page_cells, script_cells
from autograder.reading.student_files import MAX_BYTES, MAX_CODE, Unreadable
from autograder.results import Example, Graded, GroupScore, Submission, Verdict
from autograder.results.shortening import shortened
from autograder.sandbox import SourceCell
from autograder.telling import likeness
from autograder.telling.classreport.gather import with_helpers
from autograder.telling.classreport.markup import code
from autograder.telling.report import as_html, as_json, as_text, clean, page

MOST = 2.0
"""Seconds of processor time that a trusted step may take with any text, on an idle machine."""

_PIECES = (
    "`", "``` \n", "```x\n", "~~~\n", "$", "$ ", "$x$", "$$x", "$$\n", "\\$", "\\(", "\\\\[", "\\\\(", "\\begin{a}",
    "[", "]", "[](", "![](", "[x]: ", "[^1]", "*", "**a", "_", "_a", "<", "<a ", "<!--", "<![CDATA[", "</", "&", "&#",
    "| ", "|-", "|a|\n|-|\n", "> ", "> \n", "- ", "- \n", "1. ", "# ", "#\n", "=\n", "---\n", " ", "\t", " \n", "\\",
    "http://", "a@b", "~~", "==", "^", "\n", "\r", "\x00", "\x0c", "\xe9", "e\u0301", "\u202e", "\ud7ff", "a", "a ",
    "a.", "a.b ", "a,", "(", "(a", "{", "[a", "a[", "f(", "-", "not ", "lambda:", "*a,", "a=", "a=b=", "@a\n", "1",
    "1+", "1.", "0x", "'", "''", "\"\"\"", "'''\n", "f'{", "f'{a}' ", "b''", "\\\n", ";", "a;", "pass;", "a=1\n",
    "x=y\n", "x = x\n", "%x\n", "!x\n", "a?\n", "x = %y\n", "%%x\n", "# %%\n", "#%%\n", "# exercise: a.b\n",
    "# exercise: ", "# In[1]:\n", "def f():pass\n", "def f(x):\n return x\n", "class a:pass\n", "import a\n",
    "from a import *\n", "if a:\n a\n", "for a in a:a\n", "try:\n a\nexcept:\n a\n", "with a:a\n", "global a\n",
    "del a\n", "a: b\n", "...\n", "<<<<<<< a\n", "=======\n", ">>>>>>> a\n", "<<<<<<< a\n=======\n>>>>>>> a\n",
    "### BEGIN SOLUTION\n", "### END SOLUTION\n", "\"cell_type\": \"code\", ", "{\"source\": \"", "\\u0000", "\\\"",
    "<div class=\"hl-python\"><pre>", "<pre>",
)  # fmt: skip


def _made(size: int) -> Iterator[tuple[str, str]]:
    """Texts of whole shapes: many names, many readers of them, deep nesting, growing runs."""
    lines = size // 24
    yield "runs of backticks, each longer", "".join("`" * n + "a" for n in range(1, int((2 * size) ** 0.5)))[:size]
    yield "fences, each longer", "".join("`" * n + "\n" for n in range(3, int((2 * size) ** 0.5)))[:size]
    yield "many names, bound in one line", "=".join(f"n{k}" for k in range(size // 8)) + "=0"
    yield "many names, each read by one", "\n".join(f"n{k} = n{k + 1}" for k in range(lines))
    yield "one name, bound many times", "\n".join(f"f = {k}" for k in range(lines)) + "\ndef f(x): return f"
    yield (
        "many readers of many names",
        (
            "\n".join(f"n{k} = 0" for k in range(lines // 4))
            + "\n"
            + "\n".join(
                "def f(): return " + "+".join(f"n{k}" for k in range(40 * j, 40 * j + 40)) for j in range(lines // 40)
            )
        ),
    )
    yield "one line of statements that read all", ";".join(f"n{k}=n{k}" for k in range(size // 14))
    for words, scope in (("functions", "def g(): a"), ("comprehensions", "[b for b in c]")):
        inner = "".join(f" a{k} = 0\n" for k in range(size // 32)) + f" {scope}\n" * (size // 32)
        yield f"a function of many names and {words}", f"def f():\n{inner}"
    yield "deep brackets", "(" * (size // 2) + ")" * (size // 2)
    yield "deep blocks", "".join(" " * depth + "if a:\n" for depth in range(95)) + " " * 95 + "a"
    yield "decorators", "@a\n" * (size // 3) + "def f():pass"
    yield "a long line of white space", " " * size + "x"
    yield "quotes that never end", '"""' + "a" * size
    yield "tokens that are none", "$?" * (size // 2)


def texts(size: int) -> Iterator[tuple[str, str]]:
    """Texts of about a size, with words for each."""
    yield from ((repr(piece), (piece * (size // len(piece) + 1))[:size]) for piece in _PIECES)
    yield from _made(size)


@dataclass(frozen=True)
class Step:
    """A trusted step.

    Attributes:
        name: What it does, in words.
        size: Characters of the longest text that it is given.
        run: Does it.
    """

    name: str
    size: int
    run: Callable[[str], object]


@dataclass(frozen=True)
class Tried:
    """A text that a step was tried with, in words, and the seconds of processor time that it took."""

    step: Step
    text: str
    seconds: float


def _notebook(text: str, *, cells: int = 1) -> bytes:
    """A notebook of code cells that share a text, as it comes from a student."""
    part = max(1, len(text) // cells)
    texts = [text[place : place + part] for place in range(0, len(text), part)]
    listed = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "outputs": [], "source": each}
        for n, each in enumerate(texts)
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": listed}).encode()


@cache
def _master() -> nbformat.NotebookNode:
    """A released notebook of two exercises."""
    cells = [nbformat.v4.new_markdown_cell("# A lesson")]
    for name in ("add", "mul"):
        source = f"# exercise: operators.{name}\n\n\ndef {name}(x, y):\n    raise NotImplementedError"
        cell = nbformat.v4.new_code_cell(source, id=name)
        cell.metadata["nbgrader"] = {"grade": False, "solution": True, "locked": False, "grade_id": f"{name}-solution",
                                     "schema_version": 3, "task": False}  # fmt: skip
        cells.append(cell)
    cells += Question("why", "Why?").cells()
    notebook: nbformat.NotebookNode = nbformat.v4.new_notebook(cells=cells)
    return notebook


def _answer(text: str) -> object:
    """Graft a solution cell and an answer in words, and look at what was taken as the judge does."""
    handed = copy.deepcopy(_master())
    handed.cells[1].source = text
    handed.cells[-1].source = f"{heading('why')}\n\n{text}"
    grafted = graft(json.dumps(handed).encode(), _master())  # half of a surrogate pair is legal in JSON
    cells = source_cells(grafted.notebook)
    return grafted, answers_of(grafted.notebook), what_is_missing(["operators.add"], cells, {})


def _reported(text: str) -> object:
    """Tell a text in every place of a report, in every form of it."""
    example = Example((("x", text),), text)
    verdict = Verdict("test", "It holds.", "all", "a.c: 'It holds.'", False, text, failure="error", example=example)
    untested = Graded("a.b", 1.0, (), reason=text, notes=(text,), events=(text,))
    failed = Graded("a.c", 1.0, (GroupScore("all", 1.0, 0.0),), (verdict,), notes=(text,))
    told = Submission("00_a", (shortened(untested), shortened(failed)), (text,), text)
    kept = Submission.from_json(json.loads(json.dumps(told.as_json())))
    return kept, as_text(told), as_json(told), page(told), [as_html(each, lesson="00_a") for each in told.exercises]


def _free_names(text: str) -> object:
    try:
        return free_names(text)
    except NotPython as error:
        return error


def _read(data: bytes) -> object:
    try:
        return read_notebook(data)
    except Unreadable as error:
        return error


def _parts(text: str) -> list[str]:
    """A text as cells of the largest size."""
    return [text[place : place + MAX_CELL] for place in range(0, len(text), MAX_CELL)]


def _watch(text: str) -> object:
    """Cut out an answer that needs what a text defines."""
    cells = [SourceCell(part, "added") for part in _parts(text)]
    needed = sorted({"n0", *helper_names(text[:MAX_CELL])})
    return watched_cells([*cells, SourceCell(f"def f(x): return {', '.join(needed)}", "solution", "a.f")], ["a.f"])


def _compared(text: str) -> object:
    return likeness.normalised(text), likeness.pairs({"ada": text, "bob": text + "\n"})


def _imports(text: str) -> object:
    return without_later_imports([solution_cell("a.f", text), SourceCell(text, "added")], ["a.f"])


STEPS = (
    Step("a cell is parsed", MAX_CELL, python_of),
    Step("its definitions are cut out", MAX_CELL, definitions_only),
    Step("its names are listed", MAX_CELL, lambda text: (names_in(text), defined_names(text))),
    Step("names that it needs of others are listed", MAX_CELL, _free_names),
    Step("its comments are left out", MAX_CODE, without_comments),
    Step(
        "lines that name an exercise are looked for", MAX_CODE, lambda text: (exercise_of(text), [*marked_lines(text)])
    ),
    Step("imports that take an answer away are left out", MAX_CELL, _imports),
    Step("two cells are compared", MAX_CELL, lambda text: same_code(text, text + " ")),
    Step("a notebook is read", MAX_CODE, lambda text: _read(_notebook(text, cells=20))),
    Step(
        "a notebook that is none is read",
        MAX_BYTES,
        lambda text: _read(b'{"cells": [' + text.encode("utf-8", "replace")),
    ),
    Step(
        "a script is read", MAX_SCRIPT, lambda text: _read(f"{text[40:]}\n# exercise: a.b\n".encode("utf-8", "replace"))
    ),
    Step("conflict marks are looked for", MAX_BYTES, has_marks),
    Step("a script is cut into cells", MAX_SCRIPT, script_cells),
    Step("a page is cut into cells", MAX_BYTES, page_cells),
    Step("a notebook is grafted", MAX_CODE, lambda text: graft(_notebook(text, cells=20), _master())),
    Step("an answer is grafted", MAX_ANSWER, _answer),
    Step("plain code is cut out for a witness", MAX_CODE, _watch),
    Step("an answer's helpers are looked for", MAX_CODE, lambda text: with_helpers(["a", "n0; n1"], _parts(text))),
    Step("an answer is compared with others", MAX_CELL, _compared),
    Step("an error is told", MAX_CELL, clean),
    Step("a report is made", MAX_CELL, _reported),
    Step("an answer is shown beside others", MAX_CELL, code),
    Step("a field of a table is written", MAX_CELL, defused),
    Step("HTML is cleaned", MAX_ANSWER, harmless),
    Step("a written answer becomes a page", MAX_ANSWER, lambda text: page_of([nbformat.v4.new_markdown_cell(text)])),
    Step("code becomes a page", MAX_CELL, lambda text: page_of([nbformat.v4.new_code_cell(text)])),
)
"""Every step of the grader that goes over a student's text outside of the sandbox."""


def tried(step: Step, only: Container[str] | None = None) -> Iterator[Tried]:
    """Try a step on texts of the largest size, and count the time of this thread: others of the process may be at work.

    Args:
        step: The step.
        only: The words of the texts to take, if not all.
    """
    for words, text in texts(step.size):
        if only is None or words in only:
            begun = time.thread_time()
            step.run(text)
            yield Tried(step, words, time.thread_time() - begun)


def worst_of(step: Step) -> Tried:
    """Try a step on all texts, and return the one that took longest."""
    return max(tried(step), key=lambda each: each.seconds)

"""Attacks by the file that is handed in: its cells, metadata, outputs, encoding, size and name."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable

import nbformat

from autograder.proof.attack.model import (
    ARITHMETIC,
    LESSON,
    RIGHT,
    WRONG,
    Attack,
    Files,
    Link,
    Node,
    Released,
    cell_of,
    edited,
    handed,
    notebook_with,
)
from autograder.proof.attack.programs import read

MARKUP = "alert('from-a-submission')"
"""The script that every piece of markup that is handed in would run."""

_NAME = f"{LESSON}.ipynb"


def _checks(notebook: Node) -> list[int]:
    return [i for i, cell in enumerate(notebook.cells) if cell.source.startswith("check(")]


def _skip_tags(notebook: Node) -> None:
    for index in _checks(notebook):
        notebook.cells[index].metadata["tags"] = ["skip-execution", "raises-exception"]


def _twins(notebook: Node) -> None:
    for index in reversed(_checks(notebook)):
        twin = copy.deepcopy(notebook.cells[index])
        twin.source = "3.0"
        notebook.cells.insert(index, twin)


def _more_points(notebook: Node) -> None:
    for index in _checks(notebook):
        notebook.cells[index].metadata["nbgrader"]["points"] = 1000


def _free_solutions(notebook: Node) -> None:
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata["nbgrader"].update(grade=True, solution=True, points=50, task=False, locked=False)


def _own_ids(notebook: Node) -> None:
    for number, cell in enumerate(notebook.cells):
        if "nbgrader" in cell.metadata:
            cell.metadata["nbgrader"]["grade_id"] = f"mine-{number % 2}"


def _strange_schema(notebook: Node) -> None:
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata["nbgrader"]["schema_version"] = 99
            cell.metadata["nbgrader"]["grade_id"] = ["a", {"list": None}]


def _no_checks(notebook: Node) -> None:
    notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith("check(")]


def _own_checks(notebook: Node) -> None:
    for index in _checks(notebook):
        notebook.cells[index].source = "3.0"


def _retyped(notebook: Node) -> None:
    for index in _checks(notebook):
        notebook.cells[index].cell_type = "markdown"
        notebook.cells[index].pop("outputs", None)
        notebook.cells[index].pop("execution_count", None)


def _saved_outputs(notebook: Node) -> None:
    for index in _checks(notebook):
        cell = notebook.cells[index]
        cell.outputs = [nbformat.v4.new_output("execute_result", data={"text/plain": "3.0"}, execution_count=1)]
        cell.execution_count = 1


def _own_kernel(notebook: Node) -> None:
    notebook.metadata["kernelspec"] = {
        "name": "../../evil",
        "display_name": "<script>",
        "language": "bash",
        "argv": ["/bin/sh", "-c", "touch /tmp/own-kernel"],
    }
    notebook.metadata["language_info"] = {"name": f"<script>{MARKUP}</script>", "file_extension": ".sh"}


def _forged_labels(notebook: Node) -> None:
    notebook.metadata["minigrad"] = {"notes": [{"text": "all points", "exercise": ""}], "unreadable": "", "stamp": "x"}
    for cell in notebook.cells:
        cell.metadata["minigrad"] = {"kind": "setup", "exercise": ARITHMETIC, "state": "answered", "earned": 3.0}


def _forged_stamp(notebook: Node) -> None:
    for stamp in ("version", "stamp"):
        notebook.metadata.setdefault("minigrad", {})[stamp] = "../../../../tmp"


def _markup_cells(notebook: Node) -> None:
    script = f"<script>{MARKUP}</script>"
    sources = [
        script,
        f'<img src=x onerror="{MARKUP}"><iframe srcdoc="{script}"></iframe><a href="javascript:{MARKUP}">x</a>',
        f'[link](javascript:{MARKUP}) ![x](x){{onerror={MARKUP}}}\n\n<svg onload="{MARKUP}"></svg>',
        f"<!--[if IE]>{script}<![endif]--><style>@import 'http://127.0.0.1/x'</style><base href=//127.0.0.1>",
        f"$\\require{{html}}\\href{{javascript:{MARKUP}}}{{x}}$",
    ]
    new = [nbformat.v4.new_markdown_cell(source) for source in sources]
    raw = nbformat.v4.new_raw_cell(script)
    raw.metadata["raw_mimetype"] = "text/html"
    notebook.cells += [*new, raw]


def _attachment(notebook: Node) -> None:
    cell = nbformat.v4.new_markdown_cell("![x](attachment:x.svg)")
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{MARKUP}"><script>{MARKUP}</script></svg>'
    cell["attachments"] = {"x.svg": {"image/svg+xml": svg, "text/html": f"<script>{MARKUP}</script>"}}
    notebook.cells.append(cell)
    widget = {"application/vnd.jupyter.widget-state+json": {"state": {"x": {"html": f"<script>{MARKUP}</script>"}}}}
    notebook.metadata["widgets"] = widget
    notebook.metadata["title"] = f"</title><script>{MARKUP}</script>"


def _markup_outputs(notebook: Node) -> None:
    html = {"text/html": f"<script>{MARKUP}</script>", "image/svg+xml": f'<svg onload="{MARKUP}"/>'}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            script = {**html, "application/javascript": MARKUP, "text/latex": f"\\href{{javascript:{MARKUP}}}{{x}}"}
            cell.outputs = [nbformat.v4.new_output("display_data", data=script)]


def _look_alike(notebook: Node) -> None:
    """Ids in other letters that look the same, in another case, and with marks that turn the text round."""
    for name in ("operators.\u0430rithmetic", "Operators.Arithmetic", "operators.arithmetic\u200b", "\u202eoperators"):
        cell = nbformat.v4.new_code_cell(f"# exercise: {name}\n{WRONG}")
        cell.metadata["nbgrader"] = {"grade_id": name.replace(".", "-"), "solution": True, "grade": True, "points": 3}
        notebook.cells.append(cell)


def _hundred_thousand_cells(notebook: Node) -> None:
    notebook.cells += [nbformat.from_dict({"cell_type": "code", "source": "1", "metadata": {}})] * 100_000


def _control_characters(notebook: Node) -> None:
    cell = notebook.cells[cell_of(notebook, ARITHMETIC)]
    cell.source = cell.source.replace("def neg(x):\n    return x", "def neg(x):\n    raise ValueError(LOUD)")
    cell.source += '\nLOUD = "\\x1b[2J\\x1b]0;title\\x07\\x00\\u202e3 of 3 points\\ud800\\u2066" + "<b>" * 20\n'


def _raw(change: Callable[[str], str | bytes]) -> Callable[[Released], Files]:
    """Change the file's own text."""

    def hand_in(released: Released) -> Files:
        made = change(json.dumps(notebook_with(released, WRONG)))
        return {_NAME: made if isinstance(made, bytes) else made.encode()}

    return hand_in


def _renamed(released: Released) -> Files:
    notebook = handed(notebook_with(released, RIGHT))[_NAME]
    return {"../x.ipynb".replace("/", "\u2215"): notebook, "\u202egnirts \x1b[31m<b>.ipynb": notebook}


def _many_notebooks(released: Released) -> Files:
    notebook = handed(notebook_with(released, WRONG))[_NAME]
    return {f"{LESSON} ({number}).ipynb": notebook for number in range(60)}


def _names_without_end(released: Released) -> Files:
    names = "=".join(f"n{number}" for number in range(6_000))
    readers = "\n".join(f"def f{number}(): return n{number}" for number in range(600))
    return handed(notebook_with(released, f"{names}=0\n{readers}\nadd = mul = neg = f0"))


def _named_out(_released: Released) -> Files:
    """An archive whose members lead out of every folder, beside a link that does."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("../../../outside.ipynb", "{}")
        file.writestr("/tmp/own-kernel", "x")
        file.writestr("bomb.ipynb", bytes(60_000_000))
    return {"00_fundamentals.zip": data.getvalue(), "out.ipynb": Link("../../../gradebook.db")}


_MADE = {
    "skip-execution-tags": edited(_skip_tags),
    "duplicated-checks": edited(_twins),
    "duplicated-checks-right": edited(_twins, RIGHT),
    "more-points": edited(_more_points),
    "metadata-all-graded": edited(_free_solutions),
    "other-grade-ids": edited(_own_ids),
    "strange-schema": edited(_strange_schema),
    "deleted-checks": edited(_no_checks),
    "edited-checks": edited(_own_checks),
    "retyped-checks": edited(_retyped),
    "saved-outputs": edited(_saved_outputs),
    "own-kernel": edited(_own_kernel),
    "forged-labels": edited(_forged_labels),
    "forged-stamp": edited(_forged_stamp),
    "look-alike-ids": edited(_look_alike),
    "markup-in-cells": edited(_markup_cells),
    "markup-in-attachments": edited(_attachment),
    "markup-in-outputs": edited(_markup_outputs),
    "control-characters": edited(_control_characters),
    "renamed-notebook": _renamed,
    "many-notebooks": _many_notebooks,
    "hundred-thousand-cells": edited(_hundred_thousand_cells),
    "deep-json": _raw(lambda text: "[" * 1_000_000),
    "deep-metadata": _raw(lambda t: t[:-1] + ', "x": ' + '{"x":' * 5000 + "1" + "}" * 5001),
    "cells-in-cells": _raw(
        lambda text: '{"nbformat":4,"cells":[' + '{"cell_type":' * 100 + "[" + "[]," * 800_000 + "]}"
    ),
    "duplicate-keys": _raw(lambda text: text[:-1] + ', "cells": []}'),
    "huge-number": _raw(lambda text: text.replace('"nbformat": 4', '"nbformat": ' + "4" * 10**6)),
    "nan-numbers": _raw(lambda text: text.replace('"nbformat": 4', '"nbformat": NaN')),
    "invalid-utf-8": _raw(lambda text: text.encode().replace(b"return", b"ret\xff\xfeurn")),
    "null-bytes": _raw(lambda text: text.replace("return x - y", "return\\u0000 x")),
    "lone-surrogates": _raw(lambda text: text.replace("return x - y", "return '\\ud800'")),
    "bomb-of-spaces": _raw(lambda text: text + " " * 60_000_000),
    "zip-archive": _raw(lambda text: b"PK\x03\x04" + bytes(1000)),
    "html-page": _raw(lambda text: f"<html><script>{MARKUP}</script></html>"),
}
NOTEBOOKS: tuple[Attack, ...] = tuple(read("notebooks", _MADE, markup=MARKUP))

READING = {"names-without-end": _names_without_end, "archive-leads-out": _named_out}
"""Files of the family `neighbours` that cost whoever reads them."""

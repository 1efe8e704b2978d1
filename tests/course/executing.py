"""Notebooks of the lessons with answers typed in, run from top to bottom in a fresh kernel."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib.metadata import distributions
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from places import ROOT
from solving import HURRIED

LIMIT = 60  # seconds that a lesson may take on two cores

BY_THE_CLOCK = ("12_poems", "13_fewer_bits")
"""Lessons that train for minutes, whose clock is hurried in tests: a minute is a second."""

# What the notebook would take if nothing else ran: no machine's load is in it. (A lesson may define `sum` and `max`.)
COST = """
import builtins, os, time
used = os.times()
print("cost", builtins.max(time.thread_time(), builtins.sum(used[:4]) / 2))
"""


_MEASURES = re.compile(r"\b(?:time|timeit|perf_counter|tracemalloc)\b")


@dataclass(frozen=True)
class Run:
    """What came of a notebook.

    Args:
        errors: The text of each cell that raised, with the error; not of those that wait for an exercise.
        waiting: The text of each cell that says that an exercise on which it builds is not written yet.
        stderr: What was printed there.
        checks: For each exercise the text of its check's report.
        seconds: That it would have taken on two idle cores, at least.
        silent: The text of each cell with a picture that says nothing in words, to people who cannot see it.
        printed: The lines that the examples print and return, but not checks, and not examples that measure time.
    """

    errors: tuple[str, ...]
    waiting: tuple[str, ...]
    stderr: str
    checks: dict[str, str]
    seconds: float
    silent: tuple[str, ...]
    printed: tuple[str, ...]


def run_lesson(name: str, answers: dict[str, str], *, only_exercises: bool = False, keep: Path | None = None) -> Run:
    """Execute a lesson's notebook with these answers in its solution cells.

    Args:
        name: The lesson, such as "03_backprop".
        answers: For each exercise, by id, the text of its cell; others keep the stub.
        only_exercises: Leave out what is neither setup, exercise nor check.
        keep: A folder for what came of it: the same cells, in the same library and packages, are run once.
    """
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if only_exercises:
        cells = [cell for cell in cells if "nbgrader" in cell.metadata or "setup" in cell.metadata.get("tags", [])]
    for cell in cells:
        placed = re.match(r"# exercise: (\S+)\n", cell.source)
        if placed and placed[1] in answers:
            cell.source = answers[placed[1]]
    if name in BY_THE_CLOCK:
        cells.insert(0, nbformat.v4.new_code_cell(HURRIED))
    notebook.cells = cells
    if keep is None:
        return _alone(notebook)
    file = keep / f"{name}-{_decided_by([cell.source for cell in cells])}.json"
    if file.exists():
        found = json.loads(file.read_text(encoding="utf-8"))
        return Run(**{key: tuple(value) if isinstance(value, list) else value for key, value in found.items()})
    run = _alone(notebook)
    if not run.errors and not run.stderr:
        file.write_text(json.dumps(asdict(run)), encoding="utf-8")
    return run


def _alone(notebook: nbformat.NotebookNode) -> Run:
    """Execute a notebook where no folder beside holds a reader's answers, which `use` would take."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "lessons")
        folder.mkdir()
        return execute(notebook, folder)


def _decided_by(sources: list[str]) -> str:
    """Return a hash of all that decides what comes of cells: their text, library, packages and this module."""
    library = [path for path in sorted((ROOT / "src").rglob("*")) if path.suffix in {".py", ".json", ".js", ".css"}]
    digest = hashlib.sha256(json.dumps([sys.version, *sources]).encode())
    digest.update("\n".join(sorted(f"{each.name} {each.version}" for each in distributions())).encode())
    for path in (Path(__file__), *library):
        digest.update(f"{path.relative_to(ROOT)} ".encode() + path.read_bytes())
    return digest.hexdigest()[:32]


def execute(notebook: nbformat.NotebookNode, folder: Path, library: Path | None = None) -> Run:
    """Execute a notebook in a fresh kernel.

    Args:
        notebook: The notebook; its outputs are filled in.
        folder: The kernel's working directory.
        library: The directory that holds the `minigrad` to import, if it is not the one that is installed.
    """
    notebook.cells.append(nbformat.v4.new_code_cell(COST))
    # On a busy machine an output comes late, and would be left out in silence.
    waits = {"timeout": 600, "iopub_timeout": 600, "allow_errors": True}
    client = NotebookClient(notebook, **waits, resources={"metadata": {"path": str(folder)}})
    path = {"PYTHONPATH": str(library)} if library else {}
    untraced = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    client.execute(env=untraced | path)  # coverage takes longer than the library does
    return _run([cell for cell in notebook.cells if cell.cell_type == "code"])


def _run(cells: list[nbformat.NotebookNode]) -> Run:
    outputs = [(cell, output) for cell in cells for output in cell.outputs]
    raised = [(cell, out) for cell, out in outputs if out.output_type == "error"]
    waiting = [cell.source for cell, out in raised if out.ename == "ExerciseNotDone"]
    errors = [f"{cell.source}\n-> {out.ename}: {out.evalue}" for cell, out in raised if cell.source not in waiting]
    streams = [(out.name, out.text) for _, out in outputs if out.output_type == "stream"]
    checks = {}
    for cell, out in outputs:
        checked = re.fullmatch(r'check\("([\w.]+)"\)', cell.source)
        if checked and "data" in out:
            checks[checked[1]] = html.unescape(re.sub("<[^>]*>", " ", out.data.get("text/html", "")))
    printed = "".join(text for name, text in streams if name == "stdout")  # a line may come in two parts
    cost = float(re.findall(r"^cost (\S+)$", printed, re.MULTILINE)[-1])
    silent = [cell.source for cell, out in outputs if not _says_what_it_shows(out)]
    stderr = "".join(text for name, text in streams if name == "stderr")
    said = [
        _text(out) for cell, out in outputs if "nbgrader" not in cell.metadata and not _MEASURES.search(cell.source)
    ]
    return Run(tuple(errors), tuple(waiting), stderr, checks, cost, tuple(silent), tuple("".join(said).splitlines()))


def _text(out: nbformat.NotebookNode) -> str:
    if out.output_type == "stream":
        return str(out.text) if out.name == "stdout" else ""
    is_said = out.output_type == "execute_result" or "application/vnd.jupyter.widget-view+json" in out.get("data", {})
    return f"{out.data.get('text/plain', '')}\n" if is_said else ""


def _says_what_it_shows(out: nbformat.NotebookNode) -> bool:
    data = out.get("data", {})
    svg = f"{data.get('image/svg+xml', '')}{data.get('text/html', '')}"
    named = all(
        re.search(r"<title>[^<]+</title>|\saria-label=", drawn) for drawn in re.findall(r"<svg.*?</svg>", svg, re.S)
    )
    return named and ("image/png" not in data or bool(out.metadata.get("image/png", {}).get("alt")))

"""Lessons executed in a kernel, with the reference in the place of every answer."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autograder.building.build import BuiltLesson
from autograder.building.notebooks import Notebook
from book.keeping import hash_of, kept, of_files, of_library
from book.places import ROOT

# After autograder's: it spares jsonschema an import of a second.
import nbformat  # isort: skip
from nbclient import NotebookClient  # isort: skip

__all__ = ["BookError", "executed"]

SECONDS = 600
"""Most seconds of one cell."""

LONGEST = ("12_poems", "03_backprop", "07_parallel_cpu", "08b_training", "09_networks", "11_compiler")
"""The lessons that take longest are begun first, so that all processors end together."""

WIDGET = "application/vnd.jupyter.widget-view+json"


class BookError(Exception):
    """The book cannot be made; the message says why in one sentence."""


def executed(lessons: Mapping[str, BuiltLesson], results: Path) -> Iterator[tuple[str, Notebook]]:
    """Execute lessons, several at a time, and yield each with its outputs; those that were executed before are read.

    Args:
        lessons: By name.
        results: The folder where outputs are kept.

    Raises:
        BookError: If a cell raises, or writes to stderr.
    """
    order = sorted(lessons, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
    with ThreadPoolExecutor(max_workers=max(2, (os.cpu_count() or 2) // 2)) as pool:
        jobs = {name: pool.submit(_kept, name, lessons[name].source, results) for name in order}
        try:
            for name in lessons:
                yield name, jobs[name].result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _kept(name: str, notebook: Notebook, results: Path) -> Notebook:
    """Return the executed notebook, from the folder of results if nothing that decides them has changed."""
    decided_by = hash_of(nbformat.writes(notebook), of_library(), of_files([Path(__file__)]))
    text = kept(results / f"{name}-{decided_by}.json", lambda: json.dumps(_execute(name, notebook)))
    found: Notebook = nbformat.from_dict(json.loads(text))
    return found


def _execute(name: str, notebook: Notebook) -> Notebook:
    with tempfile.TemporaryDirectory() as folder:  # a kernel writes the reader's progress beside the notebook
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            allow_errors=True,
            resources={"metadata": {"path": folder}},
            kernel_name="python3",
        )
        untraced = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
        client.execute(env=untraced | {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore"})
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                raise BookError(f"{name}: the cell {cell.source[:60]!r} raises {output.ename}: {output.evalue}")
            if output.get("name") == "stderr":
                raise BookError(f"{name}: the cell {cell.source[:60]!r} writes to stderr: {output.text.strip()}")
    return _without_widgets(notebook)


def _without_widgets(notebook: Notebook) -> Notebook:
    """Leave out the widgets, which need a kernel: each has an output behind it that shows its picture."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if WIDGET not in output.get("data", {})]
            cell.metadata.pop("execution", None)  # the times of this run
    return notebook

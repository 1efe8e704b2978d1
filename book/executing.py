"""Lessons executed in a kernel, with the reference in the place of every answer."""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autograder.building.build import BuiltLesson
from autograder.building.notebooks import Notebook
from book import states
from book.keeping import hash_of, kept, of_files, of_library
from book.places import ROOT

# After autograder's: it spares jsonschema an import of a second.
import nbformat  # isort: skip
from nbclient import NotebookClient  # isort: skip

__all__ = ["BookError", "executed"]

CUT_SHORT = "fewer than planned"
"""A lesson prints these words where its limit of time stops a training."""

LIMIT = re.compile(r"^seconds = [\d.]+$", re.MULTILINE)
"""A lesson's limit of time. Its text tells a reader on a slow computer to raise it, and a build does so too."""

SECONDS = 600
"""Most seconds of one cell."""

LONGEST = ("12_poems", "13_fewer_bits", "09_networks", "03_backprop", "08b_training")
"""The lessons that take longest are begun first, so that all processors end together."""

AT_ONCE = 2
"""How many lessons are executed at a time, with one processor each."""

ALONE = ("07_parallel_cpu", "07b_what_a_loop_costs", "11b_loops", "14_many_workers")
"""Lessons that measure what more processors gain: each has all of them for itself."""

ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

WIDGET = "application/vnd.jupyter.widget-view+json"


class BookError(Exception):
    """The book cannot be made; the message says why in one sentence."""


def executed(lessons: Mapping[str, BuiltLesson], results: Path, tell: Callable[[str], None]) -> dict[str, Notebook]:
    """Execute lessons, and return each with its outputs; those that were executed before are read.

    Each lesson's outputs are written as soon as its last cell has run, so an interrupted build loses only the lessons
    that were running.

    Args:
        lessons: By name.
        results: The folder where outputs are kept.
        tell: Is told of each lesson that was executed, and how long that took.

    Raises:
        BookError: If a cell raises, or writes to stderr.
    """
    order = sorted(lessons, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
    together = [name for name in order if name not in ALONE]
    found = dict[str, Notebook]()
    for names, at_once, threads in (together, AT_ONCE, ONE_THREAD), (ALONE, 1, {}):
        with ThreadPoolExecutor(max_workers=at_once) as pool:
            jobs = {
                name: pool.submit(_kept, name, lessons[name].source, threads, results, tell)
                for name in names
                if name in lessons
            }
            try:
                found |= {name: job.result() for name, job in jobs.items()}
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    return {name: found[name] for name in lessons}


def _kept(
    name: str, notebook: Notebook, threads: Mapping[str, str], results: Path, tell: Callable[[str], None]
) -> Notebook:
    """Return the executed notebook, from the folder of results if nothing that decides them has changed."""
    decided_by = hash_of(nbformat.writes(notebook), of_library(), of_files([Path(__file__), Path(states.__file__)]))

    def executed_now() -> str:
        begun = time.monotonic()
        text = json.dumps(_execute(name, notebook, threads))
        tell(f"  {name}: {time.monotonic() - begun:.0f} s")
        return text

    text = kept(results / f"{name}-{decided_by}.json", executed_now)
    found: Notebook = nbformat.from_dict(json.loads(text))
    return found


def _execute(name: str, notebook: Notebook, threads: Mapping[str, str]) -> Notebook:
    # A kernel writes the reader's progress into its folder, and `use` looks into those beside it: there are none.
    with tempfile.TemporaryDirectory() as alone:
        folder = Path(alone, "lessons")
        folder.mkdir()
        sources = [cell.source for cell in notebook.cells]
        for cell in notebook.cells:
            cell.source = LIMIT.sub(f"seconds = {SECONDS}", cell.source)
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            iopub_timeout=SECONDS,  # on a busy machine an output comes late, and would be left out in silence
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
            kernel_name="python3",
            # Without the first, each kernel warns that it talks to this machine unencrypted.
            extra_arguments=["--log-level=ERROR", f"--ext={states.__name__}"],
        )
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        untraced = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
        # Not `execute`, which leaves a loop open in each thread.
        env = {**untraced, **threads, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
        asyncio.run(client.async_execute(env=env))
    for cell, source in zip(notebook.cells, sources, strict=True):
        cell.source = source
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                raise BookError(f"{name}: the cell {cell.source[:60]!r} raises {output.ename}: {output.evalue}")
            if output.get("name") == "stderr":
                raise BookError(f"{name}: the cell {cell.source[:60]!r} writes to stderr: {output.text.strip()}")
            if CUT_SHORT in output.get("text", ""):
                first = next(line for line in output.text.splitlines() if CUT_SHORT in line)
                raise BookError(
                    f"{name}: the cell {cell.source[:60]!r} was cut short: {first}; build on a free machine"
                )
            if WIDGET in output.get("data", {}):
                raise BookError(f"{name}: the cell {cell.source[:60]!r} shows a widget, for which pages have no kernel")
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # the times of this run
    return notebook

"""Checking notebooks from a terminal: each in a process of its own, so that a loop without an end ends.

The process that runs the student's code (`checking_apart`) writes one line of JSON for each thing that it begins or has
done; this one waits for it, and knows from the last line what to blame when nothing more comes. In between it says how
long it has worked: limits are of that, since other programs may have the processors.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import IO, Any

from minigrad import exercises
from minigrad.checks.runner import MOST, NOT_WRITTEN, CheckReport, CheckResult
from minigrad.errors import MinigradError
from minigrad.tutor import hints
from minigrad.working_folder.check_lines import failed, report_of

SECONDS = 20.0
"""Of work, after which a cell that has not ended is left out."""

_STARTING = 120.0  # seconds in which the other process must have imported the library, on the slowest machine


@dataclass
class Checked:
    """The result of checking one notebook.

    Attributes:
        notebook: The notebook, or the folder of answers to MiniTorch.
        reports: A report for each exercise in it.
        remarks: Sentences about cells that could not be run.
        seen: Names of mistakes that were looked for and found (see `minitorch_blind_spots`).
        stricter: Where an answer gives what MiniTorch specifies, and more is asked here (`stricter.Asked`).
    """

    notebook: Path
    reports: list[CheckReport] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    stricter: list[dict[str, str]] = field(default_factory=list)


def check_notebook(
    notebook: Path, ids: Sequence[str], seconds: float = SECONDS, endless: set[int | str] | None = None
) -> Checked:
    """Check the answers in a notebook, in processes that are stopped when they take too long.

    Args:
        notebook: The notebook.
        ids: Its exercises that are wanted.
        seconds: How long a cell may work; a check may take its own time as well. One that waits, for a processor or
            for nothing, is stopped after a few times as long.
        endless: Cells that did not end when other notebooks were checked; more of them may be added.

    Raises:
        MinigradError: If the notebook cannot be read.
    """
    exercises.answer_cells(notebook)  # raises here, not over there
    return _check(notebook, ids, seconds, endless)


def check_folder(folder: Path, ids: Sequence[str], seconds: float = SECONDS) -> Checked:
    """Check the answers to MiniTorch's tasks in a folder, in the same manner."""
    return _check(folder, ids, seconds)


def _check(place: Path, ids: Sequence[str], seconds: float, endless: set[int | str] | None = None) -> Checked:
    checked = Checked(place)
    skipped = set() if endless is None else endless
    while waiting := [id for id in ids if id not in {report.exercise for report in checked.reports}]:
        at, how = _one_process(checked, waiting, skipped, seconds)
        if "cell" in at:
            skipped.add(at["cell"])
            checked.remarks.append(exercises.left_out(at.get("notebook", place.name), at["text"], f"it {how}"))
        elif "check" in at:
            checked.reports.append(failed(at["check"], f"the check {how}"))
        else:
            reason = f"the process for the checks {how or 'gave no result'}"
            checked.reports += [
                failed(id, reason) for id in waiting if not any(report.exercise == id for report in checked.reports)
            ]
    checked.reports.sort(key=lambda report: ids.index(report.exercise))
    return checked


def _one_process(
    checked: Checked, ids: Sequence[str], skipped: Iterable[int | str], seconds: float
) -> tuple[dict[str, Any], str]:
    """Run a process until it ends or takes too long; return what it was at then, and how it came to an end."""
    task = {"place": str(checked.notebook.resolve()), "ids": list(ids), "skipped": list(skipped)}
    command = [sys.executable, "-P", "-m", "minigrad.working_folder.checking_apart"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    path = os.pathsep.join(filter(None, [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH")]))
    at: dict[str, Any] = {}
    # As in Jupyter, the notebook's folder is the current one.
    place = checked.notebook.resolve()
    folder, variables = place if place.is_dir() else place.parent, {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, cwd=folder, env=variables, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with process.stdin:
                process.stdin.write(json.dumps(task).encode())
            lines, limit, begun = _lines(process.stdout), _STARTING, time.monotonic()
            until = begun + limit
            while (line := lines.get(timeout=max(until - time.monotonic(), 0.0))) is not None:
                if "worked" in line:
                    if line["worked"] > limit:
                        raise queue.Empty
                    until = begun + MOST * limit + line["compiled"]
                    continue
                limit, begun = seconds + line.get("seconds", 0.0), time.monotonic()
                until = begun + MOST * limit
                at = line if line.keys() & {"cell", "check"} else at if line.keys() == {"stricter"} else {}
                _take(checked, line)
                if "end" in line:
                    return {}, ""
            return at, "ended Python, instead of coming to its own end"
        except BrokenPipeError:
            return at, "could not be started"
        except queue.Empty:
            return at, f"was still running after {limit:g} s: does its loop end?"
        finally:
            process.kill()


def _take(checked: Checked, line: dict[str, Any]) -> None:
    if "remark" in line and line["remark"] not in checked.remarks:
        checked.remarks.append(line["remark"])
    if "seen" in line and line["seen"] not in checked.seen:
        checked.seen.append(line["seen"])
    if "stricter" in line:
        checked.stricter.append(line["stricter"])
    if "report" in line:
        checked.reports.append(report_of(line))


def _lines(stream: IO[bytes]) -> queue.Queue[dict[str, Any] | None]:
    """Read a stream in a thread, since only a queue can be waited for on every system; None is its end."""
    lines: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def read() -> None:
        with suppress(ValueError):  # half a line of a process that was stopped, or the stream was closed after that
            for line in stream:
                lines.put(json.loads(line))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def not_begun(id: str, notebook: Path) -> bool:
    """Return whether the cell of an exercise is as it was given out, or empty. A deleted cell is neither."""
    cells = [source for source in exercises.answer_cells(notebook) if exercises.exercise_of(source) == id]
    return bool(cells) and all(is_as_given(id, source) for source in cells)


def unwritten(id: str) -> CheckReport:
    """Return the report of an exercise that is not begun, as its check gives it; nothing is run for it."""
    result = CheckResult("The answer is written", False, NOT_WRITTEN)
    return CheckReport(id, exercises.get(id).points, (result,), hints.pointer(id))


def is_as_given(id: str, source: str) -> bool:
    """Return whether each object of an exercise can still reach the stub's line, or only comments are there."""
    try:
        code = exercises.code_of(source)
    except MinigradError:
        return False
    if code is None:
        return True
    names = {name.rpartition(".")[2] for name in exercises.get(id).objects}
    asked = [each for each in code.co_consts if isinstance(each, CodeType) and each.co_name in names]
    return all(map(exercises.gives_up, asked or [code]))

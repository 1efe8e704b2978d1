"""A grader as most are: it runs the notebook in one process beside tests, gradebook and other submissions.

A script of its own, run by `naive.py` where it can do no harm. It reads hostile notebooks as JSON from stdin, a line
each, and answers each with what the attack achieved.
"""

import contextlib
import io
import json
import os
import resource
import select
import shutil
import signal
import sqlite3
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

SECRET = "assert add(2, 41414.25) == 41416.25  # a hidden test"
CANARY = "canary_of_a_neighbour"
ANSWER = (
    f"### BEGIN SOLUTION {CANARY}\ndef add(x, y): return x + y\ndef mul(x, y): return x * y\ndef neg(x): return -x\n"
)
TESTS = (
    "import numpy.testing\nnumpy.testing.assert_allclose(add(2, 3), 5)\nnumpy.testing.assert_allclose(neg(2), -2)",
    f"{SECRET}\nassert mul(2, 3) == 6\nassert neg(2) == -2",
    "check(add, mul, neg)",
)
SETUP = "def check(add, mul, neg):\n    return float(add(2, 3) == 5 and mul(2, 3) == 6 and neg(2) == -2)"
Notebook = dict[str, Any]
COURSE = Path("/tmp/course")
PATIENCE = {"hangs": 2.0}  # seconds, by what is expected


def lay_out(notebook: Notebook) -> None:
    """Make a course with a gradebook, the tests beside it, another student's work, and what was handed in."""
    COURSE.mkdir(exist_ok=True)
    for entry in COURSE.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for folder in ("source/module0", "submitted/neighbour/module0", "autograded/attack/module0"):
        (COURSE / folder).mkdir(parents=True)
    cells = [{"cell_type": "code", "source": text} for text in (ANSWER, *TESTS)]
    for place in ("source", "submitted/neighbour"):
        (COURSE / place / "module0" / "x.ipynb").write_text(json.dumps({"cells": cells}))
    with contextlib.closing(sqlite3.connect(COURSE / "gradebook.db")) as book, book:
        book.execute("CREATE TABLE grade (student, auto_score, manual_score, needs_manual_grade)")
        book.execute("INSERT INTO grade VALUES (?, 1, NULL, 0)", [CANARY])
    (COURSE / "nbgrader_config.py").write_text("c = get_config()\n")
    os.chdir(COURSE / "autograded" / "attack" / "module0")
    merge(notebook)
    Path("x.ipynb").write_text(json.dumps(notebook))


def merge(notebook: Notebook) -> None:
    """Put the tests into the graded cells, whose metadata are believed."""
    graded = [cell for cell in notebook["cells"] if cell["source"].startswith("check(") or "-check" in grade_id(cell)]
    for cell, test in zip(graded, TESTS * len(graded), strict=False):
        if cell["source"].startswith("check("):
            cell["source"] = test
    notebook["cells"].insert(0, {"cell_type": "code", "source": SETUP, "metadata": {}})


def grade_id(cell: dict[str, Any]) -> str:
    """The id of a graded cell, or nothing."""
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def run_kernel(notebook: Notebook, results: TextIO) -> None:
    """Run every cell in one namespace, and write how each ended."""
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    shell.kernel = SimpleNamespace(do_execute=lambda source: shell.run_cell(source, store_history=True))
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code" or not wanted(cell):
            continue
        if "skip-execution" in cell["metadata"].get("tags", ()):
            told = {
                "id": grade_id(cell),
                "points": points(cell),
                "failed": False,
                "result": None,
                "output": "",
                "size": 0,
            }
            results.write(json.dumps(told) + "\n")
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            result = shell.kernel.do_execute(cell["source"])
        told = {"id": grade_id(cell), "points": points(cell), "failed": result is not None and not result.success}
        shown = None if "score" in output.getvalue() or result is None else result.result
        told["result"] = None if shown is None else repr(shown)
        told["output"] = output.getvalue()[:200_000]
        told["size"] = len(output.getvalue())
        results.write(json.dumps(told) + "\n")
        results.flush()
    results.write('"end"\n')
    results.flush()


def wanted(cell: dict[str, Any]) -> bool:
    """Return whether a cell is the student's, of the exercise at hand, or graded: a lesson's examples are left out."""
    return "nbgrader" in cell["metadata"] or cell.get("id", "").startswith("added") or cell["source"] in (SETUP, "3.0")


def points(cell: dict[str, Any]) -> float:
    """The points that a cell's metadata say it is worth."""
    nbgrader = cell["metadata"].get("nbgrader", {})
    return float(nbgrader.get("points") or 0.0) if nbgrader.get("grade") else 0.0


def score(told: dict[str, Any]) -> float:
    """Points as nbgrader gives them: 0 for an error, a number for itself, all for anything else."""
    if told["failed"]:
        return 0.0
    with contextlib.suppress(TypeError, ValueError):
        return min(float(told["result"]), float(told["points"]))
    return float(told["points"])


def grade(notebook: Notebook, report: int) -> None:
    """The grader's own process: start the kernel, add up the points, report."""
    read, write = os.pipe()
    kernel = os.fork()
    if kernel == 0:
        try:
            run_kernel(notebook, os.fdopen(write, "w"))
        finally:
            os._exit(0)
    os.close(write)
    told = [json.loads(line) for line in os.fdopen(read)]
    done = [each for each in told if each != "end"]
    answers = [each for each in done if each["points"]]
    summary = {
        "ended": told[-1:] == ["end"],
        "earned": sum(map(score, answers)),
        "shown": " ".join(each["output"] for each in done),
        "size": max((each["size"] for each in done), default=0),
    }
    os.write(report, json.dumps(summary).encode() + b"\n")
    os._exit(0)


def content() -> dict[str, bytes]:
    """Everything of the course but what the student handed in."""
    files = (path for path in COURSE.rglob("*") if path.is_file() and "autograded" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


def others() -> set[int]:
    """The processes in here beside this one and the first."""
    return {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}


def peak() -> int:
    """The most memory, in bytes, that any process in here holds as its own."""
    found = 0
    for pid in others():
        with contextlib.suppress(OSError, ValueError):
            found = max(found, int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * 4096)
    return found


def attempt(notebook: Notebook, seconds: float, answers: int) -> list[str]:
    """Grade one notebook, and return the words for what it achieved."""
    lay_out(notebook)
    before = content()
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(read)
        os.close(answers)
        grade(notebook, write)
    os.close(write)
    data, most, deadline = b"", 0, time.monotonic() + seconds
    while time.monotonic() < deadline:
        most = max(most, peak())
        if select.select([read], [], [], 0.02)[0]:
            chunk = os.read(read, 1 << 20)
            data += chunk
            if not chunk or data.endswith(b"\n"):
                break
    late = time.monotonic() >= deadline
    os.close(read)
    time.sleep(0.15)  # a daemon strikes when the grader is done
    return achieved(data, before, most, late)


def achieved(data: bytes, before: dict[str, bytes], most: int, late: bool) -> list[str]:
    """Words for what is seen afterwards; every other process is gone when this returns."""
    running = [pid for pid in others() if state(pid) not in ("Z", "")]
    words = ["processes"] if running and not late else []
    words += ["damage"] if content() != before else []
    os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, 0):
            pass
    summary = json.loads(data) if data.endswith(b"\n") else None
    words += ["hangs"] if late else ["stops"] if summary is None or not summary["ended"] else []
    words += ["memory"] if most > 2 << 30 else []
    if summary:
        shown = summary["shown"]
        words += [] if summary["earned"] <= 0 else ["points"]  # nan is no defeat
        words += ["leak"] if SECRET in shown or CANARY in shown or "hidden test" in shown else []
        words += ["socket"] if "connected to-loopback" in shown else []
        words += ["output"] if summary["size"] > 10**7 else []
    return words


def state(pid: int) -> str:
    """R, S, Z, ...; nothing if there is no such process."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def main() -> None:
    """Answer each line with a line of words."""
    import IPython.core.interactiveshell  # noqa: F401 - once, before the forks
    import numpy.testing  # noqa: F401

    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    answers = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    lines = sys.stdin.readlines()
    for standard in range(3):
        os.dup2(null, standard)
    for line in lines:
        expected, notebook = json.loads(line)
        words = attempt(notebook, PATIENCE.get(expected, 30.0), answers)
        os.write(answers, (json.dumps(words) + "\n").encode())


if __name__ == "__main__":
    main()

"""The process in which `minigrad check` runs a student's code; `checking` starts it and waits for its lines."""

from __future__ import annotations

import itertools
import json
import os
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from minigrad import exercises
from minigrad.checks import runner
from minigrad.errors import MinigradError
from minigrad.exercises.marker import marker
from minigrad.tutor import hints
from minigrad.working_folder.check_lines import as_line, most_seconds

_BEAT = 0.5  # seconds between two lines that say how long the step under way has worked


class _Lines:
    """Writes a line for each step, and from time to time the seconds that have gone into the step so far."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._step = ExitStack()
        self._begin()
        threading.Thread(target=self._beat, daemon=True).start()

    def __call__(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._write(line)
            self._begin()

    def _begin(self) -> None:
        self._step.close()
        self._compiling = self._step.enter_context(runner._compiling())
        self._begun, self._worked = time.monotonic(), time.process_time()

    def _write(self, line: dict[str, Any]) -> None:
        self._out.write(json.dumps(line) + "\n")
        self._out.flush()

    def _beat(self) -> None:
        while True:
            time.sleep(_BEAT)
            with self._lock:
                compiled = self._compiling()
                # Threads of a kernel work at the same time: no step works longer than it takes.
                worked = min(time.process_time() - self._worked, time.monotonic() - self._begun) - compiled
                self._write({"worked": worked, "compiled": compiled})


def _work(task: dict[str, Any], out: IO[str]) -> None:
    """Run the answers, then their checks, and say each step."""
    place, ids, skipped = Path(task["place"]), task["ids"], set(task["skipped"])
    if place.is_dir():
        from minigrad.working_folder.minitorch import answers

        lines = answers(place, ids, skipped)
    else:
        lines = _steps(place, ids, skipped)
        sys.path.insert(_behind_pythons_own(), str(place.parent))  # a module there can be imported, as in Jupyter
    say = _Lines(out)
    for line in itertools.chain(lines, [{"end": True}]):
        say(line)


def _behind_pythons_own() -> int:
    """Return the place in `sys.path` behind Python's own modules: some are imported late, and none is a student's."""
    own = sysconfig.get_path("stdlib")
    found = (at for at, each in enumerate(sys.path) if each in (own, os.path.join(own, "lib-dynload")))
    return 1 + max(found, default=-1)


def _steps(notebook: Path, ids: Sequence[str], skipped: set[int | str]) -> Iterator[dict[str, Any]]:
    for earlier in exercises.lessons_before(notebook):
        names: dict[str, Any] = {"__name__": "__main__"}
        yield from (line for line in _cells(earlier, names, skipped) if "remark" not in line)
        exercises.stand_in(names)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    yield from _cells(notebook, namespace, skipped)
    placed = exercises.placed_in(notebook)
    for id in ids:
        yield {"check": id, "seconds": most_seconds(id)}
        lacks = ", in a cell that runs to its end" if id in placed else _missing(id, notebook)
        yield as_line(runner.run(id, namespace, f"{notebook.name}{lacks}"))


def _missing(id: str, notebook: Path) -> str:
    """Return the clause for an exercise without a cell, with the two ways to get one where its lesson is checked."""
    said = ", where the cell of this exercise is missing"
    if exercises.get(id).lesson != notebook.stem:
        return said
    anew = "or move the notebook away, and `minigrad start` gives a fresh copy"
    return f"{said}: write it into a new cell that begins with `{marker(id)}`; {anew}"


def _cells(notebook: Path, namespace: dict[str, Any], skipped: set[int | str]) -> Iterator[dict[str, Any]]:
    """Run the cells that answers consist of, and say each."""
    try:
        cells = exercises.answer_cells(notebook)
    except MinigradError:  # it was looked at before, unless it is another lesson: whoever checks that one is told
        return
    for number, source in enumerate(cells, start=1):
        cell = f"{notebook}, {number}"
        if cell in skipped:
            continue
        text = source.strip().partition("\n")[0][:80]
        yield {"cell": cell, "notebook": notebook.name, "text": text}
        if left_out := exercises.run_answer(notebook.name, number, source, namespace):
            yield {"remark": left_out}


def main() -> None:
    """Do the task on the standard input; what the student prints goes nowhere."""
    task = json.load(sys.stdin)
    hints.speak_to_a_terminal()
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for as long as the process lives
    _work(task, out)
    os._exit(0)  # whatever threads the student's code has left


if __name__ == "__main__":
    main()

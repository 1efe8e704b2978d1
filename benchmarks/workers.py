"""Each library runs in a process of its own, as users meet it: `python -m benchmarks.workers torch`.

The process answers requests, one line of JSON each: build a program, run it so many times, train, report its memory.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import process_memory

__all__ = ["COMPILERS", "LIBRARIES", "Failed", "Worker"]

LIBRARIES = {"minigrad": "minigrad", "torch": "torch", "torch, malloc tuned": "torch", "numpy": "numpy"}
COMPILERS = {
    "minigrad": "minigrad",
    "minigrad, eager": "benchmarks.eager",
    "torch": "torch",
    "torch, compiled": "benchmarks.torch_compiled",
    "numpy": "numpy",
    "jax": "jax",
    "numexpr": "numexpr",
}
SHORT = 0.004  # seconds that a sample takes at least, by repeating its program

# glibc gives memory of this size back to the kernel, which zeroes it again at the next request: most of the time of
# large tensors. These settings keep it, at the price of memory that is never given back.
TUNED = {
    "MALLOC_MMAP_THRESHOLD_": "100000000000",
    "MALLOC_TRIM_THRESHOLD_": "100000000000",
    "MALLOC_TOP_PAD_": "268435456",
}


class Failed(Exception):
    """A program raised an error; the text is its last line."""


class Worker:
    """A process that runs programs with one library.

    Args:
        name: one of LIBRARIES or COMPILERS
    """

    def __init__(self, name: str) -> None:
        environment = os.environ | (TUNED if "tuned" in name else {})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.workers", (LIBRARIES | COMPILERS)[name]],
            cwd=Path(__file__).resolve().parent.parent,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.stdin and self._process.stdout:
            self._process.stdin.close()
            self._process.stdout.close()
        self._process.wait()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def build(self, line: str, *of_growing: Any) -> None:
        """Make the inputs of a line, forget those of the last one, and run it until it is warm.

        Args:
            line: one of LINES or COMPILED; or one of GROWING
            *of_growing: the arguments of the latter
        """
        self._ask("build", line, *of_growing)

    def seconds(self) -> float:
        """Return the seconds of one run of the line that was built last."""
        return float(self._ask("seconds"))

    def memory(self) -> dict[str, int]:
        """Return the bytes that the process holds now, and the most that it ever held."""
        return dict(self._ask("memory"))

    def peak_of_a_run(self) -> int:
        """Return the most bytes that the process holds during one run of the line that was built last."""
        return int(self._ask("peak_of_a_run"))

    def call(self, function: str, *arguments: Any) -> Any:
        """Return what a function ``module.name`` of the benchmarks returns for this library."""
        return self._ask("call", function, *arguments)

    def _ask(self, *request: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise Failed("the process ended")
        error, result = json.loads(answer)
        if error:
            raise Failed(error)
        return result


def _settle() -> None:
    """Wait until this process is idle, a second at most.

    Threads that wait for more work spin, those of OpenBLAS for a tenth of a second, PyTorch's for a hundredth: the next
    library in turn would have one core less.
    """
    for _ in range(200):
        busy = time.process_time()
        time.sleep(0.005)
        if time.process_time() - busy < 0.001:
            return


class _Inside:
    """What answers inside the process."""

    def __init__(self, name: str) -> None:
        self.library = importlib.import_module(name)
        self.run: Callable[[], object] = lambda: None
        self.repeat = 1

    def build(self, line: str, *of_growing: Any) -> None:
        from benchmarks import lines

        self.run = lambda: None  # frees the last line's inputs before the next ones are made
        program = lines.GROWING[line](*of_growing) if of_growing else (lines.LINES | lines.COMPILED)[line].program
        self.run = program(self.library)
        self.repeat = 1
        self.seconds()  # compiles what there is to compile
        while self.seconds() * self.repeat < SHORT and self.repeat < 100_000:
            self.repeat *= 2

    def seconds(self) -> float:
        run, times = self.run, range(self.repeat)
        run()  # wakes the threads up, and fetches its data again after the others' turns
        start = time.perf_counter()
        for _ in times:
            run()
        seconds = (time.perf_counter() - start) / self.repeat
        _settle()
        return seconds

    def memory(self) -> dict[str, int]:
        return process_memory()

    def peak_of_a_run(self) -> int:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        self.run()
        return process_memory()["peak"]

    def call(self, function: str, *arguments: Any) -> Any:
        module, name = function.split(".")
        return getattr(importlib.import_module(f"benchmarks.{module}"), name)(self.library, *arguments)


def main(name: str) -> None:
    """Answer requests until there are no more."""
    inside = _Inside(name)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    for request in sys.stdin:
        what, *arguments = json.loads(request)
        try:
            result = (None, getattr(inside, what)(*arguments))
        except Exception as error:
            result = (f"{type(error).__name__}: {error}".splitlines()[0], None)
        answers.write(json.dumps(result) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])

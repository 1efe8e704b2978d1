"""A Dask cluster of this machine: a scheduler and workers, each a process of its own that tests may kill."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from processes import until


class DaskCluster:
    """A scheduler, and two workers with one thread each.

    Args:
        folder: Where they keep their files: what worker N is at lies in `workerN`.
        settings: Environment variables by which Dask is set.
    """

    def __init__(self, folder: Path, **settings: str) -> None:
        self._folder, self._settings = folder, settings
        folder.mkdir()
        self._file = folder / "scheduler.json"
        self.workers = []
        self.scheduler = self._begin("scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={self._file}")

    def open(self):
        """Wait for the scheduler, and start the workers."""
        assert until(lambda: self._file.is_file() and self._file.read_text().endswith("}")), "no scheduler began"
        self.address = json.loads(self._file.read_text())["address"]
        self.add_worker()
        self.add_worker()
        return self

    def _begin(self, kind, *arguments):
        command = [sys.executable, "-m", "dask", kind, *arguments, "--no-dashboard"]
        with (self._folder / f"{kind}.log").open("a") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **self._settings})

    def add_worker(self):
        """Start one more worker."""
        place = f"--local-directory={self._folder}/worker{len(self.workers)}"
        self.workers.append(self._begin("worker", self.address, "--nthreads=1", "--no-nanny", place))

    def at_work(self, text: bytes):
        """The numbers of the workers that are at a notebook with this text."""
        for number, process in enumerate(self.workers):
            place = self._folder / f"worker{number}"
            with contextlib.suppress(OSError):  # what was graded is removed meanwhile
                found = [path.read_bytes() for path in place.glob("*/*/autograder-*/course/submitted/*/*/*.ipynb")]
                if process.poll() is None and any(text in notebook for notebook in found):
                    yield number

    def close(self):
        """Kill everything."""
        for process in (*self.workers, self.scheduler):
            kill(process)


def kill(process):
    """End a process as the kernel does when memory is short."""
    process.send_signal(signal.SIGKILL)
    process.wait()

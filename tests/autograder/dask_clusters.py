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
    """A scheduler, and workers with one thread each.

    Args:
        folder: Where they keep their files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        file = folder / "scheduler.json"
        self.scheduler = self._begin("scheduler", "--host", "127.0.0.1", "--port", "0", f"--scheduler-file={file}")
        assert until(file.is_file, 120), "no scheduler"
        self.address = json.loads(file.read_text())["address"]
        self.workers = [self.add_worker() for _ in range(2)]

    def _begin(self, kind, *arguments):
        command = [sys.executable, "-m", "dask", kind, *arguments, "--no-dashboard"]
        log = (self._folder / f"{kind}.log").open("a")
        with log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, start_new_session=True)

    def add_worker(self):
        """Start one more worker."""
        place = f"--local-directory={self._folder}"
        return self._begin("worker", self.address, "--nthreads=1", "--no-nanny", place)

    def close(self):
        """Kill everything."""
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

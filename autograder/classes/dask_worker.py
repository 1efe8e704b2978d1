"""The part of class grading that runs in the processes of a Dask cluster: a plugin that keeps a grading process.

Dask gives the plugin to each worker, also to one that joins later or takes the place of another. The plugin unpacks the
course once, and starts the process with the first question. With the end of the run both are gone.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path

from distributed import Worker, WorkerPlugin, get_worker

from autograder.classes.parcel import Answer, unpack_course

_END_SECONDS = 5.0


class GradingPlugin(WorkerPlugin):
    """Keeps the grading process of one run on one worker.

    Args:
        name: The run's name.
        parcel: The course, packed.
        isolation: The sandbox's kind.
    """

    def __init__(self, name: str, parcel: bytes, isolation: str) -> None:
        self.name = name
        self._parcel, self._isolation = parcel, isolation

    def setup(self, worker: Worker) -> None:
        """Note the place for the course, which goes with the worker's own folder."""
        self._folder = Path(worker.local_directory).absolute() / self.name
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._is_over = False

    def ask(self, question: bytes) -> bytes:
        """Return the answer to a question. One notebook is graded at a time, however many threads the worker has."""
        with self._lock:
            try:
                connection = self._connection or self._start()
                connection.send_bytes(question)
                return connection.recv_bytes()
            except (EOFError, OSError) as error:
                return Answer(ended=self._end() or str(error)).pack()

    def _start(self) -> Connection:
        if self._is_over:
            raise EOFError("the run is over")
        if not self._folder.exists():
            unpack_course(self._parcel, self._folder)
        ours, theirs = multiprocessing.Pipe()
        numbers = (str(theirs.fileno()), str(os.getpid()))
        # -P: no module of the folder that the worker was started in takes the place of another one.
        program = (sys.executable, "-P", "-m", "autograder.classes.cluster_worker")
        command = [*program, *numbers, str(self._folder), self._isolation]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._connection = ours
        return ours

    def _end(self) -> str:
        """End the process, if there is one; return how it ended."""
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        return _reaped(process) if process is not None else ""

    async def teardown(self, worker: Worker) -> None:
        """End the process and remove the course."""
        self._is_over = True
        process = self._process
        if process is not None:
            process.terminate()
            await asyncio.to_thread(_reaped, process)  # then whoever waits for its answer waits no longer
        await asyncio.to_thread(self._clear)

    def _clear(self) -> None:
        with self._lock:
            self._end()
            shutil.rmtree(self._folder, ignore_errors=True)


def _reaped(process: subprocess.Popen[bytes]) -> str:
    """How a process ended, which has some seconds to remove what its sandboxes made."""
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    return str(process.wait())


def answer(run: str, question: bytes) -> bytes:
    """Return the answer to a question: Dask's task."""
    plugin = get_worker().plugins.get(run)
    if not isinstance(plugin, GradingPlugin):
        return Answer(ended="the worker had just begun").pack()
    return plugin.ask(question)

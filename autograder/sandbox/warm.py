"""The grader's end of a worker: started, asked, timed, and ended whatever it does."""

import contextlib
import json
import queue
import subprocess
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.library import MINIGRAD, Library
from autograder.sandbox.backends import Backend
from autograder.sandbox.inside import wire
from autograder.sandbox.inside.patience import Patience, kept_waiting
from autograder.sandbox.model import Limits, SandboxUnavailable
from autograder.sandbox.view import View, make_view

_START_SECONDS = 60.0
_END_SECONDS = 5.0


class Lost(Exception):
    """The worker is gone, or said what it cannot have meant.

    Args:
        reason: The event.
        kind: "memory", "forged", or "killed" for everything else.
    """

    def __init__(self, reason: str, kind: str = "killed") -> None:
        super().__init__(reason)
        self.kind = kind


class Silent(Exception):
    """No frame came in time."""


class Warm:
    """A worker that has imported the library and waits for sessions.

    Args:
        backend: How it is isolated.
        edition: Folder that holds the library to import.
        limits: The resources that it may use.
        preload: Modules to import besides numpy, cloudpickle and the library.
        library: The library; None to try the isolation only, and to import nothing.
        forks: Whether to fork for sessions and observations, where the system can.
        data: Folder of files that each session finds in its working folder.

    Raises:
        SandboxUnavailable: if it does not start.
    """

    def __init__(
        self,
        backend: Backend,
        edition: Path,
        limits: Limits,
        *,
        preload: Iterable[str] = (),
        library: Library | None = MINIGRAD,
        forks: bool = True,
        data: Path | None = None,
    ) -> None:
        self._view = _see(edition, library, data)
        try:
            self._launch = backend.start(self._view, limits)
        except OSError as error:
            self._view.clear()
            raise SandboxUnavailable(f"{backend.name} cannot be started: {error}") from error
        self.process = self._launch.process
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin = self.process.stdin
        self._frames: queue.Queue[bytes | None] = queue.Queue(maxsize=64)
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout.fileno(),), daemon=True)
        self._reader.start()
        told = asdict(library) if library else None
        account = self._launch.group.descriptors if self._launch.group else []
        config = {**self._launch.config, "preload": list(preload), "library": told, "forks": forks, "account": account}
        self.forks = forks and bool(config["forks"])
        self.left_running = 0
        self._greet(backend.name, config)
        if self._launch.group is not None:
            self._launch.group.settle(limits)

    @property
    def home(self) -> Path:
        """The folder made for this worker; gone when it is closed."""
        return self._view.home

    def _greet(self, name: str, config: dict[str, Any]) -> None:
        try:
            self._send_bytes(json.dumps(config).encode())
            origin, answer = self._first_answer()
        except (Lost, Silent) as error:
            reason = self._last_words() or str(error) or "no answer"
            self.close()
            raise SandboxUnavailable(f"{name} does not start here: {reason}") from error
        if origin != "P" or answer.get("ready") is not True:
            self.close()
            raise SandboxUnavailable(f"{name} does not start here: the worker answered out of turn")
        self.forks = bool(answer.get("forks"))

    def _first_answer(self) -> tuple[str, dict[str, Any]]:
        """The worker's first frame; it may take longer on a machine that others keep busy."""
        patience = Patience(_START_SECONDS, kept_waiting(self.process.pid))
        while True:
            try:
                return self.receive(time.monotonic() + patience.left())
            except Silent:
                if not patience.left():
                    raise

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        self._launch.errors.seek(0)
        lines = self._launch.errors.read(100_000).decode("utf-8", "replace").strip().splitlines()
        return lines[-1].removeprefix("bwrap: ")[:300] if lines else ""

    def _read(self, descriptor: int) -> None:
        try:
            while (data := wire.read_frame(descriptor)) is not None:
                self._frames.put(data)
        except (wire.Malformed, OSError):
            pass
        self._frames.put(None)

    def send(self, **request: Any) -> None:
        """Send a request.

        Raises:
            Lost: if the worker is gone.
        """
        self._send_bytes(wire.pack(request))

    def _send_bytes(self, data: bytes) -> None:
        try:
            wire.write_all(self._stdin.fileno(), wire.frame(data))
        except (OSError, ValueError) as error:
            raise Lost("the worker is gone") from error

    def receive(self, deadline: float) -> tuple[str, dict[str, Any]]:
        """The next frame and who it is from: "P", a relay or the warm parent, or "C", the session's child.

        Raises:
            Silent: if none has come at `deadline` (of `time.monotonic`).
            Lost: if the worker is gone.
            Malformed: if the child's frame is not JSON.
        """
        try:
            data = self._frames.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty as error:
            raise Silent from error
        if data is None:
            self._frames.put(None)
            raise Lost("the worker is gone")
        origin = data[:1].decode("latin-1")
        if origin not in {"P", "C"}:
            raise Lost("the worker said what it cannot have meant")
        return origin, wire.unpack(data[1:])

    def end_session(self) -> bool:
        """End the session with all its processes and files; True if the worker can be used again."""
        if not self.forks:
            return False
        try:
            self.send(op="end")
            deadline = time.monotonic() + _END_SECONDS
            while True:
                with contextlib.suppress(wire.Malformed):
                    origin, answer = self.receive(deadline)
                    if origin == "P":
                        self.left_running = int(answer.get("left", self.left_running))
                        if "ended" in answer:
                            return answer["ended"] is True
        except (Lost, Silent):
            return False

    def close(self) -> None:
        """End the worker and everything inside; nothing of it is left."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        deadline = time.monotonic() + _END_SECONDS
        while self._reader.is_alive() and time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                self._frames.get_nowait()  # a reader that waits for room would never end
            self._reader.join(0.01)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._launch.errors.close()
        if self._launch.group is not None:
            self._launch.group.remove()
        self._view.clear()


def _see(edition: Path, library: Library | None, data: Path | None) -> View:
    try:
        return make_view(edition, library.package, library.requires, data) if library else make_view(edition, "")
    except OSError as error:
        raise SandboxUnavailable(f"no edition of the library can be read at {edition}: {error}") from error

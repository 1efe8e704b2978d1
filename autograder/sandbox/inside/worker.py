"""The warm parent: imports the library once, forks a child for each session, relays its frames and ends it completely.

It is the only process inside that the grader believes, and it runs no student code. Frames to the grader begin with one
byte: `P` for its own word, `C` for bytes that came from the child.
"""

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import struct
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from . import compiling, wire
from .child import Child, library_objects, packages_of
from .files import empty
from .processes import inhabitants, memory_of, running, sweep

__all__ = ["main"]

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
_REAP_SECONDS = 1.0
_LOOK_SECONDS = 0.1  # how long a session may make files and take memory unseen
_CAPABILITIES_VERSION = 0x20080522
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT, _LANDLOCK_SCOPES = 444, 446, 3


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _become_nobody(uid: int | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        # Only what could be inherited is left of root's capabilities; it goes as well.
        ctypes.CDLL(None).capset(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), bytes(24))


def _limit_resources(config: dict[str, Any]) -> None:
    try:
        import resource
    except ImportError:
        return
    megabyte = 1024 * 1024
    wanted = {"RLIMIT_CORE": 0, "RLIMIT_MSGQUEUE": 0, "RLIMIT_NOFILE": 256}
    wanted["RLIMIT_NPROC"] = config["processes"]
    wanted |= {"RLIMIT_FSIZE": config["file_mb"] * megabyte, "RLIMIT_AS": config["memory_mb"] * megabyte}
    for name, value in wanted.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            with contextlib.suppress(ValueError, OSError):
                hard = resource.getrlimit(kind)[1]
                bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(kind, (bound, bound))


def _bounds() -> list[Any]:
    """The limits, priority, scheduling and processors of this process, all of which the sessions inherit."""
    found: list[Any] = []
    with contextlib.suppress(ImportError):
        import resource

        kinds = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
        found += [resource.getrlimit(kind) for kind in kinds]
    if hasattr(os, "getpriority"):
        found.append(os.getpriority(os.PRIO_PROCESS, 0))
    if sys.platform == "linux":
        found += [os.sched_getscheduler(0), os.sched_getparam(0).sched_priority, sorted(os.sched_getaffinity(0))]
    return found


def _keep_signals_inside() -> None:
    """From here on, signals reach only this process and its descendants (a landlock scope, where the kernel has it)."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = (ctypes.c_uint64 * 3)(0, 0, _LANDLOCK_SCOPES)
    ruleset = libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(24), 0)
    if ruleset >= 0:
        libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0)
        libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0)
        os.close(ruleset)


class Parent:
    """The loop between the grader's two pipes and the current child's two."""

    def __init__(self, config: dict[str, Any], commands: int, replies: int) -> None:
        self.config = config
        self.commands, self.replies = commands, replies
        self.forks = config["forks"] and hasattr(os, "fork")
        self.to_child = self.from_child = -1
        self.child = 0
        self.incoming, self.outgoing = bytearray(), bytearray()
        self.credit = 0
        self.bounds = _bounds()
        self.looked = 0.0
        self.left_running = 0

    def serve(self) -> None:
        """Relay until the grader closes its end."""
        while not self.forks and self._obey():
            pass
        while self.forks:
            reading = [self.commands] + ([self.from_child] if self.from_child >= 0 else [])
            writing = [self.to_child] if self.outgoing and self.to_child >= 0 else []
            ready, free, _ = select.select(reading, writing, [], _LOOK_SECONDS if self.child else None)
            if self.child and self._takes_too_much():
                continue
            if free:
                self._feed_child()
            if self.from_child in ready:
                self._hear_child()
            if self.commands in ready and not self._obey():
                break
        if self.forks:
            self._end_session()

    def _takes_too_much(self) -> bool:
        """End a session that has more files or memory than it may; look again after a moment only."""
        if time.monotonic() - self.looked < _LOOK_SECONDS:
            return False
        self.looked = time.monotonic()
        if self._has_too_many_files():
            self._lose_child(f"the session made more than {self.config['files']:,} files")
            return True
        if memory_of(inhabitants()) > self.config["total_mb"] << 20:
            most = self.config["total_mb"]
            self._lose_child(f"the session's processes took more than {most:,} MiB of memory together", "memory")
            return True
        return False

    def _has_too_many_files(self) -> bool:
        """Return whether the scratch, where it is a file system of its own, holds more files than it may."""
        most: int | None = self.config.get("files")
        if most is None:
            return False
        found = os.statvfs(self.config["scratch"])
        return found.f_files - found.f_ffree > most

    def say(self, **payload: Any) -> None:
        """Tell the grader something in the parent's own name."""
        wire.write_all(self.replies, wire.frame(b"P" + wire.pack(payload)))

    def _obey(self) -> bool:
        data = wire.read_frame(self.commands)
        if data is None:
            return False
        request = wire.unpack(data)
        if request["op"] == "session":
            self._start_session(request)
        elif request["op"] == "observe":
            self.credit += 1
            self.outgoing += wire.frame(data)
            if self.child == 0:
                self.say(died="the session's process is gone")
        else:
            self._end_session()
            self.say(ended=self._wipe(), left=self.left_running)
            self.left_running = 0
        return True

    def _start_session(self, request: dict[str, Any]) -> None:
        self.credit = len(request["cells"]) + 1
        if not self.forks:
            # One session, in this very process: the grader ends it by ending the process.
            self._make_child(request, self.commands, _Tagged(self.replies).descriptor).serve()
            return
        child_reads, self.to_child = os.pipe()
        self.from_child, child_writes = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            try:
                for descriptor in (self.commands, self.replies, self.to_child, self.from_child):
                    os.close(descriptor)
                os.setsid()
                _keep_signals_inside()
                self._make_child(request, child_reads, child_writes).serve()
            finally:
                os._exit(0)
        os.close(child_reads)
        os.close(child_writes)
        os.set_blocking(self.to_child, False)
        os.set_blocking(self.from_child, False)

    def _make_child(self, request: dict[str, Any], read: int, write: int) -> Child:
        return Child({**request, **self.config["child"]}, read, write, self.forks)

    def _feed_child(self) -> None:
        try:
            del self.outgoing[: os.write(self.to_child, self.outgoing[: 1 << 16])]
        except BlockingIOError:
            return
        except OSError:
            self.outgoing.clear()

    def _hear_child(self) -> None:
        try:
            chunk = os.read(self.from_child, 1 << 16)
        except BlockingIOError:
            return
        if not chunk:
            self._lose_child(self._how_it_ended())
            return
        self.incoming += chunk
        while self.from_child >= 0 and len(self.incoming) >= 4:
            try:
                end = 4 + wire.frame_length(bytes(self.incoming[:4]), self.config["child"]["reply_bytes"])
            except wire.Malformed as error:
                self._lose_child(f"the session's process wrote what is not a reply: {error}", "forged")
                return
            if len(self.incoming) < end:
                return
            data = bytes(self.incoming[4:end])
            del self.incoming[:end]
            self.credit -= 1
            if self.credit < 0:
                self._lose_child("the session's process wrote more than it was asked for", "forged")
                return
            wire.write_all(self.replies, wire.frame(b"C" + data))

    def _how_it_ended(self) -> str:
        try:
            deadline = time.monotonic() + _REAP_SECONDS
            ended, status = os.waitpid(self.child, os.WNOHANG)
            while not ended and time.monotonic() < deadline:
                time.sleep(0.01)  # the pipe closes before the process can be reaped, on a busy machine long before
                ended, status = os.waitpid(self.child, os.WNOHANG)
        except OSError:
            return "the session's process is gone"
        if not ended:
            return "the session's process closed its pipes"
        if os.WIFSIGNALED(status):
            return f"the session's process was ended by signal {os.WTERMSIG(status)}"
        return f"the code ended the session's process (exit status {os.WEXITSTATUS(status)})"

    def _lose_child(self, reason: str, kind: str = "killed") -> None:
        self._end_session()
        self.say(died=reason, kind=kind)

    def _end_session(self) -> None:
        """Kill every process of the session, daemons too, and reap them."""
        for descriptor in (self.to_child, self.from_child):
            if descriptor >= 0:
                os.close(descriptor)
        if self.child:
            self.left_running += len(running(inhabitants() - {self.child}))
            sweep(self.child, self.config["sweep"])
        self.to_child = self.from_child = -1
        self.child, self.credit = 0, 0
        self.incoming, self.outgoing = bytearray(), bytearray()

    def _wipe(self) -> bool:
        """Empty the scratch folder; False if anything is not as it was, and the grader then starts afresh."""
        try:
            empty(self.config["scratch"])
            return _bounds() == self.bounds
        except OSError:
            return False


class _Tagged:
    """A pipe whose frames reach the grader marked as the child's: without fork there is no parent to relay them."""

    def __init__(self, replies: int) -> None:
        import threading

        self.replies = replies
        self.source, self.descriptor = os.pipe()
        threading.Thread(target=self._relay, daemon=True).start()

    def _relay(self) -> None:
        with contextlib.suppress(OSError, wire.Malformed):
            while (data := wire.read_frame(self.source)) is not None:
                wire.write_all(self.replies, wire.frame(b"C" + data))


def _may_sweep_all(config: dict[str, Any]) -> bool:
    """Return whether `kill(-1)` reaches only this sandbox: for a namespace's first process, or by a landlock scope."""
    if os.getpid() == 1:
        return True
    try:
        os.kill(config["grader"], 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _take_pipes() -> tuple[int, int]:
    """Move the two pipes away from stdin and stdout, which student code may read and write."""
    commands, replies = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (commands, replies):
            msvcrt.setmode(descriptor, os.O_BINARY)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)
    os.close(null)
    return commands, replies


def _prepare(config: dict[str, Any]) -> list[str]:
    """Drop privileges, set limits and import what sessions will need; return the names of the modules imported."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    _become_nobody(config["uid"])
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if hasattr(signal, "SIGKILL") else 0)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_DUMPABLE, 0)
    _limit_resources(config)
    os.chdir(config["scratch"])
    sys.path[:] = [config["edition"], *[path for path in sys.path if path != config["home"]]]
    for name in config["absent"]:  # its folder may be there and be empty, which Python would take for a package
        sys.modules[name] = None  # type: ignore[assignment]
    names = ["numpy", "cloudpickle", "minigrad", *config["preload"]] if config["library"] else []
    for name in names:
        import_module(name)
    if "numba" in names:
        compiling.prepare(names)
    return names


def _catalogue(imported: list[str]) -> dict[str, list[str]]:
    """The objects of all exercises, their modules imported: a probe reaches each as an attribute of `minigrad`.

    Exercises that use a package which is not imported, such as a compiler, are left for who asks for them.
    """
    objects = library_objects()
    ready = [names for exercise, names in objects.items() if packages_of(exercise) <= set(imported)]
    modules = {name.rpartition(".")[0] for names in ready for name in names}
    for module in ("checks", *sorted(modules)):
        with contextlib.suppress(ImportError):
            import_module(f"minigrad.{module}")
    return objects


def main() -> None:
    """Serve the grader on stdin and stdout until it closes them."""
    commands, replies = _take_pipes()
    first = wire.read_frame(commands)
    assert first is not None, "the grader closed before it began"
    config = json.loads(first)
    imported = _prepare(config)
    if config["sweep"] == "all" and not _may_sweep_all(config):
        raise SystemExit("refused: this process could signal processes outside the sandbox")
    config["child"]["others"] = _catalogue(imported) if config["library"] else {}
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    # What is there now stays there: collecting garbage in a fork would copy all of its pages to look at them.
    gc.collect()
    gc.freeze()
    parent = Parent(config, commands, replies)
    parent.say(ready=True, imported=imported, forks=parent.forks)
    os.dup2(0, 2)
    parent.serve()

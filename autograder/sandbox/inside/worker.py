"""The warm parent: imports the library once and forks a relay for each session.

It runs no student code and reads none: whatever a session sends or receives passes through its relay alone. So nothing
of one submission is in the memory that the next one starts with.
"""

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from . import compiling, wire
from .cells import silence
from .child import Child
from .files import empty
from .processes import become_nobody, sweep
from .relay import Relay, keep_inside

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


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


class Parent:
    """The loop over sessions. It hears that one begins, forks a relay for it, and reads no byte of it.

    What a process has read stays in its memory, freed or not, and every later fork would find it there. So the bytes
    of a session go from the grader's pipe to the relay and back, and end with it.
    """

    def __init__(self, config: dict[str, Any], commands: int, replies: int) -> None:
        self.config = config
        self.commands, self.replies = commands, replies
        self.forks = config["forks"] and hasattr(os, "fork")
        self.bounds = _bounds()

    def serve(self) -> None:
        """Let sessions run, one after the other, until the grader closes its end or a relay is lost."""
        if not self.forks:
            self._serve_here()
            return
        while self._relay_one():
            sweep(0, self.config["sweep"])
            self.say(ended=self._wipe())

    def say(self, **payload: Any) -> None:
        """Tell the grader something in the parent's own name."""
        wire.write_all(self.replies, wire.frame(b"P" + wire.pack(payload)))

    def _relay_one(self) -> bool:
        """Wait for a session and for its end; False if there is none to come, or it did not end as it should."""
        select.select([self.commands], [], [])
        relay = os.fork()
        if relay:
            return os.waitpid(relay, 0)[1] == 0
        status = 1
        try:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            _prctl(_PR_SET_CHILD_SUBREAPER, 1)
            keep_inside()
            status = 0 if Relay(self.config, self.commands, self.replies).serve() else 1
        finally:
            os._exit(status)

    def _serve_here(self) -> None:
        """Serve one session in this very process: the grader ends it by ending the process."""
        data = wire.read_frame(self.commands)
        if data is not None:
            write = _Tagged(self.replies).descriptor
            Child({**wire.unpack(data), **self.config["child"]}, self.commands, write, forks=False).serve()

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
        Path("/proc/self/oom_score_adj").write_text("900")  # the machine's first to go, but for a session
    become_nobody(config["uid"])
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if hasattr(signal, "SIGKILL") else 0)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_DUMPABLE, 0)
    _limit_resources(config)
    os.chdir(config["scratch"])
    sys.path[:] = [config["edition"], *[path for path in sys.path if path != config["home"]]]
    library = config["library"]
    names = ["numpy", "cloudpickle", library["package"], *config["preload"]] if library else []
    for name in names:
        import_module(name)
    if "numba" in names:
        compiling.prepare(names)
    return names


def _catalogue(library: dict[str, Any], imported: list[str]) -> dict[str, list[str]]:
    """The objects of all exercises, their modules imported: a probe reaches each as an attribute of the library.

    Exercises that use a package which is not imported, such as a compiler, are left for who asks for them.
    """
    package = str(library["package"])
    exercises = _listed(package)
    ready = [each["objects"] for each in exercises if set(each.get("uses", ())) <= set(imported)]
    modules = {name.rpartition(".")[0] for names in ready for name in names}
    for module in ("checks", library["install"].rpartition(".")[0], *sorted(modules)):
        with contextlib.suppress(ImportError):
            import_module(f"{package}.{module}".rstrip("."))
    return {each["id"]: list(each["objects"]) for each in exercises}


def _listed(package: str) -> list[dict[str, Any]]:
    """The exercises of this edition, as the build listed them; none where it has no list."""
    file = Path(str(import_module(package).__file__)).with_name("course.json")
    try:
        found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["exercises"]
    except OSError:
        return []
    return found


def _noted(library: dict[str, Any]) -> dict[str, list[str]]:
    """What every session has to know of the edition: the modules that watch, and the functions cut from it."""
    package = str(library["package"])
    folder, cut = Path(str(import_module(package).__file__)).parent, list[str]()
    files = [path for each in library["watching"] for path in (folder / each).rglob("*.py")]
    inner = [".".join(path.relative_to(folder).with_suffix("").parts) for path in files if path.stem != "__init__"]
    with contextlib.suppress(FileNotFoundError):
        cut = (folder / "cut.txt").read_text(encoding="utf-8").split()
    return {"witnesses": [f"{package}.{name}" for name in (*library["watching"], *inner)], "cut": cut}


def main() -> None:
    """Serve the grader on stdin and stdout until it closes them."""
    commands, replies = _take_pipes()
    first = wire.read_frame(commands)
    assert first is not None, "the grader closed before it began"
    config = json.loads(first)
    imported = _prepare(config)
    if config["sweep"] == "all" and not _may_sweep_all(config):
        raise SystemExit("refused: this process could signal processes outside the sandbox")
    if library := config["library"]:
        config["child"] |= {"library": library, "others": _catalogue(library, imported), **_noted(library)}
        silence(library["package"], library["silent"])
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    # What is there now stays there: collecting garbage in a fork would copy all of its pages to look at them.
    gc.collect()
    gc.freeze()
    parent = Parent(config, commands, replies)
    parent.say(ready=True, imported=imported, forks=parent.forks)
    os.dup2(0, 2)
    parent.serve()

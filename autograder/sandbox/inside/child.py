"""One session in a process of its own: run the cells, install the exercise, answer observations in forks of that state.

The grader believes nothing that comes from here: the protection is around this process, not in it. A method that a
student's class inherits counts as not written, where the exercise asks for it.
"""

import gc
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

from . import wire
from .cells import CellRunner, OutputLimit, TimeLimit, capture, is_not_done, one_line, time_limit
from .compiling import hurry
from .files import lay_out
from .patience import COMPILING, Patience, waited

# Kept from before the student's code runs, which may rename what it likes in `os`.
_fork = getattr(os, "fork", None)
_exit, _getpid, _pipe, _close, _read, _write = os._exit, os.getpid, os.pipe, os.close, os.read, os.write
_set_blocking = os.set_blocking
_waitpid = getattr(os, "waitpid", None)
_kill, _killpg, _setpgid = os.kill, getattr(os, "killpg", None), getattr(os, "setpgid", None)
_select = select.select
_freeze = gc.freeze
_WRAPPERS = 8  # wrapped around each other; a student's object could go on forever
_GRACE = 0.2  # a time limit rings inside first: it can say which line was running


class Spare(NamedTuple):
    """A fork of the state after the cells that waits for the one question that it will answer.

    Args:
        pid: The process.
        ask: Descriptor that its question goes to.
        read: Descriptor that its answer comes from.
    """

    pid: int
    ask: int
    read: int


class Child:
    """The state of one session.

    Args:
        request: The grader's request: cells, exercise, objects, limits.
        read: Descriptor that requests come from.
        write: Descriptor that replies go to.
        forks: Whether each observation gets a process of its own.
    """

    def __init__(self, request: dict[str, Any], read: int, write: int, forks: bool) -> None:
        self.request = request
        self.reads, self.writes, self.forks = read, write, forks
        self.pid = _getpid()
        self.problem: dict[str, Any] | None = None
        self.spare: Spare | None = None
        self.kept_waiting: float | None = None  # of this process before its question came, if that is known
        self.told = request["library"]
        self.package = str(self.told["package"])
        self.library = import_module(self.package)
        self.witnesses, self.cut = request["witnesses"], frozenset(request["cut"])
        others = {cell["exercise"] for cell in request["cells"] if cell["kind"] == "solution"} - {request["exercise"]}
        self.wanted = {name.rpartition(".")[2]: name for name in request["objects"]}
        names = (name for other in others for name in request["others"].get(other, []))
        self.others = {last: name for name in names if (last := name.rpartition(".")[2]) not in self.wanted}
        seconds, limit = request["cell_seconds"], request["output_limit"]
        self.runner = CellRunner(seconds, limit, {*self.wanted, *self.others}, self._is_the_librarys)

    def serve(self) -> None:
        """Run the cells, then answer until the grader is done."""
        try:
            lay_out()
            self._run_cells()
            self._reply({"missing": self._install()})
            hurry()
            _freeze()  # as the parent did: each answer is a fork of what is there now
            self._make_spare()
            while (data := wire.read_frame(self.reads)) is not None:
                self._answer(data)
                self._make_spare()
        finally:
            if self.spare is not None and self._still_here():
                _end_group(self.spare.pid)
            if self.forks or not self._still_here():
                _exit(0)

    def _still_here(self) -> bool:
        return _getpid() == self.pid

    def _reply(self, payload: dict[str, Any]) -> None:
        wire.write_all(self.writes, wire.frame(wire.pack(payload)))

    def _run_cells(self) -> None:
        for number, cell in enumerate(self.request["cells"]):
            is_own = cell["exercise"] == self.request["exercise"]
            if not cell["skip"]:
                own = self.wanted if cell["kind"] == "solution" and is_own else ()
                outcome = self.runner.run(cell["source"], cell["label"], self._still_here, own)
                if outcome is None:
                    _exit(0)
                self._reply({"cell": number, **outcome})
            if cell["kind"] == "solution" and not is_own:
                self._put_back(cell["exercise"])
        self._restore(self.others.values())

    def _put_back(self, exercise: str | None) -> None:
        """Give the names of another exercise to the library again, so that its failure does not reach this one."""
        names = [name for name in self.others.values() if name in self.request["others"].get(exercise, [])]
        for name in names:
            self.runner.written.pop(name.rpartition(".")[2], None)
        self._restore(names)

    def _restore(self, names: Iterable[str]) -> None:
        """Undo what imports and loops bound to names: they get what cells wrote under them, else the library's."""
        for name in names:
            last = name.rpartition(".")[2]
            value = self.runner.written.get(last, self._library_object(name))
            if value is not None:
                self.runner.namespace[last] = value

    def _is_the_librarys(self, value: object) -> bool:
        return self._is_ours(value) or any(value is self._library_object(name) for name in self.wanted.values())

    def _library_object(self, name: str) -> Any:
        module, _, last = name.rpartition(".")
        try:
            return getattr(import_module(f"{self.package}.{module}"), last, None)
        except ImportError:
            return None

    def _install(self) -> list[str]:
        """Put the student's objects into the library; return the names of those that are missing."""
        found, missing = {}, []
        for last, name in self.wanted.items():
            value = self.runner.written.get(last, self.runner.namespace.get(last))
            if value is None or self._is_the_librarys(value):
                missing.append(name)
            else:
                # The student's functions call each other, and themselves, by these names.
                self.runner.namespace[last] = found[name] = value
        if found:
            try:
                with capture(self.request["output_limit"]), time_limit(self.request["cell_seconds"]):
                    self._put_into_library(found)
                    for name in found:
                        self._refuse_inherited(name, found[name])
            except BaseException as error:
                self.problem = self._failure(error)
        return missing

    def _put_into_library(self, found: dict[str, Any]) -> None:
        """Let the library use the student's objects: as it does so itself, or each in its module."""
        module, _, install = self.told["install"].rpartition(".")
        if install:
            getattr(import_module(f"{self.package}.{module}"), install)(found)
            return
        for name, value in found.items():
            home, _, last = name.rpartition(".")
            setattr(import_module(f"{self.package}.{home}"), last, value)

    def _refuse_inherited(self, name: str, theirs: Any) -> None:
        """Let what a student's class does not write itself be missing, where it would inherit an answer."""
        asked = {each.rpartition(".")[2] for each in self.cut if each.rpartition(".")[0] == f"{self.package}.{name}"}
        for each in asked:
            written = (vars(base)[each] for base in theirs.__mro__ if not self._is_ours(base) and each in vars(base))
            if self._is_borrowed(next(written, None)):
                setattr(self._library_object(name), each, staticmethod(_refusal(f"{theirs.__name__}.{each}")))

    def _answer(self, data: bytes) -> None:
        if self.problem is not None:
            self._reply(self.problem)
            return
        if not self.forks or _fork is None:
            self._reply(self._evaluate(wire.unpack(data)))
            return
        self._make_spare()  # where the last try found no room for one
        if self.spare is None:
            self._reply(_failed("killed", "no process could be started: the cells left too much running or open"))
            return
        spare, self.spare = self.spare, None
        try:
            self._reply(self._collect(spare, data))
        finally:
            _close(spare.read)
            _close(spare.ask)

    def _make_spare(self) -> None:
        """Fork for the next question while the grader judges the last answer.

        The process that gave it has ended: nothing that it did can reach this one.
        """
        if self.spare is not None or self.problem is not None or not self.forks or _fork is None:
            return
        pipes = list[int]()
        self.runner.compiling.begin()
        try:
            pipes += _pipe()
            pipes += _pipe()
            grandchild = _fork()
        except OSError:
            for descriptor in pipes:
                _close(descriptor)
            return
        asked, ask, read, write = pipes
        if grandchild == 0:
            _close(ask)
            self._become_grandchild(asked, write)
        _close(asked)
        _close(write)
        _set_blocking(ask, False)
        self.spare = Spare(grandchild, ask, read)

    def _become_grandchild(self, asked: int, write: int) -> None:
        """Evaluate, write one frame and exit; a process that the observed code forked writes nothing."""
        try:
            if _setpgid is not None:
                _setpgid(0, 0)
            me, self.kept_waiting = _getpid(), waited()
            data = wire.read_frame(asked)
            if data is None:
                return
            payload = {**self._evaluate(wire.unpack(data)), "compiled": self.runner.compiling.seconds()}
            if _getpid() == me:
                wire.write_all(write, wire.frame(wire.pack(payload)))
        finally:
            _exit(0)

    def _collect(self, spare: Spare, question: bytes) -> dict[str, Any]:
        """Ask the grandchild and return its frame, or why there is none; its process group is gone afterwards."""
        grandchild, read, seconds = spare.pid, spare.read, wire.unpack(question)["seconds"]
        # The grandchild knows how long it has compiled, and ends in time; only what hears nothing is ended here.
        longer = COMPILING if self.runner.compiling.is_possible else 0.0
        patience = Patience(seconds + _GRACE + longer, lambda: waited(grandchild))
        data, ended, status, unasked = bytearray(), False, 0, bytearray(wire.frame(question))
        needed: int | None = None
        while needed is None or len(data) < needed:
            # A process that the grandchild left behind may hold the pipe open: its own end is looked at as well.
            ready, free, _ = _select([read], [spare.ask] if unasked else [], [], min(0.02, patience.left()))
            if free:
                _feed(spare.ask, unasked)
                continue
            if ready:
                chunk = _read(read, 1 << 16)
                data += chunk
                if not chunk:
                    break
                if needed is None and len(data) >= 4:
                    needed = 4 + wire.frame_length(bytes(data[:4]))
            elif ended or not patience.left():
                break
            if not ended and not ready:
                ended, status = _has_ended(grandchild)
        timed_out = not ended and not patience.left()
        status = _end_group(grandchild) if not ended else status
        if needed is not None and len(data) >= needed:
            return wire.unpack(bytes(data[4:needed]))
        if timed_out:
            return _failed("timeout", f"no answer within {seconds:g} s")
        return _failed("killed", _ending(status))

    def _evaluate(self, request: dict[str, Any]) -> dict[str, Any]:
        limit = self.request["output_limit"]
        with capture(limit) as output:
            try:
                import cloudpickle

                self._forget_witnesses()
                with time_limit(request["seconds"], self.kept_waiting, self.runner.compiling.seconds):
                    function = cloudpickle.loads(bytes.fromhex(request["function"]))
                    value = function(self.library, *wire.decode(request["args"]))
                    payload = {"value": wire.encode(value)}
                    wire.pack(payload, self.request["reply_bytes"])
            except BaseException as error:
                payload = self._failure(error, request["seconds"])
        if output.exceeded:
            return _failed("output", f"more than {limit:,} characters were printed")
        return payload

    def _failure(self, error: BaseException, seconds: float = 0.0) -> dict[str, Any]:
        if isinstance(error, TimeLimit):
            return _failed("timeout", f"no answer within {seconds or self.request['cell_seconds']:g} s")
        if isinstance(error, OutputLimit):
            return _failed("output", f"more than {self.request['output_limit']:,} characters were printed")
        if isinstance(error, MemoryError):
            return _failed("memory", "more memory was asked for than a process may have")
        if isinstance(error, wire.NotPlain):
            return _failed("not-plain", f"the answer holds {error}")
        if isinstance(error, wire.TooLarge):
            return _failed("too-large", f"the answer is too large: {error}")
        told = self.runner.describe(error)
        message = f"{told['error']}: {told['message']}" if told["message"] else told["error"]
        if told["line"] is not None:
            message += f" (cell {told['cell']!r}, line {told['line']}: {told['text']})"
        return _failed("not-done" if is_not_done(error) else "error", message)

    def _forget_witnesses(self) -> None:
        """Forget the modules that watch a student's code, so that a probe imports them anew from the edition.

        A cell can put something else in the place of `minigrad.debug.races`. The watcher is then no longer the one that
        it claims to be.
        """
        for name in self.witnesses:
            sys.modules.pop(name, None)
        for package in self.told["watching"]:
            if self.package in sys.modules:
                vars(sys.modules[self.package]).pop(package, None)

    def _is_ours(self, value: object) -> bool:
        """Return whether an object was imported from the library rather than written in a cell.

        A function that the library's functions make, as in ``negList = map(neg)``, is the student's. The library's own
        `machine.overrides.is_ours` says the same, but a cell can change what stands there.
        """
        is_made = "<locals>" in str(getattr(value, "__qualname__", ""))
        return not is_made and str(getattr(value, "__module__", "")).partition(".")[0] == self.package

    def _is_borrowed(self, member: object) -> bool:
        """Return whether a class's member is missing, or is the library's, as in ``add = Other.add``."""
        for _ in range(_WRAPPERS):
            # Of a static, class or bound method; of a partial one; of a property.
            inner = (getattr(member, name, None) for name in ("__func__", "func", "fget"))
            member = next((each for each in inner if each is not None), member)
        return member is None or self._is_ours(member)


def _refusal(what: str) -> Callable[..., Any]:
    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError(f"{what} is not written: what the class inherits is not an answer")

    return refuse


def _failed(kind: str, message: str) -> dict[str, Any]:
    return {"failure": [kind, one_line(message, 500)]}


def _feed(descriptor: int, data: bytearray) -> None:
    """Write what a pipe takes of `data`, and drop that; all of it where nobody reads any more."""
    try:
        del data[: _write(descriptor, data[: 1 << 16])]
    except BlockingIOError:
        return
    except OSError:
        data.clear()


def _has_ended(pid: int) -> tuple[bool, int]:
    assert _waitpid is not None
    try:
        ended, status = _waitpid(pid, os.WNOHANG)
    except OSError:
        return True, 0
    return ended == pid, status


def _end_group(pid: int) -> int:
    """Kill a grandchild with its process group, reap it, and return its status."""
    assert _killpg is not None
    assert _waitpid is not None
    # What has written its frame exits by itself; it is given no time to do anything else.
    for kill in (_killpg, _kill):
        try:
            kill(pid, signal.SIGKILL)
        except OSError:
            continue
    try:
        return int(_waitpid(pid, 0)[1])
    except OSError:
        return 0


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = str(number)
        return f"the process was ended by the signal {name}"
    return f"the code ended its process (exit status {os.WEXITSTATUS(status)})"

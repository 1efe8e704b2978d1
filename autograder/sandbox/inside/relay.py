"""The process between the grader and one session: forked for it, ended with it, and the only reader of its bytes.

It forks the session's child, passes frames on in both directions, watches what the session takes, and ends all of it.
It runs no student code. Frames to the grader begin with one byte: `P` for a word of its own or of the warm parent's,
`C` for bytes that came from the child.
"""

import contextlib
import ctypes
import os
import select
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

from . import wire
from .account import Account, OwnKernel
from .child import Child
from .patience import at_work
from .processes import become_nobody, descriptions_of, hold_back, inhabitants, memory_of, running, sweep

_REAP_SECONDS = 1.0
_LEAVING_SECONDS, _LEAVING_BUSY = 0.2, 2.0  # a child that sleeps, or computes, so long after the end is ended
_LOOK_SECONDS = 0.1  # how long a session may make files and take memory unseen
_CLOSEST = 0.005  # the same, where it is close to its limit
_QUICKEST = 4 << 30  # bytes that one processor fills in a second, at most
_DESCRIBED = 1.0  # seconds between two looks at the descriptions of memory, which take longer
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ_FILES, _LIST_FOLDERS, _SIGNALS_AND_SOCKETS = 1 << 2, 1 << 3, 3


def keep_inside(readable: list[str] | None = None) -> None:
    """From here on, signals reach only this process and its descendants (a landlock scope, where the kernel has it).

    Args:
        readable: Where given, files and folders of which alone anything may be read from here on. Where the sandbox has
            no /proc of its own, the relay looks into the machine's, and a session may not.

    Raises:
        OSError: If reading cannot be restricted.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    reading = _READ_FILES | _LIST_FOLDERS if readable is not None else 0
    attributes = (ctypes.c_uint64 * 3)(reading, 0, _SIGNALS_AND_SOCKETS)
    ruleset = libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(24), 0)
    done = ruleset >= 0
    for path in readable or ():
        done = done and _may_read(libc, ruleset, path)
    if done:
        libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0)
        done = libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0
        os.close(ruleset)
    if readable is not None and not done:
        raise OSError(ctypes.get_errno(), "landlock")


def _may_read(libc: ctypes.CDLL, ruleset: int, path: str) -> bool:
    """Let a file be read, or a folder and all in it. What is not there needs no rule."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    access = _READ_FILES | (_LIST_FOLDERS if os.path.isdir(path) else 0)
    rule = struct.pack("=Qi", access, descriptor)
    done = libc.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0) == 0
    os.close(descriptor)
    return bool(done)


def _open_description() -> None:
    """Let the relay, which is of the same user, look at this process's memory; where there is too little, go first."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, ctypes.c_ulong(1), 0, 0, 0)
        with contextlib.suppress(OSError):  # behind landlock /proc is closed
            Path("/proc/self/oom_score_adj").write_text("1000")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def _enter_filter(program: bytes) -> None:
    """Refuse system calls from here on.

    Raises:
        OSError: if the kernel does not take it.
    """
    steps = ctypes.create_string_buffer(program, len(program))
    packed = _Program(len(program) // 8, ctypes.addressof(steps))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.c_ulong(ctypes.addressof(packed)), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls")


class Relay:
    """The loop between the grader's two pipes and the child's two.

    Args:
        config: The warm parent's.
        commands: Descriptor that the grader's requests come from.
        replies: Descriptor that answers go to.
    """

    def __init__(self, config: dict[str, Any], commands: int, replies: int) -> None:
        self.config = config
        self.commands, self.replies = commands, replies
        self.to_child = self.from_child = -1
        self.child = 0
        self.incoming, self.outgoing = bytearray(), bytearray()
        self.credit = 0
        self.look, self.look_closer = 0.0, 0.0  # when the next looks are due
        self.described = 0
        self.left_running = 0
        group = Account(config["account"]) if config["account"] else None
        self.account = OwnKernel() if config["own_kernel"] else group
        self.before = (0, 0)  # what the account said when the session began: bytes held, processes ended

    def serve(self) -> bool:
        """Relay until the grader ends the session; False if it closed its end instead."""
        while True:
            reading = [self.commands] + ([self.from_child] if self.from_child >= 0 else [])
            writing = [self.to_child] if self.outgoing and self.to_child >= 0 else []
            ready, free, _ = select.select(reading, writing, [], self._until_look())
            if self.child and self._takes_too_much():
                continue
            if free:
                self._feed_child()
            if self.from_child in ready:
                self._hear_child()
            if self.commands in ready:
                data = wire.read_frame(self.commands)
                if data is None or not self._obey(data):
                    if data is not None and self.child and not self.credit:
                        self._let_child_end()
                    self._end_session()
                    if data is not None:
                        self.say(left=self.left_running)
                    return data is not None

    def say(self, **payload: Any) -> None:
        """Tell the grader something in its own name."""
        wire.write_all(self.replies, wire.frame(b"P" + wire.pack(payload)))

    def _obey(self, data: bytes) -> bool:
        """Do what the grader asks for; False if that is to end."""
        request = wire.unpack(data)
        if request["op"] == "session":
            self._start_session(request)
        elif request["op"] == "observe":
            self.credit += 1
            self.outgoing += wire.frame(data)
            if self.child == 0:
                self.say(died="the session's process is gone")
        return bool(request["op"] != "end")

    def _start_session(self, request: dict[str, Any]) -> None:
        self.credit = sum(not cell["skip"] for cell in request["cells"]) + 1
        if self.account:
            self.before = self.account.held(), self.account.killed()
        child_reads, self.to_child = os.pipe()
        self.from_child, child_writes = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            try:
                ours = self.commands, self.replies, self.to_child, self.from_child, *self.config["account"]
                for descriptor in ours:
                    os.close(descriptor)
                os.setsid()
                keep_inside(self.config.get("student_reads"))
                become_nobody(self.config["student_uid"])
                _open_description()
                for program in self.config["student_filters"]:
                    _enter_filter(bytes.fromhex(program))
                Child({**request, **self.config["child"]}, child_reads, child_writes, forks=True).serve()
            finally:
                os._exit(0)
        self.look = time.monotonic() + _LOOK_SECONDS
        self.look_closer = time.monotonic() + _DESCRIBED
        os.close(child_reads)
        os.close(child_writes)
        os.set_blocking(self.to_child, False)
        os.set_blocking(self.from_child, False)

    def _until_look(self) -> float | None:
        return max(0.0, self.look - time.monotonic()) if self.child else None

    def _takes_too_much(self) -> bool:
        """End a session that has more files or memory than it may; look again after a moment only."""
        begun = time.process_time()
        if time.monotonic() < self.look:
            return False
        if self._has_too_many_files():
            self._lose_child(f"the session made more than {self.config['files']:,} files")
            return True
        # A kernel of the sandbox's own says in one number what is held, and its priorities mean nothing outside.
        own = self.config["own_kernel"]
        inside: set[int] = set() if own else inhabitants()
        at_once = (os.cpu_count() or 1) if own else hold_back(inside)
        most = self.config["total_mb"] << 20
        left = most - self._held_by(inside)
        if left < 0:
            self._lose_for_memory()
            return True
        # Half of what is left may be filled unseen. No more than half of a processor's time is spent on looking, but
        # where processes share much, a look takes so long that in as much time again the limit would be passed by far.
        quickest = min(max(1, at_once), os.cpu_count() or 1) * _QUICKEST
        rest = min(time.process_time() - begun, (left + most / 20) / quickest)
        pause = max(_CLOSEST, rest, min(_LOOK_SECONDS, left / 2 / quickest))
        self.look = time.monotonic() + pause
        return False

    def _held_by(self, inside: set[int]) -> float:
        """Bytes that processes hold, and that the kernel holds for them; any number, if one of them hides it."""
        if self.account:
            return float("inf") if self._was_killed() else self.account.held() - self.before[0]
        try:
            if time.monotonic() >= self.look_closer:
                self.described = descriptions_of(inside, self.child)
                self.look_closer = time.monotonic() + _DESCRIBED
            return memory_of(inside, (self.config["total_mb"] << 20) - self.described, self.child) + self.described
        except PermissionError:
            return float("inf")

    def _has_too_many_files(self) -> bool:
        """Return whether the scratch, where it is a file system of its own, holds more files than it may."""
        most: int | None = self.config.get("files")
        if most is None:
            return False
        found = os.statvfs(self.config["scratch"])
        return found.f_files - found.f_ffree > most

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
            if self._was_killed():
                self._lose_for_memory()
            else:
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

    def _was_killed(self) -> bool:
        """Return whether the kernel has ended a process of the session, because all of them held too much."""
        return self.account is not None and self.account.killed() > self.before[1]

    def _lose_for_memory(self) -> None:
        most = self.config["total_mb"]
        self._lose_child(f"the session's processes took more than {most:,} MiB of memory together", "memory")

    def _lose_child(self, reason: str, kind: str = "killed") -> None:
        self._end_session()
        self.say(died=reason, kind=kind)

    def _let_child_end(self) -> None:
        """Wait for the child, which hears now that it is over, and ends the process it kept for a question.

        What runs after that was left by the student's code. On a busy machine the two wait for a processor first, which
        no account of a process says before it has had one.
        """
        os.close(self.to_child)
        self.to_child = -1
        begun, pause = time.monotonic(), 0.0005
        with contextlib.suppress(OSError):  # it has been reaped
            while not os.waitpid(self.child, os.WNOHANG)[0] and not self._takes_too_much():
                passed = time.monotonic() - begun
                if passed > (_LEAVING_BUSY if at_work(os.getpid()) else _LEAVING_SECONDS):
                    return
                time.sleep(pause)
                pause = min(2 * pause, 0.01)

    def _end_session(self) -> None:
        """Kill every process of the session, daemons too, and reap them."""
        for descriptor in (self.to_child, self.from_child):
            if descriptor >= 0:
                os.close(descriptor)
        if self.child:
            if self.config["own_kernel"]:  # where counting takes so long that a session would fill memory meanwhile
                with contextlib.suppress(OSError):
                    os.kill(-1, signal.SIGSTOP)
            self.left_running += len(running(inhabitants() - {self.child}))
            sweep(self.child, self.config["sweep"])
        self.to_child = self.from_child = -1
        self.child, self.credit, self.described = 0, 0, 0
        self.incoming, self.outgoing = bytearray(), bytearray()

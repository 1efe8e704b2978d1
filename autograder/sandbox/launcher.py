"""Start the worker behind Linux namespaces or behind landlock, with nothing installed: system calls through ctypes.

A script of its own, not a module of the package: it is run by the bare interpreter, reads its plan as one line of JSON
from the descriptor named in its arguments, confines itself and becomes the worker.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_BIND, _REC, _PRIVATE, _NOSUID, _NODEV, _DETACH = 0x1000, 0x4000, 0x40000, 2, 4, 2
_PIVOT_ROOT, _MOUNT_SETATTR = {"x86_64": (155, 442)}.get(os.uname().machine, (41, 442))
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_SET_PDEATHSIG, _SET_KEEPCAPS, _SET_SECCOMP, _SET_NO_NEW_PRIVS, _CAP_AMBIENT = 1, 8, 22, 38, 47
_DAC_READ_SEARCH = 2
_READ, _READ_FILE_ONLY, _LOOK, _ALL_FILES, _DEVICE = 0b1101, 0b0101, 0b1100, (1 << 16) - 1, 0b110 | 1 << 14


def _checked(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def _prctl(option: int, *values: int) -> None:
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _checked(_LIBC.prctl(option, *padded), f"prctl {option}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [text.encode() if text is not None else None for text in (source, target, kind)]
    extra = data.encode() if data is not None else None
    _checked(_LIBC.mount(*texts, ctypes.c_ulong(flags), extra), f"mount {target}")


def _make_read_only(target: str) -> None:
    # set: read-only, nosuid; mount_setattr leaves flags alone that a user namespace may not change
    attributes = struct.pack("=QQQQ", 0x1 | 0x2, 0, 0, 0)
    _checked(_LIBC.syscall(_MOUNT_SETATTR, -100, target.encode(), 0x8000, attributes, 32), f"read-only {target}")


def _bind(source: str, target: str, read_only: bool = True) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target):
            Path(target).touch()
    _mount(source, target, None, _BIND | _REC)
    if read_only:
        _make_read_only(target)


def _unshare(as_root: bool) -> None:
    flags = _NEWNS | _NEWPID | _NEWNET | _NEWIPC | _NEWUTS | _NEWCGROUP
    uid, gid = os.getuid(), os.getgid()
    if as_root:
        _checked(_LIBC.unshare(flags), "unshare")
        return
    _checked(_LIBC.unshare(flags | _NEWUSER), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"65534 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"65534 {gid} 1")


def _build_root(plan: dict[str, Any]) -> None:
    """A file system of its own that holds only what the plan shows, and becomes the root."""
    root = plan["root"]
    _mount("none", "/", None, _REC | _PRIVATE)
    _mount("tmpfs", root, "tmpfs", _NOSUID | _NODEV, "size=4m,mode=755")
    for link, target in plan["links"]:
        os.symlink(target, root + link)
    for source, target in plan["show"]:
        _bind(source, root + target)
    for path in plan["hide"]:
        if os.path.isdir(root + path):
            _mount("tmpfs", root + path, "tmpfs", _NOSUID | _NODEV, "size=4k,mode=755")
            _make_read_only(root + path)
        else:
            _mount("/dev/null", root + path, None, _BIND)
    for device in plan["devices"]:
        _bind(device, root + device, read_only=False)
    os.symlink(plan["scratch"], root + plan["shared_memory"])  # semaphores: bounded and wiped with the scratch
    os.mkdir(root + "/proc")
    os.mkdir(root + plan["scratch"])
    options = f"size={plan['file_mb']}m,nr_inodes={plan['files']},mode=777"
    _mount("tmpfs", root + plan["scratch"], "tmpfs", _NOSUID | _NODEV, options)
    os.mkdir(root + "/old")


def _enter_root(plan: dict[str, Any]) -> None:
    """Run as the first process of the new namespace: mount its /proc, leave the old root behind."""
    root = plan["root"]
    _mount("proc", root + "/proc", "proc", _NOSUID | _NODEV)
    for name in ("sys", "sysrq-trigger", "irq", "bus"):
        if os.path.exists(f"{root}/proc/{name}"):
            _mount(f"{root}/proc/{name}", f"{root}/proc/{name}", None, _BIND | _REC)
            _make_read_only(f"{root}/proc/{name}")
    os.chdir(root)
    _checked(_LIBC.syscall(_PIVOT_ROOT, b".", b"old"), "pivot_root")
    _checked(_LIBC.umount2(b"/old", _DETACH), "umount old root")
    os.rmdir("/old")
    attributes = struct.pack("=QQQQ", 0x1, 0, 0, 0)
    _checked(_LIBC.syscall(_MOUNT_SETATTR, -100, b"/", 0, attributes, 32), "read-only root")
    os.chdir("/")


def _drop_to(uid: int, keep: int) -> None:
    """Become an ordinary user that keeps only the capabilities in the mask `keep`."""
    if keep:
        _prctl(_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    header = struct.pack("=Ii", 0x20080522, 0)
    _checked(_LIBC.capset(header, struct.pack("=6I", keep, keep, keep, 0, 0, 0)), "capset")
    if keep:
        _prctl(_CAP_AMBIENT, 2, _DAC_READ_SEARCH)


def _drop_all_capabilities() -> None:
    header = struct.pack("=Ii", 0x20080522, 0)
    _checked(_LIBC.capset(header, bytes(24)), "capset")


def _filter_calls(program: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))

    steps = ctypes.create_string_buffer(program, len(program))
    packed = Program(len(program) // 8, ctypes.addressof(steps))
    _prctl(_SET_NO_NEW_PRIVS, 1)
    _prctl(_SET_SECCOMP, 2, ctypes.addressof(packed))


def _allow(ruleset: int, path: str, access: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", access, descriptor)
        _checked(_LIBC.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0), f"landlock rule {path}")
        os.close(descriptor)


def _restrict_files(plan: dict[str, Any]) -> None:
    """Landlock: files only as the plan allows, no TCP, no signals and no abstract sockets beyond this process's own."""
    attributes = struct.pack("=QQQ", _ALL_FILES, 0b11, 0b11)
    ruleset = _checked(_LIBC.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(24), 0), "landlock")
    for path in plan["readable"]:
        _allow(ruleset, path, _READ if os.path.isdir(path) else _READ_FILE_ONLY)
    for path in plan["listable"]:
        _allow(ruleset, path, 0b1000)
    for path in plan["devices"]:
        _allow(ruleset, path, _DEVICE)
    _allow(ruleset, plan["scratch"], _ALL_FILES)
    _allow(ruleset, "/proc", _LOOK)  # for the relay, which watches sessions; these cannot look
    _prctl(_SET_NO_NEW_PRIVS, 1)
    _checked(_LIBC.syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock")
    os.close(ruleset)


def _start_in_namespaces(plan: dict[str, Any]) -> int:
    """Fork into the new namespaces, wait for the worker there, and return its exit status."""
    _unshare(plan["as_root"])
    _build_root(plan)
    with contextlib.suppress(OSError):
        socket.sethostname("sandbox")
    worker = os.fork()
    if worker == 0:
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        _enter_root(plan)
        if plan["uid"] is None:
            _drop_all_capabilities()
        else:
            _drop_to(plan["uid"], 0)
        _filter_calls(bytes.fromhex(plan["filter"]))
        os.execve(plan["command"][0], plan["command"], plan["environment"])
    os.close(0)
    os.close(1)  # the grader sees the worker's end of its pipes, not this process's
    return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])


def _start_behind_landlock(plan: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("900")
    os.setsid()
    os.chdir(plan["scratch"])
    if plan["uid"] is not None:
        _drop_to(plan["uid"], 1 << _DAC_READ_SEARCH)
    _restrict_files(plan)
    _filter_calls(bytes.fromhex(plan["filter"]))
    os.execve(plan["command"][0], plan["command"], plan["environment"])


def main() -> None:
    """Read the plan and carry it out; a failure is one line on stderr and exit status 1."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)
    with os.fdopen(int(sys.argv[1])) as source:
        plan = json.load(source)
    try:
        if plan["how"] == "namespaces":
            sys.exit(_start_in_namespaces(plan))
        _start_behind_landlock(plan)
    except OSError as error:
        print(error, file=sys.stderr)
        os._exit(1)


if __name__ == "__main__":
    main()

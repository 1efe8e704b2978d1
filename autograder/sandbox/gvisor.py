"""gVisor's sandbox as runsc starts it: an OCI bundle in the view's folder, and the command that runs it.

gVisor is a kernel of its own between a student's code and this machine's. The users in it mean nothing outside: the
worker is its root, and a session another user, who can neither signal nor look at the worker.
"""

import json
import shutil
from pathlib import Path
from typing import Any

STUDENT = 65534
"""The user in gVisor that a session becomes."""

_STUDENTS_FOLDER: dict[str, Any] = {"mode": "0700", "uid": STUDENT, "gid": STUDENT}
_CLOSED: dict[str, Any] = {"size": 4096, "mode": "0555"}
_WORKERS_RIGHTS = ["CAP_KILL", "CAP_SETUID", "CAP_SETGID", "CAP_DAC_OVERRIDE", "CAP_FOWNER"]
_OWN_MEMORY = 1 << 20  # KiB that gVisor may take for itself, beside the memory of the processes in it


def write_bundle(
    folder: Path,
    *,
    links: list[tuple[str, str]],
    shown: list[tuple[str, str]],
    masked: list[tuple[str, bool]],
    scratch: str,
    file_mb: int,
    processes: int,
    command: list[str],
    environment: dict[str, str],
) -> None:
    """Write the bundle's configuration, and the root that everything is mounted on.

    Args:
        folder: The bundle's folder.
        links: Symbolic links, and what each points to.
        shown: Pairs of a path on the host and its place inside, which is read-only.
        masked: Places inside where something hidden would show, and whether each is a folder.
        scratch: The folder inside that a session may write to.
        file_mb: Its size.
        processes: Processes and threads of each user inside.
        command: The command that starts the worker.
        environment: The whole environment of the worker.
    """
    root, nothing = folder / "root", folder / "nothing"
    nothing.touch(0o444)
    for link, target in links:
        place = root / link.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
    mounts = [_mount("/proc", "proc"), *(_bind(source, target) for source, target in shown)]
    mounts += [_closed(place) if is_folder else _bind(str(nothing), place) for place, is_folder in masked]
    mounts += [_closed("/tmp"), _mount(scratch, "tmpfs", size=file_mb << 20, **_STUDENTS_FOLDER)]
    sets = ("bounding", "effective", "permitted")
    process = {
        "user": {"uid": 0, "gid": 0},
        "args": command,
        "env": [f"{name}={value}" for name, value in environment.items()],
        "cwd": scratch,
        "noNewPrivileges": True,
        "capabilities": dict.fromkeys(sets, _WORKERS_RIGHTS),
        "rlimits": [_limit("RLIMIT_NPROC", processes), _limit("RLIMIT_MSGQUEUE", 0)],
        "oomScoreAdj": 1000,  # the machine's first to go
    }
    namespaces = [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]
    config = {
        "ociVersion": "1.0.2",
        "process": process,
        "root": {"path": str(root), "readonly": True},
        "hostname": "sandbox",
        "mounts": mounts,
        "linux": {"namespaces": namespaces},
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def runsc(folder: Path, as_root: bool, *words: str) -> list[str]:
    """A command of runsc about the sandbox of a bundle.

    Args:
        folder: The bundle's folder, where runsc keeps its state as well.
        as_root: Whether the user is root, and can give the sandbox's kernel a user of nobody's.
        words: The command without the sandbox's name.
    """
    settings = ["--root", str(folder / "runsc"), "--network=none", "--ignore-cgroups", "--file-access-mounts=exclusive"]
    rootless = [] if as_root else ["--rootless"]
    return [shutil.which("runsc") or "runsc", *settings, *rootless, *words, folder.name]


def start(folder: Path, as_root: bool) -> list[str]:
    """The command that runs a bundle, and bounds the memory that gVisor takes for itself; `runsc` has the arguments."""
    bounded = [shutil.which("sh") or "/bin/sh", "-c", 'ulimit -d "$0" && exec "$@"', str(_OWN_MEMORY)]
    return [*bounded, *runsc(folder, as_root, "run", "--bundle", str(folder))]


def _mount(target: str, kind: str, source: str = "", *options: str, **settings: Any) -> dict[str, Any]:
    named = [f"{name}={value}" for name, value in settings.items()]
    return {"destination": target, "type": kind, "source": source or kind, "options": [*options, *named]}


def _bind(source: str, target: str) -> dict[str, Any]:
    return _mount(target, "bind", source, "rbind", "ro")


def _closed(target: str) -> dict[str, Any]:
    return _mount(target, "tmpfs", "", "ro", **_CLOSED)


def _limit(name: str, value: int) -> dict[str, Any]:
    return {"type": name, "soft": value, "hard": value}

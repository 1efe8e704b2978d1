"""The ways to isolate a worker: bubblewrap, Linux namespaces, landlock, gVisor, and none. Each says how to start it."""

import contextlib
import ctypes
import json
import os
import platform
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from autograder.sandbox import gvisor, seccomp
from autograder.sandbox.cgroups import Group, make_group
from autograder.sandbox.model import Limits
from autograder.sandbox.view import BOOT, NOBODIES, View, expand

_SCRATCH, _HOME, _EDITION, _SITE = "/scratch", "/sandbox", "/sandbox/edition", "/sandbox/site"
_SPARE_PROCESSES = 128  # room for what the user starts elsewhere, where all of it is counted
_CAN_COUNT_PER_NAMESPACE = (5, 14)  # before Linux 5.14, RLIMIT_NPROC counts a user's processes over all namespaces


@dataclass
class Launch:
    """A started worker: the process that holds its pipes, what the worker is told first, and its control group."""

    process: "subprocess.Popen[bytes]"
    config: dict[str, Any]
    errors: IO[bytes]
    group: Group | None = None


@dataclass(frozen=True)
class Backend:
    """One way to isolate.

    Args:
        name: Its name in commands.
        blocks: The things that it keeps a student's code from.
        leaves: The things that it does not.
        missing: Says in a few words why it cannot be used here, or nothing.
        start: Starts a worker.
        on_request: Whether it is used only if it is asked for by name.
    """

    name: str
    blocks: tuple[str, ...]
    leaves: tuple[str, ...]
    missing: Callable[[], str]
    start: Callable[[View, Limits], Launch]
    on_request: bool = False


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _own_uid() -> int | None:
    """For root, a user of nobody's: limits on processes do not bind root, and root owns too many files."""
    return secrets.choice(NOBODIES) if _is_root() else None


def _kernel() -> tuple[int, int]:
    parts = platform.release().split(".")
    with contextlib.suppress(ValueError, IndexError):
        return int(parts[0]), int(parts[1])
    return 0, 0


def _environment(scratch: str) -> dict[str, str]:
    caches = ("NUMBA_CACHE_DIR", "MINIGRAD_CACHE_DIR", "MPLCONFIGDIR", "XDG_CACHE_HOME")
    places = dict.fromkeys(("HOME", "TMPDIR", *caches), scratch)
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    plain = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LOGNAME": "student", "USER": "student", "TZ": "UTC"}
    # A child that is forked after a parallel kernel dies under omp; few threads, because they count as processes.
    numba = {"NUMBA_THREADING_LAYER_PRIORITY": "tbb workqueue omp", "NUMBA_NUM_THREADS": "2"}
    numba["NUMBA_ENABLE_CUDASIM"] = "1"  # no device is shown in here, and every machine grades alike
    return {
        **plain,
        **places,
        **one_thread,
        **numba,
        "MPLBACKEND": "Agg",
        "MINIGRAD_SANDBOX": "1",
        "PYTHONHASHSEED": "0",
    }


def _config(limits: Limits, own_processes: bool, walls: bool = True, **places: Any) -> dict[str, Any]:
    """The first message to the worker.

    Args:
        limits: The resources that a student's code may use.
        own_processes: Whether the limit on processes counts this sandbox alone.
        walls: Whether anything is kept from the code but resources.
        places: Paths inside, and how the worker ends a session.
    """
    bounds = {name: getattr(limits, name) for name in ("memory_mb", "total_mb", "file_mb", "processes")}
    reply = limits.reply_mb << 20
    child = {"cell_seconds": limits.cell_seconds, "output_limit": limits.output_bytes, "reply_bytes": reply}
    config = {**bounds, "child": child, "uid": None, "student_uid": None, "own_kernel": False}
    config |= {"grader": os.getpid(), "forks": True}
    student_filters = [seccomp.build_student_filter(walls).hex()] if seccomp.supported() else []
    config |= {"student_filters": student_filters, **places}
    if not own_processes:
        config["processes"] += _tasks_of_this_user() + _SPARE_PROCESSES
    return config


def _tasks_of_this_user() -> int:
    """Return how many processes and threads this user has, where the kernel counts them together."""
    count = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            if int(fields["Uid"].split()[0]) == os.getuid():
                count += int(fields["Threads"])
    return count


def _open_plan(data: bytes) -> IO[bytes]:
    plan = tempfile.TemporaryFile()  # noqa: SIM115 - the started process reads it through its descriptor
    plan.write(data)
    plan.seek(0)
    return plan


def _popen(
    command: list[str],
    environment: dict[str, str],
    limits: Limits,
    plan: IO[bytes] | None = None,
    grouped: bool = True,
) -> tuple["subprocess.Popen[bytes]", IO[bytes], Group | None]:
    group = make_group(limits) if grouped else None
    inherited = [*([] if plan is None else [plan.fileno()]), *(group.open() if group else [])]
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - read and closed when the sandbox ends
    process = subprocess.Popen(
        group.entering(command) if group else command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
        pass_fds=inherited,
        bufsize=0,
    )
    if plan is not None:
        plan.close()
    return process, errors, group


def _inside_places(limits: Limits) -> dict[str, Any]:
    return {"edition": _EDITION, "scratch": _SCRATCH, "home": _HOME, "sweep": "all", "files": limits.files}


def _inside_paths() -> tuple[str, str]:
    return _HOME, _SITE


def _shown(view: View) -> list[tuple[str, str]]:
    """Pairs of a path on the host and its place inside."""
    shown = [(str(path), str(path)) for path in view.libraries if not path.is_symlink()]
    if not any(folder in view.python.parents for folder in view.libraries):
        shown.append((str(view.python), str(view.python)))
    shown += [(str(path), f"{_SITE}/{place}") for path, place in view.packages]
    return [*shown, (str(view.edition), _EDITION), (str(view.home / "inside"), f"{_HOME}/inside")]


def _links(view: View) -> list[tuple[str, str]]:
    return [(str(path), os.readlink(path)) for path in view.libraries if path.is_symlink()]


def _masked(view: View) -> list[str]:
    """Places inside where something hidden would show."""
    shown = [(Path(source), target) for source, target in _shown(view)]
    places = [
        str(Path(target) / path.relative_to(source))
        for path in view.hidden
        for source, target in shown
        if source in path.parents
    ]
    return list(dict.fromkeys(places))


def _bubblewrap_missing() -> str:
    if shutil.which("bwrap") is None:
        return "bwrap is not installed"
    return _no_filter()


def _no_filter() -> str:
    if sys.platform != "linux":
        return "it needs Linux"
    return "" if seccomp.supported() else f"no system-call filter is known for {platform.machine()}"


def _bubblewrap_command(view: View, limits: Limits, as_root: bool, filter_descriptor: int) -> list[str]:
    command = [shutil.which("bwrap") or "bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    if as_root:
        # Root becomes a user of its own inside; these two capabilities go when the worker has done so.
        command += ["--unshare-cgroup-try", "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--unshare-cgroup-try", "--disable-userns", "--uid", "65534", "--gid", "65534"]
        command += ["--cap-drop", "ALL"]
    command += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    for name, value in _environment(_SCRATCH).items():
        command += ["--setenv", name, value]
    for link, target in _links(view):
        command += ["--symlink", target, link]
    for folder in _parents([target for _, target in _shown(view)]):
        command += ["--perms", "0755", "--dir", folder]  # bubblewrap's own are closed to all but their owner
    for source, target in _shown(view):
        command += ["--ro-bind", source, target]
    for place in _masked(view):
        command += _mask(view, place)
    command += ["--proc", "/proc", "--perms", "0555", "--tmpfs", "/dev"]
    for device in view.devices:
        command += ["--dev-bind", str(device), str(device)]
    command += ["--symlink", _SCRATCH, "/dev/shm"]  # semaphores: bounded and wiped with the scratch
    command += ["--perms", "0777", "--size", str(limits.file_mb << 20), "--tmpfs", _SCRATCH]
    for read_only in ("/dev", "/"):
        command += ["--remount-ro", read_only]
    command += ["--chdir", _SCRATCH, "--seccomp", str(filter_descriptor), "--"]
    return command + _python(view, *_inside_paths())


def _parents(targets: list[str]) -> list[str]:
    folders = {str(folder) for target in targets for folder in Path(target).parents}
    return sorted(folders - {"/"}, key=len)


def _mask(view: View, place: str) -> list[str]:
    if not _is_folder_inside(view, place):
        return ["--ro-bind", "/dev/null", place]
    return ["--perms", "0555", "--size", "4096", "--tmpfs", place, "--remount-ro", place]


def _is_folder_inside(view: View, place: str) -> bool:
    for source, target in _shown(view):
        if place.startswith(f"{target}/"):
            return (Path(source) / Path(place).relative_to(target)).is_dir()
    return False


def _python(view: View, home: str, site: str) -> list[str]:
    return [str(view.python), "-s", "-S", "-P", "-B", "-c", BOOT, home, site]


def _start_bubblewrap(view: View, limits: Limits) -> Launch:
    uid = _own_uid()
    program = _open_plan(seccomp.build_filter())
    command = _bubblewrap_command(view, limits, uid is not None, program.fileno())
    process, errors, group = _popen(command, {}, limits, program)
    own = uid is not None or _kernel() >= _CAN_COUNT_PER_NAMESPACE
    return Launch(process, _config(limits, **_inside_places(limits), uid=uid, own_processes=own), errors, group)


def _start_launcher(
    view: View, plan: dict[str, Any], limits: Limits
) -> tuple["subprocess.Popen[bytes]", IO[bytes], Group | None]:
    source = _open_plan(json.dumps(plan).encode())
    launcher = str(Path(__file__).with_name("launcher.py"))
    return _popen([str(view.python), "-I", "-S", "-B", launcher, str(source.fileno())], {}, limits, source)


def _start_namespaces(view: View, limits: Limits) -> Launch:
    uid = _own_uid()
    root = view.home / "root"
    root.mkdir()
    plan = {
        "how": "namespaces",
        "as_root": uid is not None,
        "uid": uid,
        "root": str(root),
        "links": _links(view),
        "show": _shown(view),
        "hide": _masked(view),
        "devices": [str(device) for device in view.devices],
        "shared_memory": "/dev/shm",
        "scratch": _SCRATCH,
        "file_mb": limits.file_mb,
        "files": limits.files,
        "filter": seccomp.build_filter().hex(),
        "command": _python(view, *_inside_paths()),
        "environment": _environment(_SCRATCH),
    }
    process, errors, group = _start_launcher(view, plan, limits)
    own = uid is not None or _kernel() >= _CAN_COUNT_PER_NAMESPACE
    return Launch(process, _config(limits, **_inside_places(limits), own_processes=own), errors, group)


def _landlock_missing() -> str:
    if _no_filter():
        return _no_filter()
    version = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)
    if version < 0:
        return "this kernel has no landlock"
    return "" if version >= 6 else f"this kernel's landlock (version {version}) does not hold signals back; 6 does"


def _start_landlock(view: View, limits: Limits) -> Launch:
    uid = _own_uid()
    if uid is not None:
        for folder in (view.home, view.scratch):
            os.chown(folder, uid, uid)
    readable = [path for shown in view.libraries for path in expand(shown, view.hidden)]
    readable += [path for path, _ in view.packages]
    listable = [folder for folder in view.libraries if any(folder in path.parents for path in view.hidden)]
    seen = [str(path) for path in (*readable, view.python, view.edition, view.home / "inside")]
    listed = [str(path) for path in (*listable, view.home, view.site)]
    plan = {
        "how": "landlock",
        "uid": uid,
        "readable": seen,
        "listable": listed,
        "devices": [str(device) for device in view.devices],
        "scratch": str(view.scratch),
        "filter": seccomp.build_filter(shared_files=True).hex(),
        "command": _python(view, *_host_paths(view)),
        "environment": _environment(str(view.scratch)),
    }
    process, errors, group = _start_launcher(view, plan, limits)
    config = _config(limits, **_host_places(view), sweep="all", own_processes=uid is not None)
    # A folder that may only be listed from outside may be read from here as far as the outer rules go: both bind.
    config["student_reads"] = [*seen, *listed, *map(str, view.devices), str(view.scratch)]
    return Launch(process, config, errors, group)


def _host_places(view: View) -> dict[str, Any]:
    return {"edition": str(view.edition), "scratch": str(view.scratch), "home": str(view.home)}


def _host_paths(view: View) -> tuple[str, str]:
    return str(view.home), str(view.site)


def _gvisor_missing() -> str:
    if shutil.which("runsc") is None:
        return "runsc is not installed"
    return _no_filter()


def _start_gvisor(view: View, limits: Limits) -> Launch:
    places = _inside_places(limits)
    gvisor.write_bundle(
        view.home,
        links=_links(view),
        shown=_shown(view),
        masked=[(place, _is_folder_inside(view, place)) for place in _masked(view)],
        scratch=_SCRATCH,
        file_mb=limits.file_mb,
        processes=limits.processes,
        command=_python(view, *_inside_paths()),
        environment=_environment(_SCRATCH),
    )
    # No control group: its bound on processes would count the threads of gVisor itself.
    process, errors, _ = _popen(gvisor.start(view.home, _is_root()), {}, limits, grouped=False)
    config = _config(limits, **{**places, "files": None}, own_processes=True)
    config["student_filters"] = [seccomp.build_filter().hex(), *config["student_filters"]]
    return Launch(process, config | {"student_uid": gvisor.STUDENT, "own_kernel": True}, errors)


def _start_none(view: View, limits: Limits) -> Launch:
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "PATH") if name in os.environ}
    command, environment = _python(view, *_host_paths(view)), {**_environment(str(view.scratch)), **kept}
    process, errors, group = _popen(command, environment, limits)
    config = _config(limits, **_host_places(view), sweep="descendants", own_processes=False, walls=False)
    return Launch(process, config, errors, group)


_FILES = "reading or writing any file but the library's"
_OTHERS = ("network and other sockets", "seeing or signalling other processes", "gaining privileges")
_BOUNDS = ("more memory, processes, output or time than the limits say",)

BACKENDS: tuple[Backend, ...] = (
    Backend("bubblewrap", (_FILES, *_OTHERS, *_BOUNDS), (), _bubblewrap_missing, _start_bubblewrap),
    Backend("namespaces", (_FILES, *_OTHERS, *_BOUNDS), (), _no_filter, _start_namespaces),
    Backend(
        "landlock",
        (_FILES, *_OTHERS, *_BOUNDS),
        (
            "the names of files can be asked for",
            "the sum of files in the scratch folder has no bound",
            "the number of files has no bound",
            "a process that the code started outlives a grader that was killed",
        ),
        _landlock_missing,
        _start_landlock,
    ),
    Backend(
        "gvisor",
        ("holes in this machine's kernel", _FILES, *_OTHERS, *_BOUNDS),
        (
            "the number of files has no bound",
            "gVisor's own records of files and memory may take a GiB",
            "the worker's environment and the places of its memory can be read",
        ),
        _gvisor_missing,
        _start_gvisor,
        on_request=True,
    ),
    Backend(
        "none",
        ("more time, memory or output than the limits say",),
        ("files", "network", "other processes"),
        lambda: "",
        _start_none,
        on_request=True,
    ),
)

"""What a sandbox can see: the Python installation, the site-packages, system libraries, the edition and the worker."""

import contextlib
import os
import shutil
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from autograder.sandbox.inside.files import empty

__all__ = ["BOOT", "NOBODIES", "PEERS", "View", "expand", "make_view", "remove_stale"]

# The worker is started by this line; its arguments are the folder that holds `inside` and the site folders.
BOOT = "import sys; sys.path += sys.argv[1:]; from inside.worker import main; main()"
_PREFIX = "sandbox-"  # then the number of the process that made the folder
NOBODIES = range(61184, 65280)  # numbers of users, one of whom root's sandboxes run as
_SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache")
_DEVICES = ("null", "zero", "full", "random", "urandom")
# An installed copy of the project would hold every answer and every test; a peer of it, the same in other words. Peers
# are there only where someone compares with them, and every machine is to grade alike.
_OWN = ("minigrad", "autograder", "__editable__")
PEERS = ("micrograd", "torch", "functorch", "scipy", "sklearn")


@dataclass(frozen=True)
class View:
    """Paths on the host that a sandbox is built from.

    Args:
        edition: Folder that holds the `minigrad` to be graded with.
        home: Folder made for this view; it holds the package `inside`.
        python: The interpreter itself, no link.
        libraries: Files and folders to show read-only at their own place.
        site: Folders of installed packages.
        hidden: What must not be seen of the libraries and the site folders.
        devices: The devices that any program may use.
    """

    edition: Path
    home: Path
    python: Path
    libraries: tuple[Path, ...]
    site: tuple[Path, ...]
    hidden: tuple[Path, ...]
    devices: tuple[Path, ...] = tuple(Path("/dev", name) for name in _DEVICES)

    @property
    def scratch(self) -> Path:
        """The folder to write to, where no file system of its own is made for it."""
        return self.home / "scratch"

    def clear(self) -> None:
        """Remove what was made for this view."""
        # What cannot be removed stays in the folder for temporary files; it must not stop the grader.
        with contextlib.suppress(OSError):
            empty(str(self.home))
            self.home.rmdir()


def make_view(edition: Path) -> View:
    """A view of an edition: a copy that any user can read, in a new folder with the package `inside` beside it.

    Args:
        edition: Folder that holds `minigrad`.

    Raises:
        OSError: if there is none.
    """
    remove_stale()
    home = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    try:
        shutil.copytree(edition / "minigrad", home / "edition" / "minigrad")
        shutil.copytree(Path(__file__).parent / "inside", home / "inside")
        (home / "scratch").mkdir()
        for folder, _, files in os.walk(home):
            # The folder itself stays closed: only what is shown of it can be reached.
            os.chmod(folder, 0o700 if Path(folder) == home else 0o755)
            for name in files:
                os.chmod(Path(folder, name), 0o644)
    except OSError:
        shutil.rmtree(home, ignore_errors=True)
        raise
    python = Path(sys.executable).resolve()
    return View(home / "edition", home, python, _libraries(), _site(), _hidden())


@cache
def remove_stale() -> None:
    """Remove, once in each process, the folders whose owners were killed before they could."""
    if not hasattr(os, "geteuid"):
        return
    users = {os.geteuid()} | (set(NOBODIES) if os.geteuid() == 0 else set())
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if _is_gone(owner) and stat.S_ISDIR(found.st_mode) and found.st_uid in users:
                empty(str(folder))
                folder.rmdir()


def _is_gone(pid: str) -> bool:
    """Whether `pid` is the number of a process that has ended."""
    if not (pid.isdecimal() and 0 < int(pid) < 1 << 22):
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@cache
def _libraries() -> tuple[Path, ...]:
    base = Path(sys.base_prefix).resolve()
    # Where Python is the system's own, its library is part of /usr/lib already.
    own = [folder for folder in (base / "lib", base / "lib64") if str(folder) not in _SYSTEM]
    return tuple(path for path in [*map(Path, _SYSTEM), *own] if path.exists())


@cache
def _site() -> tuple[Path, ...]:
    paths = [Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("platlib"))]
    for name in ("numpy", "cloudpickle"):
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            paths.append(Path(spec.origin).parents[1])
    return tuple(dict.fromkeys(path.resolve() for path in paths))


@cache
def _hidden() -> tuple[Path, ...]:
    """What of the installed packages no sandbox imports.

    These are copies of this project and of its peers, files that name folders of the host, and the package folders of
    the base installation.
    """
    entries = [entry for site in _site() for entry in site.iterdir()]
    own = [entry for entry in entries if entry.name.lower().startswith((*_OWN, *PEERS)) or entry.suffix == ".pth"]
    base = Path(sys.base_prefix).resolve()
    for root in dict.fromkeys([base / "lib", Path("/usr/lib"), Path("/usr/local/lib")]):
        for pattern in ("python3*/site-packages", "python3*/dist-packages"):
            own += [folder for folder in root.glob(pattern) if folder not in _site()]
    return tuple(own)


def expand(path: Path, hidden: tuple[Path, ...]) -> Iterator[Path]:
    """`path`, or what is beneath it without the hidden parts: for isolation that can only allow."""
    if path in hidden:
        return
    if not any(path in other.parents for other in hidden):
        yield path
        return
    for entry in path.iterdir():
        yield from expand(entry, hidden)

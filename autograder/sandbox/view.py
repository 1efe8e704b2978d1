"""A sandbox's view: the Python installation, allowed packages, system libraries, the edition and the worker."""

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.common.atomic import Aside, sweep
from autograder.sandbox.packages import packages

# The worker is started by this line; its arguments are the folder that holds `inside` and that with the packages.
BOOT = "import sys; sys.path += sys.argv[1:]; from inside.worker import main; main()"
_PREFIX = "minigrad-sandbox-"  # like no other program's, since what nobody holds is removed
NOBODIES = range(61184, 65280)  # numbers of users, one of whom root's sandboxes run as
_SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache")
# Not zero: a shared mapping of it is memory that no process is charged with.
_DEVICES = ("null", "full", "random", "urandom")


@dataclass(frozen=True)
class View:
    """Paths on the host that a sandbox is built from.

    Args:
        edition: Folder that holds the package to be graded with.
        aside: The folder made for this view; it holds the package `inside`.
        python: The interpreter itself, no link.
        libraries: Files and folders to show read-only at their own place.
        packages: Installed packages, and where each belongs in the folder of packages.
        hidden: The parts of the libraries that must not be seen.
        devices: The devices that any program may use.
    """

    edition: Path
    aside: Aside
    python: Path
    libraries: tuple[Path, ...]
    packages: tuple[tuple[Path, str], ...]
    hidden: tuple[Path, ...]
    devices: tuple[Path, ...] = tuple(Path("/dev", name) for name in _DEVICES)

    @property
    def home(self) -> Path:
        """The folder made for this view."""
        return self.aside.folder

    @property
    def scratch(self) -> Path:
        """The folder to write to, where no file system of its own is made for it."""
        return self.home / "scratch"

    @property
    def site(self) -> Path:
        """Links to the packages, where no file system of its own shows them."""
        return self.home / "site"

    def clear(self) -> None:
        """Remove what was made for this view."""
        # What cannot be removed stays in the folder for temporary files; it must not stop the grader.
        with contextlib.suppress(OSError):
            self.aside.close()


def make_view(edition: Path, package: str, requires: tuple[str, ...] = (), data: Path | None = None) -> View:
    """A view of an edition: a copy that any user can read, in a new folder with the package `inside` beside it.

    Args:
        edition: Folder that holds the package.
        package: Its name; empty to show nothing of the edition.
        requires: Distributions to show besides those that every sandbox shows.
        data: Folder of files that each session finds in its working folder; it may be missing.

    Raises:
        OSError: if there is no edition.
    """
    remove_stale()
    shown = packages(requires)
    aside = Aside(Path(tempfile.gettempdir()), _PREFIX)
    home = aside.folder
    try:
        (home / "edition").mkdir()
        if package:
            shutil.copytree(edition / package, home / "edition" / package)
        if data is not None and data.is_dir():
            shutil.copytree(data, home / "inside" / "data")
        shutil.copytree(Path(__file__).parent / "inside", home / "inside", dirs_exist_ok=True)
        (home / "scratch").mkdir()
        for folder, _, files in os.walk(home):
            # The folder itself stays closed: only what is shown of it can be reached.
            os.chmod(folder, 0o700 if Path(folder) == home else 0o755)
            for name in files:
                os.chmod(Path(folder, name), 0o644)
        for installed, place in shown:
            (home / "site" / place).parent.mkdir(exist_ok=True)
            (home / "site" / place).symlink_to(installed)
    except OSError:
        aside.close()
        raise
    python = Path(sys.executable).resolve()
    return View(home / "edition", aside, python, _libraries(), shown, _hidden())


@cache
def remove_stale() -> None:
    """Remove, once in each process, the folders whose owners were killed before they could."""
    if not hasattr(os, "geteuid"):
        return
    users = {os.geteuid()} | (set(NOBODIES) if os.geteuid() == 0 else set())
    with contextlib.suppress(OSError):
        sweep(folder for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*") if _is_folder_of(folder, users))


def _is_folder_of(path: Path, users: set[int]) -> bool:
    """Return whether one of these users made this folder: anyone may write to the folder for temporary files."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid in users


@cache
def _libraries() -> tuple[Path, ...]:
    base = Path(sys.base_prefix).resolve()
    # Where Python is the system's own, its library is part of /usr/lib already.
    own = [folder for folder in (base / "lib", base / "lib64") if str(folder) not in _SYSTEM]
    return tuple(path for path in [*map(Path, _SYSTEM), *own] if path.exists())


@cache
def _hidden() -> tuple[Path, ...]:
    """The package folders of the base installation and of the system, which lie among its libraries."""
    roots = dict.fromkeys([Path(sys.base_prefix).resolve() / "lib", Path("/usr/lib"), Path("/usr/local/lib")])
    patterns = ("python3*/site-packages", "python3*/dist-packages")
    return tuple(folder for root in roots for pattern in patterns for folder in root.glob(pattern))


def expand(path: Path, hidden: tuple[Path, ...]) -> Iterator[Path]:
    """`path`, or what is beneath it without the hidden parts: for isolation that can only allow."""
    if path in hidden:
        return
    if not any(path in other.parents for other in hidden):
        yield path
        return
    for entry in path.iterdir():
        yield from expand(entry, hidden)

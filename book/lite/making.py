"""Make the site: gather its packages, write its lists, and let JupyterLite put it together."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.building.editions import closed_exercises, edition_files
from autograder.course.loading import load_course
from book.keeping import hash_of, of_files, of_library
from book.lite.fetching import core, files_of, pure_wheels
from book.lite.locking import Lock, closure, entry, reduced
from book.lite.notebooks import for_browser, lessons
from book.lite.places import ASKED_FOR, CORE, KERNEL, PURE, LiteError, Places
from book.lite.wheels import wheel
from book.places import ROOT
from minigrad.machine.files import write

__all__ = ["Site", "make", "ready"]

STAMP = "made-of.json"
EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager", "anywidget")
SHARE = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
TITLES = {"numpy": "NumPy", "matplotlib": "Matplotlib"}
STAND_INS = {
    "ssl": {},
    "sqlite3": {
        "sqlite3/__init__.py": b"""Connection = object
DatabaseError = IntegrityError = OperationalError = Error = type("Error", (Exception,), {})
PARSE_COLNAMES = PARSE_DECLTYPES = 0
"""
    },
}
"""Names that IPython imports and the kernel never uses: they stand in for packages that are missing."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Site:
    """The finished site.

    Attributes:
        folder: Where it lies.
        lessons: The names of its lessons.
        missing: The titles of packages that it does not have.
        size: Its size in bytes.
    """

    folder: Path
    lessons: tuple[str, ...]
    missing: tuple[str, ...]
    size: int


def make(places: Places, *, packages: Path | None = None, edition: bool = False, tell: Tell = print) -> Site:
    """Make the site, or leave it as it is if nothing has changed since it was made.

    Args:
        places: Where to.
        packages: A folder of Pyodide's packages, if someone has one.
        edition: Whether the library lacks the answers that are not open yet to a class.
        tell: Is told what happens.

    Raises:
        LiteError: If a part cannot be had, or JupyterLite fails.
    """
    ready()
    stamp, made_of = places.parts / STAMP, _made_of(packages, edition)
    before = json.loads(stamp.read_text(encoding="utf-8")) if stamp.is_file() else {}
    if before.get("made of") == made_of and (places.site / "index.html").is_file():
        tell("nothing has changed")
        return _site(places, before["missing"])
    stamp.unlink(missing_ok=True)
    shutil.rmtree(places.source, ignore_errors=True)
    missing = _gather(places, packages, _library(edition), tell)
    for path in lessons(ROOT / "notebooks"):
        text = json.dumps(
            for_browser(json.loads(path.read_text(encoding="utf-8")), missing), ensure_ascii=False, indent=1
        )
        write(places.source / "files" / path.name, text.encode())
    _write_settings(places)
    tell("putting the site together")
    _jupyterlite(places)
    write(stamp, json.dumps({"made of": made_of, "missing": missing}).encode())
    return _site(places, missing)


def ready() -> None:
    """Refuse with one sentence if the extra is not installed.

    Raises:
        LiteError: If it is not.
    """
    if not (SHARE / EXTENSIONS[0]).is_dir():
        raise LiteError("JupyterLite is not installed: pip install -c constraints.txt -e '.[course,lite]'")


def _made_of(packages: Path | None, edition: bool) -> str:
    """A hash of all that the site is made of; of a folder of packages, the names and sizes."""
    given = sorted(f"{each.name} {each.stat().st_size}" for each in packages.iterdir()) if packages else []
    texts = [*Path(__file__).parent.glob("*.py"), *lessons(ROOT / "notebooks"), ROOT / "constraints.txt"]
    day = str(dt.date.today()) if edition else ""
    return hash_of(of_library(), of_files(texts), day, *given)


def _library(edition: bool) -> dict[str, bytes]:
    """The library's files: all of them, or a class's edition."""
    course = load_course()
    return edition_files(course, closed_exercises(course, dt.date.today()) if edition else [])


def _gather(places: Places, packages: Path | None, library: dict[str, bytes], tell: Tell) -> list[str]:
    """Lay out the interpreter with all packages, and return the titles of those that are missing."""
    lock = core(places.kept, packages, tell)
    official, instead, missing = files_of(lock, closure(lock, ASKED_FOR), places.kept, packages, tell)
    folder = places.source / "static" / "pyodide"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = wheel(
        places.parts, "minigrad", project["version"], {f"minigrad/{name}": data for name, data in library.items()}
    )
    empty = [wheel(places.parts, name, "0", content) for name, content in STAND_INS.items() if name in missing]
    kernel = sorted((SHARE / EXTENSIONS[0] / "static" / "pypi").glob("*.whl"))
    kernel = [each for each in kernel if each.name.startswith(("ipykernel-", "piplite-", "pyodide_kernel-"))]
    added = [
        *(entry(path, lock["packages"][name]["depends"]) for name, path in instead.items()),
        *(entry(path) for path in (*pure_wheels(PURE, places.kept), *kernel, *empty)),
        entry(own, ["numpy", "matplotlib", *PURE]),
    ]
    for path in (*official.values(), *kernel, *empty, own, *(places.kept / each["file_name"] for each in added)):
        if path.is_file():
            write(folder / path.name, path.read_bytes())
    for name in CORE[:-1]:
        write(folder / name, (places.kept / name).read_bytes())
    ours: Lock = reduced(lock, official, added)
    write(folder / CORE[-1], json.dumps(ours, indent=1).encode())
    return [TITLES[name] for name in missing if name in TITLES]


def _write_settings(places: Places) -> None:
    """Write the settings of JupyterLite, and of the JupyterLab in it."""
    kernel: dict[str, Any] = {
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": ["micropip", "piplite", *KERNEL, "minigrad"]},
    }
    page = {"appName": "minigrad", "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": kernel}}
    build = {
        "apps": ["lab"],
        "cache_dir": str(places.parts / "cache"),
        "contents": ["files"],
        "federated_extensions": [str(SHARE / name) for name in EXTENSIONS],
        "ignore_sys_prefix": True,
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "output_dir": str(places.site),
    }
    settings = {
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        # Cells far from the screen stay in the page: the browser's own search finds them, and widgets keep running.
        "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    }
    for name, content in {
        "jupyter-lite.json": {"jupyter-lite-schema-version": 0, "jupyter-config-data": page},
        "jupyter_lite_config.json": {"LiteBuildConfig": build},
        "overrides.json": settings,
    }.items():
        write(places.source / name, json.dumps(content, indent=1).encode())


def _jupyterlite(places: Places) -> None:
    """Let JupyterLite make the site anew: what an earlier build left in it would stay."""
    shutil.rmtree(places.site, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-m", "jupyterlite_core", "build"],
        cwd=places.source,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not (places.site / "index.html").is_file():
        raise LiteError(f"JupyterLite fails:\n{(done.stderr or done.stdout)[-2000:]}")


def _site(places: Places, missing: Sequence[str]) -> Site:
    size = sum(path.stat().st_size for path in places.site.rglob("*") if path.is_file())
    return Site(places.site, tuple(path.stem for path in lessons(ROOT / "notebooks")), tuple(missing), size)

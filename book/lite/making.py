"""Make the site: gather its packages, write its lists, and let JupyterLite put it together."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import minigrad
from autograder.building.editions import closed_exercises, edition_files
from autograder.building.translating import translation
from autograder.course.loading import load_course
from book.keeping import hash_of, of_files, of_library
from book.lite.fetching import core, files_of, pure_wheels
from book.lite.locking import Lock, closure, entry, reduced
from book.lite.notebooks import for_browser, lessons
from book.lite.places import ASKED_FOR, CORE, KERNEL, PURE, LiteError, Places
from book.lite.wheels import wheel
from book.places import ROOT
from book.wording import BOXES, in_english, say_with
from minigrad.machine.files import write

__all__ = ["Site", "make", "ready"]

STAMP = "made-of.json"
LESSON = Path(__file__).with_name("lesson.js")
STARTING = tuple(Path(__file__).with_name(name) for name in ("python.js", "later.py"))
INTERPRETER = "static/pyodide"
FIRST_CELLS = 3
"""How many cells of a lesson decide what is compiled: its news, its imports, and one that follows exercises."""
EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager", "anywidget")
SHARE = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
TITLES = {"numpy": "NumPy", "matplotlib": "Matplotlib"}
STAND_INS: dict[str, dict[str, bytes]] = {
    "ssl": {},
    "sqlite3": {
        "sqlite3/__init__.py": b"""Connection = object
DatabaseError = IntegrityError = OperationalError = Error = type("Error", (Exception,), {})
PARSE_COLNAMES = PARSE_DECLTYPES = 0
"""
    },
}
"""Modules that IPython asks for and the kernel never uses, for packages that the site does not have."""
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
    for folder in (places.source, places.python):
        shutil.rmtree(folder, ignore_errors=True)
    missing = _gather(places, packages, edition, tell)
    _compile(places, tell)
    _write_settings(places)
    tell("putting the site together")
    _jupyterlite(places)
    shutil.copytree(places.python, places.site / INTERPRETER)
    _open_a_lesson(places.site)
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
    texts = [*Path(__file__).parent.glob("*.[jp][sy]"), *lessons(ROOT / "notebooks"), ROOT / "constraints.txt"]
    texts += [ROOT / "book" / "wording.py", *(ROOT / "course" / "locale").glob(f"*/LC_MESSAGES/{BOXES}.po")]
    day = str(dt.date.today()) if edition else ""
    return hash_of(of_library(), of_files(texts), day, *given)


def _library(edition: bool) -> dict[str, bytes]:
    """The library's files: all of them, or a class's edition."""
    course = load_course()
    return edition_files(course, closed_exercises(course, dt.date.today()) if edition else [])


def _notebooks(missing: Sequence[str]) -> dict[str, bytes]:
    """The notebooks, by their places: those of each other language in a folder of its name."""
    course, found = load_course(), dict[str, bytes]()
    for path in lessons(ROOT / "notebooks"):
        place = path.relative_to(ROOT / "notebooks")
        say = say_with(translation(course, place.parts[0], BOXES)) if len(place.parts) > 1 else in_english
        made = for_browser(json.loads(path.read_text(encoding="utf-8")), missing, say)
        found[place.as_posix()] = json.dumps(made, ensure_ascii=False, indent=1).encode()
    return found


def _gather(places: Places, packages: Path | None, edition: bool, tell: Tell) -> list[str]:
    """Lay out the notebooks and the interpreter with all packages; return the titles of packages that are missing.

    The notebooks are in the library as well, as in an installed one: what was begun earlier is compared with them.
    """
    lock = core(places.kept, packages, tell)
    official, instead, missing = files_of(lock, closure(lock, ASKED_FOR), places.kept, packages, tell)
    titles = [TITLES[name] for name in missing if name in TITLES]
    notebooks = _notebooks(titles)
    for name, content in notebooks.items():
        write(places.source / "files" / name, content)
    library = _library(edition) | {f"notebooks/{name}": content for name, content in notebooks.items()}
    own = wheel(
        places.parts, "minigrad", minigrad.__version__, {f"minigrad/{name}": data for name, data in library.items()}
    )
    empty = [wheel(places.parts, name, "0", content) for name, content in STAND_INS.items() if name not in official]
    kernel = sorted((SHARE / EXTENSIONS[0] / "static" / "pypi").glob("*.whl"))
    kernel = [each for each in kernel if each.name.startswith(("ipykernel-", "piplite-", "pyodide_kernel-"))]
    added = [
        *(entry(path, lock["packages"][name]["depends"]) for name, path in instead.items()),
        *(entry(path) for path in (*pure_wheels(PURE, places.kept), *kernel, *empty)),
        entry(own),
    ]
    files = [*official.values(), *kernel, *empty, own, *(places.kept / each["file_name"] for each in added)]
    for path in (*files, *(places.kept / name for name in CORE[:-1]), *STARTING):
        if path.is_file():
            write(places.python / path.name, path.read_bytes())
    ours: Lock = reduced(lock, official, added)
    _list(places, ours)
    return titles


def _list(places: Places, lock: Lock) -> None:
    """Write the list of packages, with hashes of the files as they are."""
    for each in lock["packages"].values():
        each["sha256"] = hashlib.sha256((places.python / each["file_name"]).read_bytes()).hexdigest()
    write(places.python / CORE[-1], json.dumps(lock, indent=1).encode())


def _compile(places: Places, tell: Tell) -> None:
    """Put bytecode into the archives, where Node is there to run Pyodide."""
    if not shutil.which("node"):
        tell("without bytecode: Node is not on the PATH; each start of Python takes some seconds longer")
        return
    tell("compiling what a lesson's start imports")
    cells = list[str]()
    for path in sorted((places.source / "files").glob("*.ipynb")):
        code = (each for each in json.loads(path.read_bytes())["cells"] if each["cell_type"] == "code")
        cells += ["".join(each["source"]) for each in islice(code, FIRST_CELLS)]
    command = ["node", str(Path(__file__).with_name("bytecode.js")), str(places.python), json.dumps(cells)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LiteError(f"Pyodide compiles nothing: {done.stderr.strip()}")
    _list(places, json.loads((places.python / CORE[-1]).read_text(encoding="utf-8")))


def _write_settings(places: Places) -> None:
    """Write the settings of JupyterLite, and of the JupyterLab in it."""
    kernel: dict[str, Any] = {
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": KERNEL},
        "pyodideUrl": f"./{INTERPRETER}/{STARTING[0].name}",
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


def _open_a_lesson(site: Path) -> None:
    """Let JupyterLab open a lesson whatever the address says, and start Python: the script runs first in its page."""
    write(site / LESSON.name, LESSON.read_bytes())
    page = site / "lab" / "index.html"
    python = f"../{INTERPRETER}/{STARTING[0].name}?{','.join(KERNEL)}"
    first = lessons(ROOT / "notebooks")[0].name
    script = f'<script src="../{LESSON.name}" data-first="{first}" data-python="{python}"></script>'
    write(page, page.read_text(encoding="utf-8").replace("<head>", f"<head>\n    {script}", 1).encode())


def _site(places: Places, missing: Sequence[str]) -> Site:
    size = sum(path.stat().st_size for path in places.site.rglob("*") if path.is_file())
    names = tuple(dict.fromkeys(path.stem for path in lessons(ROOT / "notebooks")))
    return Site(places.site, names, tuple(missing), size)

"""Make the site: write the text of every page, and let Sphinx make HTML of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from book.cards import card, drawn_in
from book.course_facts import Facts
from book.executing import BookError, executed
from book.front import front_page, with_lessons
from book.guides import PROJECT, doors, guides
from book.indexes import indexes
from book.keeping import hash_of, of_files, of_library
from book.languages import pages_in_other_languages
from book.lessons import lesson_page, number_of
from book.lite.notebooks import address_of
from book.misconceptions import misconceptions
from book.places import EXTRA, ROOT, RUN, Folders
from book.reference import reference
from book.teaching import teaching
from book.versions import archives, put_beside
from minigrad.machine.files import write

# After autograder's: it spares jsonschema an import of a second.
import nbformat  # isort: skip

__all__ = ["make"]

SITE = Path(__file__).parent / "site"
READ = ("README.md", "autograder", "book", "course", "docs", "notebooks", *PROJECT)
"""The pages are made of these files and folders, and of the library."""

STAMP = "made-of"


def make(
    folders: Folders,
    *,
    run: Path | None = None,
    address: str = "",
    releases: Path | None = None,
    fresh: bool = False,
    tell: Callable[[str], None] = print,
) -> int:
    """Make the site, or leave it as it is if nothing has changed since it was made.

    Args:
        folders: Where to.
        run: The site of `book.lite`, to be a part of this one; lessons then lead to where they run.
        address: Where the site will be, with a slash at its end: cards of links need their whole address.
        releases: A folder with the sites of releases, to be put beside this one.
        fresh: Whether to forget what was kept of earlier builds.
        tell: Is told what happens.

    Returns:
        How many pages the site has.

    Raises:
        BookError: If a lesson fails, Sphinx finds fault with a page, or the site of a release cannot be unpacked.
    """
    if fresh:
        shutil.rmtree(folders.build, ignore_errors=True)
    stamp, made_of = folders.build / STAMP, _made_of(run, address, releases)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == made_of:
        tell("nothing has changed")
        return _count(folders)
    stamp.unlink(missing_ok=True)
    _write(folders, dict(_sources(folders, RUN if run else "", tell)))
    tell("making the pages")
    _sphinx(folders, address)
    shutil.rmtree(folders.run, ignore_errors=True)
    if run:
        shutil.copytree(run, folders.run)
    put_beside(folders.html, releases)
    write(stamp, made_of.encode())
    return _count(folders)


def _made_of(run: Path | None, address: str, releases: Path | None) -> str:
    """A hash of all that the site is made of; of the part that runs and of releases, when they were made."""
    paths = [ROOT / name for name in READ]
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    kept = (
        file for file in files if file.is_file() and "__pycache__" not in file.parts and ".grades" not in file.parts
    )
    beside = [*([run] if run else []), *archives(releases).values()]
    return hash_of(
        of_library(), of_files(kept), address, *(f"{each.name} {each.stat().st_mtime_ns}" for each in beside)
    )


def _count(folders: Folders) -> int:
    return sum(1 for _ in folders.html.rglob("*.html"))


def _sources(folders: Folders, run: str, tell: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    """Every file that Sphinx reads, by its place."""
    facts = Facts()
    yield from ((path.name, path.read_bytes()) for path in sorted((ROOT / "book" / "pages").glob("*.md")))
    yield from guides()
    yield from doors()
    yield from teaching(facts)  # in the place of the guides of these names
    yield from indexes(facts)
    yield from misconceptions(facts)
    yield from reference()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        yield f"notebooks/{path.name}", path.read_bytes()
    tell("executing the lessons that have changed")
    results = executed(facts.lessons, folders.results, tell)
    for name, notebook in results.items():
        here = address_of(name, f"../{run}/") if run else ""
        page = lesson_page(facts, facts.lessons[name], notebook, run=here)
        yield f"lessons/{name}.ipynb", nbformat.writes(page).encode()
        yield f"{EXTRA}/cards/{name}.png", card(facts.lessons[name].title, number_of(name), drawn_in(notebook))
    yield "index.md", with_lessons(front_page(), results, run and f"{run}/").encode()  # in the place of its words
    for place, content in pages_in_other_languages(facts, results, run):
        language, _, name = place.partition("/")
        if name == "index.md":
            content = with_lessons(content.decode(), results, run and f"../{run}/", language).encode()
        yield place, content


def _write(folders: Folders, texts: dict[str, bytes]) -> None:
    """Write what has changed, so that Sphinx reads only that again; remove what no page needs any more."""
    for name, content in texts.items():
        write(folders.source / name, content)
    for path in folders.source.rglob("*"):
        if path.is_file() and path.relative_to(folders.source).as_posix() not in texts:
            path.unlink()


def _sphinx(folders: Folders, address: str) -> None:
    """Run Sphinx in a process of its own; every warning is an error."""
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "-a", "--keep-going", "-q", "-j", "2", "-b", "html"]
    command += ["-D", f"html_baseurl={address}"]
    places = ["-c", str(SITE), "-d", str(folders.doctrees), str(folders.source), str(folders.html)]
    if subprocess.run([*command, *places], cwd=ROOT, check=False).returncode:
        raise BookError("Sphinx finds fault with the pages named above; mend them")

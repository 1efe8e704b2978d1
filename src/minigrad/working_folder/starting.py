"""A working folder: where it is, what it begins with, and how it follows the course.

my-notebooks/
    00_fundamentals.ipynb ...     the student's
    AGENTS.md                     asks an assistant to teach and not to solve; written when the folder begins
    .minigrad/base/               each lesson as it was given out, which an update is merged against
    .minigrad/before-update/TIME/ what notebooks were before an update changed them
    .minigrad/progress.json       checks, hints, predictions, milestones and cards (see `tutor/keeping`)
    .minigrad/milestones/         a page for each milestone (see `tutor/milestones`)
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from minigrad.errors import MinigradError
from minigrad.exercises.lesson_files import DEFAULT, fresh_copy
from minigrad.exercises.telling import ENGLISH, language_of
from minigrad.machine.files import write
from minigrad.tutor.progressing import FOLDER, working_folder
from minigrad.working_folder import merging
from minigrad.working_folder.merging import NotANotebook

_ASSISTANTS = Path(__file__).with_name("AGENTS.md")


@dataclass(frozen=True)
class Outcome:
    """The outcome for one lesson.

    Attributes:
        lesson: Its name.
        state: "copied", "updated", "unchanged", "left alone" or "unreadable".
        details: Sentences.
    """

    lesson: str
    state: str
    details: tuple[str, ...] = ()


def released(source: Path | None = None, language: str = ENGLISH) -> dict[str, Path]:
    """Return the notebooks that the course gives out, by lesson.

    Args:
        source: A folder of notebooks, or of assignments with notebooks, as nbgrader's `release`; by default those that
            were installed with the library, or stand beside it in the repository.
        language: The language of the installed ones, such as "zh" or "zh_CN".

    Raises:
        MinigradError: If there are none.
    """
    if source is not None:
        found = _notebooks(source) or {p.stem: p for each in sorted(source.glob("*/")) for p in _lessons_of(each)}
        if not found:
            raise MinigradError(f"start: {source} holds no notebooks of a course; name the folder that was released")
        return found
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "notebooks", package.parent.parent / "notebooks"):
        if found := _notebooks(folder):
            return found if language == ENGLISH else found | _notebooks(_in_language(folder, language))
    raise MinigradError(
        "start: no notebooks were installed with minigrad; name the folder that you were given: --from FOLDER"
    )


def _in_language(folder: Path, language: str) -> Path:
    """Return the folder of the lessons in a language, which a beginning of its name may stand for."""
    there = sorted(path for path in folder.iterdir() if path.is_dir() and _notebooks(path))
    for path in there:
        if language and path.name.startswith(language):
            return path
    names = ", ".join([ENGLISH, *(path.name for path in there)])
    raise MinigradError(f"start: the lessons are not there in the language {language!r}; choose one of: {names}")


def _notebooks(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in _lessons_of(folder)}


def _lessons_of(folder: Path) -> Iterator[Path]:
    """Yield the notebooks of a folder that a build wrote."""
    for path in sorted(folder.glob("*.ipynb")):
        if _lesson_in(path) == path.stem:
            yield path


def _lesson_in(path: Path) -> str:
    """Return the lesson that a file is; "" if it is none."""
    try:
        return merging.lesson_of(merging.parse(path.read_bytes()))
    except (OSError, NotANotebook):
        return ""


def chosen_folder(folder: Path | None) -> Path:
    """Return the folder that a command means: the one named, else the working folder around, else the usual one."""
    return folder or working_folder() or Path(DEFAULT)


def start(
    folder: Path, source: Path | None = None, *, language: str | None = None, dry_run: bool = False
) -> list[Outcome]:
    """Copy the lessons into a working folder, or merge a new version of the course around the work that is there.

    Args:
        folder: The working folder.
        source: Where the lessons are; as for `released`.
        language: As for `released`; by default the one that the folder began with.
        dry_run: Whether to say only what would be done.

    Raises:
        MinigradError: If there are no lessons, or the folder cannot be one.
    """
    if source is not None and language is not None:
        raise MinigradError(f"start: {source} has a language already; give --from or --language, not both")
    lessons = released(source, language_of(folder / FOLDER / "base") if language is None else language)
    _check_place(folder, lessons)
    now = dt.datetime.now().strftime("%Y-%m-%d_%H%M%S_%f")
    renamed = _renamed(folder, lessons)
    begins = not (folder / FOLDER / "base").exists()
    outcomes = [_one(folder, name, path.read_bytes(), now, dry_run) for name, path in lessons.items()]
    if begins and not dry_run and not (folder / _ASSISTANTS.name).exists():
        write(folder / _ASSISTANTS.name, _ASSISTANTS.read_bytes())
    outcomes = [
        replace(each, details=(*each.details, *renamed.get(each.lesson, ()))) if each.state == "copied" else each
        for each in outcomes
    ]
    why = ("the course has no such lesson any more",)
    return outcomes + [Outcome(path.stem, "left alone", why) for path in _dropped(folder, lessons)]


def changed(folder: Path, *, language: str, names: Collection[str] = ()) -> list[str]:
    """Return the lessons of a folder that the course has a newer text of.

    Of the others it notes what was given out, so that a later text is merged against that.

    Args:
        folder: The working folder.
        language: As for `released`.
        names: The lessons that are looked at; all if there is none.

    Raises:
        MinigradError: If there are no lessons.
    """
    found = list[str]()
    for name, path in released(language=language).items():
        if (not names or name in names) and (folder / path.name).exists():
            given = path.read_bytes()
            if _one(folder, name, given, "", dry_run=True).state == "updated":
                found.append(name)
            else:
                _one(folder, name, given, "", dry_run=False)
    return found


def _renamed(folder: Path, lessons: Mapping[str, Path]) -> dict[str, list[str]]:
    """Return, by lesson, a sentence for each notebook of a folder that is that lesson under another name."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        lesson = "" if path.stem in lessons else _lesson_in(path)
        if lesson:
            said = f"{path.name} is the same lesson; to go on with it, put it in place of {lesson}.ipynb"
            found.setdefault(lesson, []).append(said)
    return found


def _dropped(folder: Path, lessons: Mapping[str, Path]) -> list[Path]:
    """Return the notebooks that an earlier version of the course gave out, and this one does not."""
    given = sorted((folder / FOLDER / "base").glob("*.ipynb"))
    return [folder / each.name for each in given if each.stem not in lessons and (folder / each.name).is_file()]


def _check_place(folder: Path, lessons: Mapping[str, Path]) -> None:
    for each in (folder, *folder.parents):
        if each.is_symlink() and not each.exists():
            raise MinigradError(f"start: {each} is a link that leads nowhere; name another folder")
    if folder.exists() and not folder.is_dir():
        raise MinigradError(f"start: {folder} is a file; name a folder")
    places = {path.resolve().parent for path in lessons.values()}
    if folder.resolve() in places:
        raise MinigradError(f"start: {folder} is where the course keeps its notebooks; name another folder to work in")


def _one(folder: Path, name: str, given: bytes, now: str, dry_run: bool) -> Outcome:
    """Bring one lesson up to date. Copies come first and the base last: whatever is interrupted can be done again."""
    path, base = folder / f"{name}.ipynb", folder / FOLDER / "base" / f"{name}.ipynb"
    if not path.exists():
        if not dry_run:
            write(path, given)
            write(base, given)
        return Outcome(name, "copied")
    content = path.read_bytes()
    try:
        mine = merging.parse(content)
    except NotANotebook as error:
        said = "; ".join(filter(None, (f"{path.name} was left alone: {error}", fresh_copy(path))))
        return Outcome(name, "unreadable", (said,))
    if base.is_file() and base.read_bytes() == given:
        return Outcome(name, "unchanged")
    merged = merging.merge(mine, merging.parse(given), _base(base))
    result = merging.dump(merged.notebook)
    if merging.parse(result) == merging.parse(merging.dump(mine)):  # an order of keys is no change, nor is 0.0 for 0
        if not dry_run:
            write(base, given)
        return Outcome(name, "unchanged")
    if not dry_run:
        write(folder / FOLDER / "before-update" / now / path.name, content)
        write(path, result)
        write(base, given)
    return Outcome(name, "updated", (_counted(merged), *(f"kept: {each}" for each in merged.kept)))


def _base(path: Path) -> dict[str, Any] | None:
    try:
        return merging.parse(path.read_bytes())
    except (OSError, NotANotebook):
        return None


def _counted(merged: merging.Merged) -> str:
    new = "1 cell is new or reworded" if merged.new == 1 else f"{merged.new} cells are new or reworded"
    gone = "1 was taken out" if merged.gone == 1 else f"{merged.gone} were taken out"
    return f"{new}, {gone}"

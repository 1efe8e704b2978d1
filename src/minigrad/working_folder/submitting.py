"""One zip to hand in: the notebooks of an assignment, looked at once more before they are packed."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from minigrad import exercises
from minigrad.errors import MinigradError
from minigrad.exercises.marker import exercise_of
from minigrad.exercises.reading import answer_cells
from minigrad.exercises.syllabus import assignment_words, course
from minigrad.machine.files import write
from minigrad.tutor import progressing
from minigrad.working_folder import attempts, merging
from minigrad.working_folder.checking import is_as_given
from minigrad.working_folder.merging import NotANotebook

LARGEST = 20_000_000
"""Bytes of the largest notebook that a grader reads with its outputs."""

_EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file in the zip, so that the same work gives the same bytes
_SLACK = dt.timedelta(seconds=5)


@dataclass(frozen=True)
class Packed:
    """The result of packing.

    Attributes:
        assignment: The assignment's name.
        path: The zip.
        files: Names and sizes in bytes of what is in it.
        sha256: The hash of its bytes, which says that two files are the same.
        warnings: Sentences about what looks unfinished.
    """

    assignment: str
    path: Path
    files: tuple[tuple[str, int], ...]
    sha256: str
    warnings: tuple[str, ...]


def assignment_for(folder: Path, name: str | None) -> str:
    """Return the assignment that is meant: the one named, or the only one with a notebook in the folder.

    Raises:
        MinigradError: If there is no such assignment, or it is unclear which one is meant.
    """
    lessons = {each["name"]: each["lessons"] for each in course()["assignments"]}
    if name is not None:
        if name not in lessons:
            raise MinigradError(f"submit: there is no assignment {name!r}; there are {_listed(lessons)}")
        return name
    there = [each for each in lessons if any((folder / f"{lesson}.ipynb").is_file() for lesson in lessons[each])]
    if not there:
        raise MinigradError(f"submit: {folder} holds no notebook of the course; name the folder that you work in")
    if len(there) > 1:
        raise MinigradError(f"submit: which one is to be handed in? Add --assignment and one of {_listed(there)}")
    return str(there[0])


def _listed(assignments: Iterable[str]) -> str:
    return ", ".join(map(assignment_words, assignments))


def pack(
    folder: Path,
    assignment: str,
    out: Path | None = None,
    *,
    force: bool = False,
    advice: str = "; mend that, or pack what there is by --force",
) -> Packed:
    """Pack the notebooks of an assignment into one zip.

    Args:
        folder: Where the notebooks are.
        assignment: The assignment's name.
        out: The zip to write; by default named after the assignment, in the folder.
        force: Whether to pack what there is, although something is missing or broken.
        advice: What a refusal ends with.

    Raises:
        MinigradError: If something is missing or broken, or `out` is another file than a zip of notebooks.
    """
    out = out or folder / f"{assignment}.zip"
    if out.suffix == ".ipynb" or (out.exists() and not zipfile.is_zipfile(out)):
        raise MinigradError(f"submit: {out} is no zip, and stays as it is; name another file by --out")
    if out.exists() and not _is_of_notebooks(out):
        raise MinigradError(f"submit: {out} holds not only notebooks, and stays as it is; name another file by --out")
    lessons = next(each["lessons"] for each in course()["assignments"] if each["name"] == assignment)
    faults: list[str] = []
    warnings: list[str] = []
    contents: dict[str, bytes] = {}
    for path in (folder / f"{lesson}.ipynb" for lesson in lessons):
        if not path.is_file():
            faults.append(f"{path.name} is missing")
            continue
        contents[path.name] = path.read_bytes()
        faults += _faults(path, contents[path.name])
        warnings += _unfinished(path)
    if not contents or (faults and not force):
        raise MinigradError(f"submit: {'; '.join(faults)}{advice if contents else ''}")
    content = _zip(contents)
    write(out, content)
    sizes = tuple((name, len(each)) for name, each in contents.items())
    return Packed(assignment, out, sizes, hashlib.sha256(content).hexdigest(), (*faults, *warnings))


def _is_of_notebooks(path: Path) -> bool:
    """Return whether a zip may have been packed here before: nothing but notebooks, in no folder."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return False
    return bool(names) and all(name.endswith(".ipynb") and "/" not in name for name in names)


def _zip(contents: dict[str, bytes]) -> bytes:
    """Return an archive that depends on nothing but names and contents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in sorted(contents.items()):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def _faults(path: Path, content: bytes) -> Iterator[str]:
    try:
        merging.parse(content)
    except NotANotebook as error:
        yield f"{path.name} cannot be handed in: {error}"
    if len(content) > LARGEST:
        size = f"{len(content) / 1e6:.0f} MB"
        yield f"{path.name} has {size}, more than {LARGEST / 1e6:.0f}: clear its outputs in the menu Edit, and save"


def _unfinished(path: Path) -> Iterator[str]:
    """Yield what looks as if work was not saved, or not done."""
    try:
        cells = answer_cells(path)
    except MinigradError:
        return
    done = progressing.read(path.parent)
    placed = [each.id for each in exercises.catalogue().values() if each.lesson == path.stem]
    stubs = [id for id in placed if _is_stub(id, cells)]
    lost = [id for id in stubs if id in done and done[id].passed]
    if lost:
        yield f"{path.name}: {', '.join(lost)} passed its check, but the saved file holds no answer: save the notebook"
    if rest := [id for id in stubs if id not in lost]:
        yield f"{path.name}: nothing is written yet in {', '.join(rest)}"
    if asked := attempts.unanswered(path):
        yield f"{path.name}: no answer is written yet to {', '.join(asked)}"
    checked = [done[id].live for id in placed if id in done and done[id].live]
    saved = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC)
    if checked and dt.datetime.fromisoformat(max(checked)) > saved + _SLACK:
        yield (
            f"{path.name} was saved before its last check ({max(checked)}): if you have changed something since, "
            "save it and pack again"
        )


def _is_stub(id: str, cells: list[str]) -> bool:
    """Return whether the cells of an exercise hold no answer."""
    return all(is_as_given(id, source) for source in cells if exercise_of(source) == id)

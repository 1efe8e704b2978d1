"""One hand-in for a group: the newest one of any member counts for all, and lies in each member's folder.

Each member has a copy, and so rows, a ledger, pages and a due date of its own. A member who is forgotten takes nothing
from the others. Nothing says who handed in: the time in `timestamp.txt` alone decides which copy is the newest.

A member keeps the secret of a hand-in of its own, which names the member's feedback pages in the exchange, and gets
none of another's: `forget` deletes the pages that a member's secrets name.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from autograder.common.atomic import Aside
from autograder.common.files import copy, put, write
from autograder.grafting.collecting import RECORD, handed_in_at, newest_kept, secret_of
from autograder.grafting.tidying import ASIDE, ORIGINALS, PLACE, return_to, tidy
from autograder.reading.handed_in import SECRET, every_file
from autograder.reading.student_files import Unreadable, read_bytes


def newest_of(root: Path, assignment: str, members: Sequence[str]) -> list[str]:
    """The members whose hand-ins are to be graded: the one who has the newest.

    Args:
        root: The course's directory.
        assignment: The assignment's name.
        members: The group.

    Returns:
        Whose; nobody where nothing was handed in. Where no time is known, hand-ins that differ count each for itself.
    """
    times = {each: _when(root, each, assignment) for each in members if _folder(root, each, assignment).is_dir()}
    newest = [each for each, when in times.items() if when == max(times.values())]
    if newest and times[newest[0]] > dt.datetime.min:
        return newest[:1]
    chosen: list[str] = []
    for student in newest:
        if not any(_same(root, assignment, student, other) for other in chosen):
            chosen.append(student)
    return chosen


def hand_on(root: Path, assignment: str, student: str, member: str) -> bool:
    """Let a hand-in that was taken in count for another member of the group, unless that one has a newer one.

    A member who handed in the very same notebooks keeps the time of doing so.

    Returns:
        Whether the two have the same now.

    Raises:
        OSError: If the disk refuses.
    """
    own, home = _folder(root, student, assignment), _folder(root, member, assignment)
    if home.is_dir():
        tidy(root, home)  # what the member handed in stays among the originals
        if _same(root, assignment, student, member):
            return True
        if (when := _when(root, student, assignment)) == dt.datetime.min or when < _when(root, member, assignment):
            return False
    given, originals = (root / ORIGINALS / each / assignment for each in (student, member))
    with Aside(root / "submitted", ASIDE) as aside:
        put(aside / PLACE, f"{member}/{assignment}".encode())
        if (last := newest_kept(given)) is not None and not (originals / last.name).exists():
            originals.mkdir(parents=True, exist_ok=True)
            _copy(last, aside / "kept").rename(originals / last.name)
        write(originals / RECORD, (given / RECORD).read_bytes())
        clean, secret = _copy(own, aside / "clean"), secret_of(home)
        put(clean / SECRET, secret.encode())
        home.parent.mkdir(parents=True, exist_ok=True)
        try:
            if home.is_dir():
                home.rename(aside / "before")
            clean.rename(home)
        finally:
            return_to(home, aside, originals)
    return True


def _copy(source: Path, target: Path) -> Path:
    """Copy the files of a folder that the grader wrote, but for the secret, which is another student's."""
    target.mkdir()
    for file in (each for each in every_file(source) if each.name != SECRET):
        (target / file.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
        copy(file, target / file.relative_to(source))
    target.chmod(0o755)
    return target


def _folder(root: Path, student: str, assignment: str) -> Path:
    return root / "submitted" / student / assignment


def _when(root: Path, student: str, assignment: str) -> dt.datetime:
    return handed_in_at(_folder(root, student, assignment)) or dt.datetime.min


def _same(root: Path, assignment: str, one: str, other: str) -> bool:
    """Return whether the notebooks of two hand-ins are the same, byte for byte."""
    try:
        ours, theirs = (
            {path.name: read_bytes(path) for path in _folder(root, each, assignment).glob("*.ipynb")}
            for each in (one, other)
        )
    except Unreadable:
        return False
    return ours == theirs

"""The time of handing in, as the archive of a learning platform tells it.

An archive gives each member a time, which is that of handing in where the platform copied it. Canvas, and Moodle until
its version 4, stamp members with the moment of packing instead. Such times follow the order of the members and lie
close together. They say nothing about students, and are left alone.

Canvas also writes `_LATE_` into the names of late files. Where no time is known, the names of those students are kept
beside the archive, in `downloaded/ASSIGNMENT/late.json`.

The times of unpacked files are never read: they say when the archive was unpacked.
"""

from __future__ import annotations

import datetime as dt
import json
import struct
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from autograder.common.files import write

PACKING = dt.timedelta(minutes=15)
"""The longest time that a platform takes to pack an archive."""

_UNIX_TIME = 0x5455  # the extra field "UT" of a zip: seconds since 1970, in UTC
_NO_TIME = (1980, 1, 1)  # what a zip holds where nobody set a time


@dataclass(frozen=True)
class Member:
    """A file in an archive.

    Attributes:
        archive: The archive's name.
        name: Its path in the archive.
        when: Its time, with a zone; None if it has none.
    """

    archive: str
    name: str
    when: dt.datetime | None


def members(archive: Path, zone: dt.tzinfo | None) -> list[Member]:
    """Return the files of an archive, in their order; none where it cannot be read, of which unpacking tells.

    Args:
        archive: The file.
        zone: The zone of a zip's times, which are those of a clock on a wall; None for this machine's.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                found = [each for each in opened.infolist() if not each.is_dir()]
            return [Member(archive.name, each.filename, _time_in_zip(each, zone)) for each in found]
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as packed:
                files = [each for each in packed if each.isfile()]
            return [
                Member(archive.name, each.name, dt.datetime.fromtimestamp(each.mtime, dt.UTC) if each.mtime else None)
                for each in files
            ]
    except (OSError, ValueError, OverflowError, EOFError, zipfile.BadZipFile, tarfile.TarError, NotImplementedError):
        pass
    return []


def _time_in_zip(member: zipfile.ZipInfo, zone: dt.tzinfo | None) -> dt.datetime | None:
    for kind, content in _extra_fields(member.extra):
        if kind == _UNIX_TIME and len(content) >= 5 and content[0] & 1:
            return dt.datetime.fromtimestamp(struct.unpack_from("<i", content, 1)[0], dt.UTC)
    if member.date_time[:3] == _NO_TIME:
        return None
    try:
        local = dt.datetime(*member.date_time)
    except ValueError:  # a month 0, for example
        return None
    return local.replace(tzinfo=zone).astimezone(dt.UTC) if zone else local.astimezone(dt.UTC)


def _extra_fields(extra: bytes) -> Iterator[tuple[int, bytes]]:
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        yield kind, extra[4 : 4 + length]
        extra = extra[4 + length :]


def are_of_packing(times: Sequence[dt.datetime]) -> bool:
    """Return whether the times of an archive's members, in their order, are those of packing them.

    A single member's time cannot be told from that of packing, and counts as such: no student is late by a guess.
    """
    if not times:
        return False
    in_order = all(earlier <= later for earlier, later in pairwise(times))
    return in_order and times[-1] - times[0] <= PACKING


def _late_file(course: Path, assignment: str) -> Path:
    return course / "downloaded" / assignment / "late.json"


def keep_marked_late(course: Path, assignment: str, late: Mapping[str, bool]) -> None:
    """Keep whom the platform marked late without telling a time; students of earlier archives stay.

    Args:
        course: The course's directory.
        assignment: The assignment's name.
        late: The students of the present archives: whether each is late.
    """
    before = marked_late(course, assignment)
    now = sorted((before - late.keys()) | {student for student, is_late in late.items() if is_late})
    if now or before:
        write(_late_file(course, assignment), json.dumps(now, indent=1, ensure_ascii=False) + "\n")


def marked_late(course: Path, assignment: str) -> frozenset[str]:
    """Return the students whom a learning platform marked late, of whom no time is known."""
    try:
        return frozenset(map(str, json.loads(_late_file(course, assignment).read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError):
        return frozenset()

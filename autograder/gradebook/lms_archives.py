"""Archives of a class, for `nbgrader zip_collect`: unpacked is the one that Moodle or Canvas made, and nothing in it.

What students handed in stays as it is, archives too: those are read later, in bounded time and memory, without being
unpacked (`autograder.reading.exports`). A file that cannot be unpacked costs its owner alone, and is named.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from nbgrader.plugins.zipcollect import ExtractorPlugin

from autograder.reading.exports import DAMAGED
from autograder.reading.handed_in import MAX_KEPT
from autograder.reading.student_files import one_line

MAX_MEMBERS = 200_000
"""Files that are taken from one archive of a class."""

_UNUSABLE = (*DAMAGED, tarfile.TarError, ValueError)


class OuterArchives(ExtractorPlugin):  # type: ignore[misc]  # nbgrader ships no types
    """Unpacks the archives of a folder, each into a folder of its name, and copies the other files beside them."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack what lies in one folder into another.

        Args:
            archive_path: The folder with the archives.
            extracted_path: The folder to unpack into; nothing is written outside of it.
        """
        source, target = Path(archive_path), Path(extracted_path)
        files = sorted(each for each in source.rglob("*") if each.is_file() and not each.is_symlink())
        if not files:
            self.log.warning("No files found in directory: %s", archive_path)
        for file in files:
            folder = target / file.relative_to(source).parent
            name = stem_of(file.name)
            with self._told(file.name):
                if zipfile.is_zipfile(file):
                    self._unpack(file.name, folder / name, _in_zip(file))
                elif tarfile.is_tarfile(file):
                    self._unpack(file.name, folder / name, _in_tar(file))
                elif file.suffix in self.zip_ext:
                    self.log.error("%s is no archive that can be read; ask for it again", file.name)
                else:
                    folder.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file, folder)

    def _unpack(
        self, archive: str, folder: Path, members: Iterator[tuple[str, float, Callable[[], IO[bytes]]]]
    ) -> None:
        for number, (name, changed, opened) in enumerate(members):
            if number >= MAX_MEMBERS:
                self.log.error("%s has more than %s files; the others were left out", archive, f"{MAX_MEMBERS:,}")
                return
            with self._told(f"{one_line(name)} in {archive}"):
                place = folder.joinpath(*_parts(name))
                place.parent.mkdir(parents=True, exist_ok=True)
                if place.exists():
                    raise ValueError("another file of this name was unpacked before")
                with opened() as content:
                    _copy(content, place)
                os.utime(place, (changed, changed))

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Say why something could not be unpacked, and go on."""
        try:
            yield
        except _UNUSABLE as error:
            self.log.error("%s was left out: %s", what, one_line(str(error)) or type(error).__name__)


def stem_of(name: str) -> str:
    """An archive's name without its endings: the folder that it is unpacked into."""
    return name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar").removesuffix(".zip")


def _in_zip(file: Path) -> Iterator[tuple[str, float, Callable[[], IO[bytes]]]]:
    """The files of a zip: name, time of the last change, and how each is opened."""
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield info.filename, _seconds(info), lambda info=info: archive.open(info)  # type: ignore[misc]


def _seconds(info: zipfile.ZipInfo) -> float:
    """The time in a zip, which has no zone: that of the machine. 0 where it is none."""
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


def _in_tar(file: Path) -> Iterator[tuple[str, float, Callable[[], IO[bytes]]]]:
    """The files of a tar, without links and devices."""
    with tarfile.open(file) as archive:
        for member in archive:
            if member.isreg():
                yield member.name, member.mtime, lambda member=member: _of(archive, member)  # type: ignore[misc]


def _of(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(member)
    assert content is not None, "a regular file has content"
    return content


def _parts(name: str) -> list[str]:
    """A member's name as folders and a file.

    Raises:
        ValueError: If it leads anywhere else than below the archive's own folder.
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or ".." in parts or parts[0].startswith("/") or ":" in parts[0] or "\0" in name:
        raise ValueError("its name leads out of the archive")
    return list(parts)


def _copy(content: IO[bytes], place: Path) -> None:
    """Write a file, if it is not too large, whatever the archive says of its size; else nothing stays of it.

    Raises:
        ValueError: If it is too large.
    """
    try:
        with place.open("xb") as file:
            left = MAX_KEPT
            while chunk := content.read(min(1 << 20, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise ValueError(f"it has more than {MAX_KEPT / 1e6:g} MB")
                file.write(chunk)
    except BaseException:
        place.unlink(missing_ok=True)
        raise

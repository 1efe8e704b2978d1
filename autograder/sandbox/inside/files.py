"""The folder that a student's code works in: what lies there at first, and how it is emptied afterwards."""

import contextlib
import os
import shutil

_DATA = os.path.join(os.path.dirname(__file__), "data")


def lay_out() -> None:
    """Copy the course's files, those that stand beside the notebook, into the working folder."""
    for folder, _, files in os.walk(_DATA):
        there = os.path.relpath(folder, _DATA)
        os.makedirs(there, exist_ok=True)
        for name in files:  # contents alone: a sandbox may change no modes
            shutil.copyfile(os.path.join(folder, name), os.path.join(there, name))


def empty(folder: str) -> None:
    """Remove all that is in `folder`, which no other process uses any more, and what is attached to the folder itself.

    Folders inside folders are first moved up: a tree may be deeper than a path can be long or a call stack high.

    Raises:
        OSError: if something cannot be removed.
    """
    moved = 0
    while entries := _entries(folder):
        for name, is_folder in entries:
            path = os.path.join(folder, name)
            if not is_folder:
                os.unlink(path)
                continue
            for inner, inner_is_folder in _entries(path):
                if inner_is_folder:
                    moved += 1
                    _open_up(os.path.join(path, inner))
                    os.rename(os.path.join(path, inner), _unused(folder, moved))
                else:
                    os.unlink(os.path.join(path, inner))
            os.rmdir(path)
    _clear_attributes(folder)


def _entries(folder: str) -> list[tuple[str, bool]]:
    _open_up(folder)
    with os.scandir(folder) as found:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]


def _clear_attributes(folder: str) -> None:
    """Remove extended attributes and access lists, and reset the times."""
    names: list[str] = []
    with contextlib.suppress(OSError, AttributeError):  # not every system or file system has them
        names = os.listxattr(folder)
    for name in names:
        if name.startswith("user."):
            os.removexattr(folder, name)
        elif name.startswith("system."):
            with contextlib.suppress(OSError):  # an access list that came with the folder is not ours to remove
                os.removexattr(folder, name)
    with contextlib.suppress(OSError):
        os.utime(folder)


def _open_up(folder: str) -> None:
    # A folder without permissions cannot be emptied or moved; where modes may not be changed, the next step says so.
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)


def _unused(folder: str, number: int) -> str:
    while os.path.lexists(path := os.path.join(folder, f"moved-{number}")):
        number += 1_000_003
    return path

"""The copy of a folder that its owner may change meanwhile: no link is followed, whenever it appears."""

import os

import pytest

from autograder.reading import snapshot as module
from autograder.reading.handed_in import MAX_DEPTH, MAX_FILES, regular_files
from autograder.reading.snapshot import snapshot
from autograder.reading.student_files import Unreadable, read_bytes


@pytest.fixture
def handed_in(tmp_path):
    """A submission with a folder in it."""
    (tmp_path / "handed_in" / "inner").mkdir(parents=True)
    (tmp_path / "handed_in" / "a.ipynb").write_text("own work")
    (tmp_path / "handed_in" / "inner" / "b.ipynb").write_text("more of it")
    return tmp_path / "handed_in"


@pytest.fixture
def answers(tmp_path):
    """A folder that only the instructor can read."""
    (tmp_path / "answers").mkdir()
    for name in ("a.ipynb", "b.ipynb"):
        (tmp_path / "answers" / name).write_text("the answers")
    return tmp_path / "answers"


def copied(folder):
    """The texts of the copy of a folder, by name."""
    target = folder.parent / "copy"
    snapshot(folder, target)
    return {str(path.relative_to(target)): path.read_text() for path in regular_files(target)}


def test_files_are_copied(handed_in):
    """Files come with their folders; hidden ones are left out."""
    (handed_in / ".ipynb_checkpoints").mkdir()
    (handed_in / ".ipynb_checkpoints" / "a.ipynb").write_text("old")
    assert copied(handed_in) == {"a.ipynb": "own work", "inner/b.ipynb": "more of it"}


def test_a_link_in_the_place_of_the_folder_is_refused(handed_in, answers):
    """A link to a folder is not taken for it."""
    link = handed_in.parent / "link"
    link.symlink_to(answers)
    with pytest.raises(OSError, match="link"):
        snapshot(link, handed_in.parent / "copy")


def test_a_link_that_appears_while_the_folder_is_read(handed_in, answers, monkeypatch):
    """A folder and a file that become links after they were listed are not followed."""
    entries = module._Copying._entries

    def swapped(folder):
        found = list(entries(folder))
        if (handed_in / "inner").is_dir() and not (handed_in / "inner").is_symlink():
            (handed_in / "inner").rename(handed_in.parent / "moved")
            (handed_in / "inner").symlink_to(answers)
            (handed_in / "a.ipynb").unlink()
            (handed_in / "a.ipynb").symlink_to(answers / "a.ipynb")
        return iter(found)

    monkeypatch.setattr(module._Copying, "_entries", staticmethod(swapped))
    snapshot(handed_in, handed_in.parent / "copy")
    assert (handed_in.parent / "copy" / "inner").is_symlink()
    assert not [path for path in (handed_in.parent / "copy").rglob("*") if path.is_file()]


def test_what_is_no_file_says_so_in_the_copy(handed_in, answers):
    """A reader of the copy gives the reason that a reader of the original would give."""
    (handed_in / "link.ipynb").symlink_to(answers / "a.ipynb")
    os.mkfifo(handed_in / "pipe.ipynb")
    with (handed_in / "large.ipynb").open("wb") as file:
        file.truncate(30_000_000)
    copy = handed_in.parent / "copy"
    snapshot(handed_in, copy)
    for name in ("link.ipynb", "pipe.ipynb", "large.ipynb"):
        reasons = []
        for folder in (handed_in, copy):
            with pytest.raises(Unreadable) as caught:
                read_bytes(folder / name)
            reasons.append(str(caught.value))
        assert reasons[0] == reasons[1]
    assert (copy / "large.ipynb").stat().st_size == 30_000_000


def test_bytes_are_bounded(handed_in, monkeypatch):
    """What does not fit any more is a hole of its size, so that its reader still finds it too large."""
    monkeypatch.setattr(module, "MAX_READ", 10)
    assert copied(handed_in) == {"a.ipynb": "own work", "inner/b.ipynb": "mo" + "\0" * 8}


def test_copying_ends(handed_in):
    """Depth, and the number of files, are bounded."""
    folder = handed_in
    for _ in range(MAX_DEPTH + 5):
        folder = folder / "d"
        folder.mkdir()
        (folder / "c.txt").write_text("deep")
    for number in range(MAX_FILES + 5):
        (handed_in / f"{number}.txt").write_text("many")
    assert len(copied(handed_in)) == MAX_FILES
    for path in handed_in.glob("*.txt"):
        path.unlink()
    (handed_in.parent / "copy").rename(handed_in.parent / "first")
    assert len(copied(handed_in)) == MAX_DEPTH + 2

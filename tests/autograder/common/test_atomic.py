"""What lies aside is kept for whoever is at it, and swept away when nobody is."""

import errno
import os
import resource
from pathlib import Path

import pytest
from processes import standing

from autograder.common import atomic, files
from autograder.common.atomic import PREFIX, Aside, lock, remove, sweep, unlock
from autograder.common.files import write
from autograder.grafting.tidying import clear_up


def make_a_folder(parent, stop):
    with Aside(parent) as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("x")
        stop()


def make_at_once(parent):
    make_a_folder(parent, lambda: None)


def write_a_file(parent, stop):
    files.put = lambda *_: stop()
    write(parent / "result.json", "{}")


@pytest.mark.parametrize("work", [make_a_folder, write_a_file])
def test_a_living_process_keeps_what_it_makes_and_a_dead_one_does_not(tmp_path, work):
    """A sweep beside a process leaves its work alone; after it was killed, the same sweep takes it away."""
    with standing(lambda stop: work(tmp_path, stop)):
        (made,) = tmp_path.glob(f"{PREFIX}*")
        assert sweep(tmp_path.glob(f"{PREFIX}*")) == 0 and made.exists()
    assert sweep(tmp_path.glob(f"{PREFIX}*")) == 1
    assert list(tmp_path.iterdir()) == []


def test_what_is_finished_leaves_nothing_aside(tmp_path):
    """A folder is removed at the end of its block, also by an error; what was renamed out of it stays."""
    with Aside(tmp_path) as folder:
        (folder / "made").mkdir()
        (folder / "made").rename(tmp_path / "made")
    with pytest.raises(FileNotFoundError), Aside(tmp_path) as folder:
        (folder / "there is no such folder" / "made").mkdir()
    assert write(tmp_path / "a.json", "{}") and not write(tmp_path / "a.json", "{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "made"]


@pytest.mark.parametrize("make", [make_at_once, lambda place: write(place / "a.json", "{}")])
def test_who_is_swept_before_he_holds_his_lock_begins_again(tmp_path, monkeypatch, make):
    """Between making and locking a name, another run may sweep it away: a new one is made, and nothing fails."""
    swept = []

    def late(path):
        if not swept:
            swept.append(sweep(tmp_path.glob(f"{PREFIX}*")))
        return lock(path)

    monkeypatch.setattr(atomic, "lock", late)
    monkeypatch.setattr(files, "lock", late)
    make(tmp_path)
    assert swept == [1] and not list(tmp_path.glob(f"{PREFIX}*"))


def test_a_lock_of_a_file_that_is_gone_is_none(tmp_path):
    """A lock counts only while its file is in its place; a second one waits for nobody."""
    held = lock(tmp_path / "file")
    assert held is not None and lock(tmp_path / "file") is None
    unlock(held)
    assert lock(tmp_path / "nowhere" / "file") is None


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_system_without_locks_goes_on_and_sweeps_nothing(tmp_path, monkeypatch, code):
    """Where a system says that it has no locks, work is done all the same, and nobody's is taken for abandoned."""

    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(atomic.fcntl, "flock", refuse)
    before = descriptors()
    with Aside(tmp_path) as folder:
        assert sweep([folder]) == 0 and folder.is_dir()
    assert list(tmp_path.iterdir()) == [] and descriptors() == before


@pytest.mark.parametrize("call", ["open", "flock", "stat"])
@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENOSPC, errno.EIO])
def test_no_lock_for_another_reason_is_an_error(tmp_path, monkeypatch, call, code):
    """Too many open files or a full disk are no system without locks: nothing goes on unlocked, nothing is left."""
    before = descriptors()
    owner = atomic.fcntl if call == "flock" else os
    real = getattr(owner, call)

    def refuse(file, *rest, **named):
        if call == "flock" or (isinstance(file, Path) and file.name == ".lock"):
            raise OSError(code, os.strerror(code))
        return real(file, *rest, **named)

    monkeypatch.setattr(owner, call, refuse)
    with pytest.raises(OSError, match=os.strerror(code)):
        Aside(tmp_path)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == [] and descriptors() == before


def test_too_many_open_files_leave_nothing_aside(tmp_path):
    """With no descriptor to be had, the folder that could not be locked is removed with none either."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(tmp_path, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            Aside(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert list(tmp_path.iterdir()) == []


def test_links_are_not_followed(tmp_path):
    """A link that looks like something unfinished leads a sweep nowhere."""
    (tmp_path / "precious").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "precious")
    assert sweep(tmp_path.glob(f"{PREFIX}*")) == 0
    assert (tmp_path / "precious").is_dir()


def test_a_folder_is_removed_however_deep_and_whatever_its_permissions(tmp_path):
    """Folders nested deeper than Python calls itself go, and read-only ones that came with a submission."""
    top = place = tmp_path / "deep"
    for _ in range(30):
        place = place / ("x" * 100)
    os.makedirs(tmp_path / "deep" / "shut" / "in")
    os.chmod(tmp_path / "deep" / "shut", 0o500)
    here = os.getcwd()
    try:
        os.chdir(top)
        for _ in range(1200):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)
    remove(top)
    assert not top.exists()
    remove(top)


PLACES = [
    "submitted/ada/{}clean",
    "originals/ada/week0/{}kept",
    ".grades/{}result",
    ".grades/ab/{}result",
    ".grades/submissions/week0/ada/{}entry",
    ".grades/waiting/week0/ada/{}entry",
]


@pytest.mark.parametrize("place", PLACES)
def test_the_next_run_clears_up(tmp_path, place):
    """Wherever grading puts something aside, the next run takes it away, and nothing beside it."""
    left = tmp_path / place.format(PREFIX)
    beside = left.parent / "finished.json"
    left.parent.mkdir(parents=True)
    beside.write_text("{}")
    (left.mkdir if "clean" in place else left.touch)()
    clear_up(tmp_path)
    assert not left.exists() and beside.exists()

"""Files that are written whole or not at all, and the lock."""

import os
import stat
import threading

import pytest

import minigrad as mg
from minigrad.machine import files


def write_bytes(path, number):
    files.write(path, bytes([number]))


def save_tensors(path, number):
    mg.save([number], path)


ways = pytest.mark.parametrize("put", [write_bytes, save_tensors])


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """If the last step fails, the old content and no debris are there."""
    path = tmp_path / "x.json"
    assert files.write(path, b"old")
    assert not files.write(path, b"old")
    monkeypatch.setattr(files.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        files.write(path, b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]
    assert path.read_bytes() == b"old"


@ways
def test_a_link_stays_a_link(tmp_path, put):
    """What is written is the file that it leads to."""
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    put(tmp_path / "link", 1)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() != b"old"
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@ways
def test_permissions_stay(tmp_path, put):
    """A private file stays private; a new one has the permissions that any new file has."""
    path = tmp_path / "x"
    put(path, 1)
    (tmp_path / "any").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "any").stat().st_mode)
    path.chmod(0o600)
    put(path, 2)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@ways
def test_the_content_is_on_the_disk_before_the_name(tmp_path, monkeypatch, put):
    """A crash leaves no empty file of that name: what was written is flushed, then renamed."""
    steps, fsync, replace = [], os.fsync, os.replace

    def flushed(number):
        steps.append(("fsync", os.fstat(number).st_size > 0))
        fsync(number)

    def renamed(source, target):
        steps.append(("replace", os.stat(source).st_size > 0))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", renamed)
    put(tmp_path / "x", 1)
    assert steps == [("fsync", True), ("replace", True)]


def test_a_block_that_fails_leaves_the_old_file(tmp_path):
    """Whatever ends the block, what was there stays, alone."""
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def stop():
        with files.replacing(path) as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


def test_a_lock_lets_one_in_at_a_time(tmp_path):
    """Who waits too long is told so; who waits long enough comes in."""
    path = tmp_path / "a.lock"
    entered = threading.Event()

    def wait():
        with files.locked(path, seconds=60):
            entered.set()

    with files.locked(path):
        with pytest.raises(files.Busy, match="locked by another program"), files.locked(path, seconds=0.05):
            pass
        thread = threading.Thread(target=wait)
        thread.start()
        assert not entered.is_set()
    thread.join()
    assert entered.is_set()

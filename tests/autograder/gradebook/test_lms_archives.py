"""The archive of a class is unpacked, and nothing inside it; what cannot be unpacked costs its owner alone."""

import io
import logging
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from autograder.gradebook import lms_archives
from autograder.gradebook.lms_archives import OuterArchives


def zipped(members, **options):
    """A zip archive of texts or bytes by name."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", **options) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name, (2026, 10, 5, 12, 30, 0)), content)
    return data.getvalue()


@pytest.fixture
def unpacked(tmp_path, caplog):
    """Unpack files, given by name, and return what lies there afterwards and what was said."""

    def run(**files):
        archive, extracted = tmp_path / "archive", tmp_path / "deep" / "extracted"
        archive.mkdir()
        extracted.mkdir(parents=True)
        for name, data in files.items():
            (archive / name.replace("_dot_", ".")).write_bytes(data)
        plugin = OuterArchives()
        plugin.log = logging.getLogger("unpacking")
        with caplog.at_level(logging.INFO):
            plugin.extract(str(archive), str(extracted))
        lying = {
            path.relative_to(extracted).as_posix(): path.read_bytes() for path in extracted.rglob("*") if path.is_file()
        }
        outside = [
            path
            for path in tmp_path.rglob("*")
            if path.is_file() and archive not in path.parents and extracted not in path.parents
        ]
        assert outside == []
        return lying, caplog.text

    return run


def test_what_students_packed_stays_packed(unpacked):
    """Archives, bombs and damaged files among what was handed in are files like others."""
    inner = zipped({"../../x.ipynb": "out", "bomb": bytes(10**6)}, compression=zipfile.ZIP_DEFLATED)
    lying, said = unpacked(
        all_dot_zip=zipped({"ada/work.zip": inner, "bob/x.zip": b"PK\x03\x04 random", "eve/a.ipynb": "{}"})
    )
    assert lying == {"all/ada/work.zip": inner, "all/bob/x.zip": b"PK\x03\x04 random", "all/eve/a.ipynb": b"{}"}
    assert said == ""


@pytest.mark.parametrize(
    "name",
    ["../../x.ipynb", "/etc/x.ipynb", "a/../../x.ipynb", "..\\..\\x.ipynb", "C:\\x.ipynb", "..", "a/..", "\\\\host\\x"],
)
def test_a_name_that_leads_out_costs_one_file(unpacked, name):
    """The file is named and left out; the others are there."""
    lying, said = unpacked(all_dot_zip=zipped({"ada.ipynb": "1", name: "2", "bob.ipynb": "3"}))
    assert lying == {"all/ada.ipynb": b"1", "all/bob.ipynb": b"3"}
    assert "was left out: its name leads out of the archive" in said


def test_damage_costs_one_file(unpacked):
    """A wrong checksum, a password and an unknown compression are told of the file that they are of."""
    data = bytearray(zipped({"ada.ipynb": "a" * 50, "bob.ipynb": "b" * 50, "eve.ipynb": "e" * 50}))
    data[data.index(b"b" * 50)] ^= 1
    central = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    central = data.index(b"PK\x01\x02", central + 1)
    data[central + 8] |= 1  # encrypted
    lying, said = unpacked(all_dot_zip=bytes(data))
    assert lying == {"all/ada.ipynb": b"a" * 50}
    assert "bob.ipynb in all.zip was left out" in said
    assert "eve.ipynb in all.zip was left out" in said


def test_a_file_is_no_larger_than_it_may_be(unpacked, monkeypatch):
    """Whatever an archive says of a size, reading ends at the bound, and nothing stays of the file."""
    monkeypatch.setattr(lms_archives, "MAX_KEPT", 1000)
    lying, said = unpacked(
        all_dot_zip=zipped({"bomb.ipynb": bytes(10**7), "ada.ipynb": bytes(1000)}, compression=zipfile.ZIP_DEFLATED)
    )
    assert lying == {"all/ada.ipynb": bytes(1000)}
    assert "bomb.ipynb in all.zip was left out: it has more than 0.001 MB" in said


def test_there_are_no_more_files_than_there_may_be(unpacked, monkeypatch):
    """The others are left out, and that is said."""
    monkeypatch.setattr(lms_archives, "MAX_MEMBERS", 2)
    lying, said = unpacked(all_dot_zip=zipped({"a": "", "b": "", "c": ""}))
    assert sorted(lying) == ["all/a", "all/b"]
    assert "all.zip has more than 2 files" in said


def test_no_file_takes_the_place_of_another(unpacked):
    """Of two with one name, the first stays; a file where a folder should be costs what is in the folder."""
    lying, said = unpacked(all_dot_zip=zipped({"a.ipynb": "1", "./a.ipynb": "2", "b": "3", "b/c": "4"}))
    assert lying == {"all/a.ipynb": b"1", "all/b": b"3"}
    assert said.count("was left out") == 2


def test_one_archive_that_cannot_be_read_does_not_stop_the_others(unpacked):
    """It is named; other archives, tars among them, and single files are there, with their times and without links."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as file:
        member = tarfile.TarInfo("ada/a.ipynb")
        member.size, member.mtime = 3, 1_700_000_000
        file.addfile(member, io.BytesIO(b"tar"))
        link = tarfile.TarInfo("ada/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(link)
    lying, said = unpacked(
        bad_dot_zip=b"no zip", tar_dot_tar_dot_gz=tar.getvalue(), single_dot_ipynb=b"{}", ok_dot_zip=zipped({"x": "y"})
    )
    assert lying == {"tar/ada/a.ipynb": b"tar", "single.ipynb": b"{}", "ok/x": b"y"}
    assert "bad.zip is no archive that can be read" in said


def test_times_are_kept(tmp_path):
    """A file has the time that the archive says, which has no zone."""
    archive, extracted = tmp_path / "archive", tmp_path / "extracted"
    archive.mkdir()
    (archive / "all.zip").write_bytes(zipped({"a.ipynb": "{}"}))
    OuterArchives().extract(str(archive), str(extracted))
    found = Path(extracted, "all", "a.ipynb").stat().st_mtime
    assert time.localtime(found)[:5] == (2026, 10, 5, 12, 30)

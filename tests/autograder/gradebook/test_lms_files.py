"""Archives of Moodle and Canvas are collected: each file goes to the student whose it is."""

import logging
import os
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook
from traitlets import TraitError
from traitlets.config import Configurable

from autograder.gradebook.archive_times import marked_late, members
from autograder.gradebook.lms_files import RosterCollector

pytestmark = pytest.mark.full("archives are collected by nbgrader", share=48)

BASE = "/srv/course/downloaded/module0/extracted"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
MOODLE = "_471121_assignsubmission_file_"


@pytest.fixture(scope="module")
def coursedir(tmp_path_factory):
    """A gradebook of four students, two of whom have one name."""
    folder = tmp_path_factory.mktemp("gradebook")
    url = f"sqlite:///{folder / 'gradebook.db'}"
    patch = pytest.MonkeyPatch()
    patch.setenv("PATH", PATH)  # nbgrader starts `alembic` by its bare name
    with Gradebook(url, "minigrad") as gradebook:
        gradebook.add_student("s01", first_name="Ada", last_name="Lovelace", lms_user_id="4711")
        gradebook.add_student("s02", first_name="Émilie", last_name="du Châtelet")
        gradebook.add_student("s03", first_name="Lee", last_name="Kim")
        gradebook.add_student("s04", first_name="Lee", last_name="Kim", lms_user_id="4714")
    patch.undo()
    return SimpleNamespace(db_url=url, course_id="minigrad")


@pytest.fixture
def collector(coursedir):
    parent = Configurable()
    parent.coursedir = coursedir
    return RosterCollector(parent=parent)


@pytest.mark.parametrize(
    ("path", "student", "file"),
    [
        (f"all/Ada Lovelace{MOODLE}/00_fundamentals.ipynb", "s01", "00_fundamentals.ipynb"),
        (f"all/Ada Lovelace{MOODLE}00_fundamentals.ipynb", "s01", "00_fundamentals.ipynb"),
        (f"all/Ada Lovelace{MOODLE[:-1]}/00_fundamentals.ipynb", "s01", "00_fundamentals.ipynb"),
        (f"Émilie du Châtelet{MOODLE}/work/00_fundamentals.ipynb", "s02", "work/00_fundamentals.ipynb"),
        ("all/lovelaceada_99_12345_00_fundamentals.ipynb", "s01", "00_fundamentals.ipynb"),
        ("all/lovelaceada_LATE_99_12345_00_fundamentals-1.ipynb", "s01", "00_fundamentals-1.ipynb"),
        ("all/kimlee_4714_12345_00_fundamentals.ipynb", "s04", "00_fundamentals.ipynb"),
        (f"all/Lee Kim{MOODLE}/x.ipynb", "Lee Kim", "x.ipynb"),
        ("all/Zoe_4711_assignsubmission_file_/x.ipynb", "Zoe", "x.ipynb"),
        (f"all/Student s03{MOODLE}/x.ipynb", "Student s03", "x.ipynb"),
        (f"all/s03{MOODLE}/x.ipynb", "s03", "x.ipynb"),
        (f"all/Eve{MOODLE}/s01_4711_12345_00_fundamentals.ipynb", "Eve", "s01_4711_12345_00_fundamentals.ipynb"),
        (f"all/Eve{MOODLE}/s01{MOODLE}/x.ipynb", "Eve", f"s01{MOODLE}/x.ipynb"),
    ],
)
def test_whose_file_it_is(collector, path, student, file):
    """The gradebook says whose name or number it is, if one student has it; names below a student's own say nothing."""
    assert collector.collect(f"{BASE}/{path}") == {"student_id": student, "file_id": file}


@pytest.mark.parametrize(
    "path", ["all/notes.ipynb", f"all/Ada Lovelace{MOODLE}/photo.png", "all/Ada_onlinetext_/x.html"]
)
def test_what_is_nobodys_is_left_out(collector, path):
    """A file without a student's name, and one that is no notebook in any form, is skipped."""
    assert collector.collect(f"{BASE}/{path}") is None


@pytest.mark.parametrize("name", [".", "..", ".hidden"])
def test_a_name_that_leads_to_another_folder_is_no_id(collector, name, caplog):
    """Such a file is left out, and not written beside the submissions."""
    collector.log = logging.getLogger("collector")
    assert collector.collect(f"{BASE}/all/{name}{MOODLE}/x.ipynb") is None
    assert "cannot be a student's id" in caplog.text


def test_an_archive_that_is_named_like_a_student(collector, tmp_path, caplog):
    """hw1_2027_01_31.zip is not of a student hw1; as a class's or as a student's archive it could mean another one."""
    collector.log = logging.getLogger("collector")
    home = tmp_path / "downloaded" / "module0"
    (home / "archive").mkdir(parents=True)
    (home / "archive" / "hw1_2027_01_31.zip").write_bytes(b"")
    for inside in (f"Ada Lovelace{MOODLE}/x.ipynb", "lovelaceada_99_12345_x.ipynb"):
        assert collector.collect(f"{home}/extracted/hw1_2027_01_31/{inside}") is None
    assert caplog.text.count("rename it, as to class.zip") == 1
    (home / "archive" / "lovelaceada_99_12345_work.zip").write_bytes(b"")
    own = collector.collect(f"{home}/extracted/lovelaceada_99_12345_work/x.ipynb")
    assert own == {"student_id": "s01", "file_id": "work/x.ipynb"}


def test_zip_collect(tmp_path, root):
    """The command, with the course's own configuration, puts a made-up archive of both kinds into submitted/."""
    course = tmp_path / "course"
    archive, release = course / "downloaded" / "module0" / "archive", course / "release" / "module0"
    archive.mkdir(parents=True)
    release.mkdir(parents=True)
    shutil.copy(root / "course" / "nbgrader_config.py", course)
    (release / "00_fundamentals.ipynb").write_text("{}")
    with zipfile.ZipFile(archive / "submissions.zip", "w") as file:
        for name, day, text in (
            (f"Ada Lovelace{MOODLE}/00_fundamentals.ipynb", 1, "moodle"),
            ("turingalan_77_12345_00_fundamentals.ipynb", 2, "canvas"),
        ):
            file.writestr(zipfile.ZipInfo(name, (2027, 2, day, 12, 0, 0)), text)
    code = (
        "import os, sys; from nbgrader.apps.nbgraderapp import main; from nbgrader.api import Gradebook\n"
        "with Gradebook('sqlite:///gradebook.db', 'minigrad') as gradebook:\n"
        "    gradebook.add_student('s07', first_name='Alan', last_name='Turing')\n"
        "main()"
    )
    environment = os.environ | {"PATH": PATH}
    command = [sys.executable, "-P", "-c", code, "zip_collect", "module0", "--RosterCollector.timezone=UTC"]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((course / "exchange").stat().st_mode) == 0o777  # nbgrader warns of every other mode
    taken = {
        path.relative_to(course / "submitted").as_posix(): path.read_text()
        for path in course.glob("submitted/**/*.ipynb")
    }
    assert taken == {
        "Ada Lovelace/module0/00_fundamentals.ipynb": "moodle",
        "s07/module0/00_fundamentals.ipynb": "canvas",
    }
    times = {path.parts[-3]: path.read_text() for path in course.glob("submitted/*/*/timestamp.txt")}
    assert times == {"Ada Lovelace": "2027-02-01 12:00:00", "s07": "2027-02-02 12:00:00"}


# When it was handed in, and who is who ----------------------------------------------------------------------------

WHO = (("s01", "Ada", "Lovelace", "ada@uni.edu", "4711"), ("s05", "Wei", "Li", "wei.li@uni.edu", "4715"))
WHO += (("s06", "Wei", "Li", "wei2@uni.edu", None), ("s07", "Alan", "Turing", "alan@uni.edu", None))
PACKED = (2027, 3, 1, 10, 0)


@pytest.fixture
def download(tmp_path):
    """A course folder with a roster, in which an archive lies unpacked; returns what makes the collector."""
    home = tmp_path / "downloaded" / "module0"
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"

    def make(files, worksheet="", **settings):
        (home / "archive").mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(home / "archive" / "all.zip", "w") as file:
            for name, when in files.items():
                file.writestr(zipfile.ZipInfo(name, (*when, 0)), "{}")
            file.extractall(home / "extracted" / "all")
        if worksheet:
            (home / "grades.csv").write_text(worksheet, encoding="utf-8-sig")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", PATH)
            with Gradebook(url, "minigrad") as gradebook:
                for student, first, last, email, number in WHO:
                    gradebook.update_or_create_student(
                        student, first_name=first, last_name=last, email=email, lms_user_id=number
                    )
        parent = Configurable()
        parent.coursedir = SimpleNamespace(db_url=url, course_id="minigrad")
        return RosterCollector(parent=parent, timezone="Europe/Berlin", **settings)

    def collect(files, *rest, **settings):
        plugin = make(files, *rest, **settings)
        return [plugin.collect(str(path)) for path in sorted((home / "extracted").rglob("*.ipynb"))]

    collect.home = home
    return collect


def moodle(name, number):
    return f"{name}_{number}_assignsubmission_file_/x.ipynb"


def test_times_of_an_archive(download):
    """A platform that copies times tells when each student handed in, by its own clock."""
    found = download({moodle("Ada Lovelace", 1): (2027, 1, 31, 10, 0), moodle("Alan Turing", 2): (2027, 7, 3, 2, 0)})
    assert {each["student_id"]: each["timestamp"] for each in found} == {
        "s01": "2027-01-31 09:00:00 UTC",
        "s07": "2027-07-03 00:00:00 UTC",
    }
    assert marked_late(download.home.parent.parent, "module0") == frozenset()


@pytest.mark.parametrize("how", ["packed", "none", "never"])
def test_an_archive_without_times(download, how, caplog):
    """The moment of packing is no time of handing in, nor is that of unpacking: nobody gets one, and it is said."""
    when = {"packed": PACKED, "none": (1980, 1, 1, 0, 0), "never": (2027, 1, 31, 10, 0)}[how]
    files = {moodle("Ada Lovelace", 1): when, moodle("Alan Turing", 2): (*when[:3], when[3], when[4] + 1)}
    if how == "never":
        files[moodle("Alan Turing", 2)] = (2027, 7, 3, 2, 0)
    found = download(files, member_times="never" if how == "never" else "auto")
    assert [each["student_id"] for each in found] == ["s01", "s07"]
    assert not any("timestamp" in each for each in found)
    assert "nobody of these is late: s01, s07" in caplog.text


def test_canvas_marks_late_work(download, caplog):
    """Without a time the mark of Canvas is kept, until a later archive says otherwise; with a time it says nothing."""
    course = download.home.parent.parent
    files = {"lovelaceada_LATE_4711_1_x.ipynb": PACKED, "turingalan_99_2_x.ipynb": PACKED}
    assert not any("timestamp" in each for each in download(files))
    assert marked_late(course, "module0") == {"s01"} and "Canvas marks as late, without a time: s01" in caplog.text
    shutil.rmtree(download.home / "extracted")
    found = download({**files, "turingalan_99_2_x.ipynb": (2027, 1, 31, 10, 0)})
    assert [each["timestamp"][:10] for each in found] == ["2027-03-01", "2027-01-31"]
    assert marked_late(course, "module0") == frozenset()


def test_an_extra_field_tells_utc(tmp_path):
    """A time in UTC is taken before that of a clock on a wall."""
    info = zipfile.ZipInfo("x", (2027, 1, 31, 10, 0, 0))
    info.extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_800_000_000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr(info, "")
    (member,) = members(tmp_path / "a.zip", None)
    assert str(member.when) == "2027-01-15 08:00:00+00:00"
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 no archive")
    assert members(tmp_path / "b.zip", None) == []


def test_two_students_of_one_name(download, caplog):
    """Canvas's number tells them apart, and with it who is left; nobody's work gets into another's folder."""
    found = download({"liwei_4715_1_x.ipynb": PACKED, "liwei_4999_2_x.ipynb": PACKED})
    assert [each["student_id"] for each in found] == ["s05", "s06"] and "nothing tells" not in caplog.text


def test_two_students_of_one_name_in_moodle(download, caplog):
    """Moodle's numbers are of one assignment: without its worksheet each gets a folder, and a sentence names them."""
    files = {moodle("Wei Li", 471): PACKED, moodle("Wei Li", 472): PACKED, moodle("Ada Lovelace", 1): PACKED}
    found = download(files)
    assert [each["student_id"] for each in found] == ["s01", "Wei Li_471", "Wei Li_472"]
    assert "Wei Li_471: nothing tells which student that is (the gradebook has s05, s06 of that name)" in caplog.text
    assert "submitted/Wei Li_472" in caplog.text


def test_moodles_worksheet_tells_them_apart(download):
    """It gives each number's address."""
    rows = ("Identifier,Email address", "Participant 471,wei2@uni.edu", "Participant 472,wei.li@uni.edu")
    sheet = "\n".join(rows)
    found = download({moodle("Wei Li", 471): PACKED, moodle("Wei Li", 472): PACKED}, sheet)
    assert [each["student_id"] for each in found] == ["s06", "s05"]


def test_the_configuration_tells_them_apart(download):
    """So does a course's own list, by number, or by name and number."""
    students = {"471": "s06", "Wei Li_472": "s05"}
    found = download({moodle("Wei Li", 471): PACKED, moodle("Wei Li", 472): PACKED}, students=students)
    assert [each["student_id"] for each in found] == ["s06", "s05"]


def test_a_namesake_whom_the_gradebook_does_not_know(download, caplog):
    """Two people of a name that the gradebook has once: none of them is taken for that student."""
    found = download({moodle("Ada Lovelace", 1): PACKED, moodle("Ada Lovelace", 2): PACKED})
    assert [each["student_id"] for each in found] == ["Ada Lovelace_1", "Ada Lovelace_2"]
    assert "nothing tells which student" in caplog.text


def test_a_name_that_the_gradebook_does_not_have(download, caplog):
    """Where names were imported, the command says that it knows none such, and where the work is."""
    (found,) = download({moodle("Ada Lovelac", 1): PACKED})
    assert found["student_id"] == "Ada Lovelac"
    assert "Ada Lovelac_1: nothing tells which student that is (the gradebook has none of that name)" in caplog.text
    assert "submitted/Ada Lovelac." in caplog.text


def test_names_that_nobody_has_imported(download, caplog, monkeypatch):
    """Without names in the gradebook, an id is the name in the archive: there is nothing to say."""
    monkeypatch.setattr(RosterCollector, "_roster", [("Bea", "", "", "", "")])
    (found,) = download({moodle("Ada Lovelace", 1): PACKED})
    assert found["student_id"] == "Ada Lovelace" and "nothing tells" not in caplog.text


def test_an_address_is_a_name(download):
    """A platform that writes addresses in place of names is understood."""
    (found,) = download({moodle("wei2@uni.edu", 1): PACKED})
    assert found["student_id"] == "s06"


def test_a_zone_that_is_none():
    """A wrong time zone is refused."""
    with pytest.raises(TraitError, match="there is no time zone 'Berlin'"):
        RosterCollector(timezone="Berlin")

"""Archives of Moodle and Canvas are collected: each file goes to the student whose it is."""

import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Configurable

from autograder.gradebook.lms_files import RosterCollector

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


def test_zip_collect(tmp_path, root):
    """The command, with the course's own configuration, puts a made-up archive of both kinds into submitted/."""
    course = tmp_path / "course"
    archive, release = course / "downloaded" / "module0" / "archive", course / "release" / "module0"
    archive.mkdir(parents=True)
    release.mkdir(parents=True)
    shutil.copy(root / "course" / "nbgrader_config.py", course)
    (release / "00_fundamentals.ipynb").write_text("{}")
    with zipfile.ZipFile(archive / "submissions.zip", "w") as file:
        file.writestr(f"Ada Lovelace{MOODLE}/00_fundamentals.ipynb", "moodle")
        file.writestr("turingalan_77_12345_00_fundamentals.ipynb", "canvas")
    code = (
        "import os, sys; from nbgrader.apps.nbgraderapp import main; from nbgrader.api import Gradebook\n"
        "with Gradebook('sqlite:///gradebook.db', 'minigrad') as gradebook:\n"
        "    gradebook.add_student('s07', first_name='Alan', last_name='Turing')\n"
        "main()"
    )
    environment = os.environ | {"PATH": PATH}
    command = [sys.executable, "-P", "-c", code, "zip_collect", "module0"]
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

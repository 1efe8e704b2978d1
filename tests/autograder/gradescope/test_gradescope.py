"""Gradescope's container grades as this machine does, or gives no mark and says why."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from class_runs import again, hand_in
from places import ROOT
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.loading import load_course
from autograder.gradescope import PARCEL, running
from autograder.gradescope.packing import pack
from autograder.sandbox import SandboxUnavailable

pytestmark = pytest.mark.full("a course is built, released and graded; a wheel is built", share=16)

WRONG = ARITHMETIC.replace("x + y", "x - y")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course, and a hand-in with one mistake."""
    return hand_in(make_course(tmp_path_factory.mktemp("gradescope"), ROOT), {"ada": (WRONG, COMPARISON)})


@pytest.fixture
def place(course, tmp_path):
    """Gradescope's folder, with the files that grading reads and the hand-in."""
    return unpacked(course, tmp_path)


def unpacked(course, place):
    """Put an archive's files for grading, and the hand-in, where Gradescope does."""
    for name in ("source", "results"):
        (place / name).mkdir()
    wheel = place / "grader.whl"
    wheel.touch()
    packed = pack(load_course(course, tree=False), "week0", course.parent / "hidden", wheel)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extract(PARCEL, place / "source")
    shutil.copytree(course / "submitted" / "ada" / "week0", place / "submission")
    return place


def results(place):
    return json.loads((place / "results" / "results.json").read_text())


def points(said):
    return {each["name"]: (each["score"], each["max_score"]) for each in said["tests"]}


def test_the_archive_grades_as_the_command_does(course, tmp_path):
    """Unpacked in a bare folder, its script gives the points that `autograder grade` gives."""
    out = tmp_path / "week0.zip"
    arguments = ["gradescope", "week0", "--course", str(course), "--hidden", str(course.parent / "hidden")]
    packed = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    if "No matching distribution found for hatchling" in packed.output:
        pytest.skip("no package index answers: what builds a wheel (hatchling) cannot be fetched")
    assert packed.exit_code == 0, packed.output
    assert "Hidden tests lie in the container" in packed.output and out.stat().st_mode & 0o077 == 0
    place = tmp_path / "autograder"
    with zipfile.ZipFile(out) as archive:
        for each in archive.infolist():
            file = archive.extract(each, place / "source")
            os.chmod(file, each.external_attr >> 16)
    shutil.copy(place / "source" / "run_autograder", place)  # as Gradescope does
    shutil.copytree(course / "submitted" / "ada" / "week0", place / "submission")
    (wheel,) = (place / "source").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(place / "site")
    python = place / "venv" / "bin" / "python"  # stands for what setup.sh installs
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH={place / "site"} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert subprocess.run(["bash", "-n", place / "source" / "setup.sh"], check=False).returncode == 0
    done = subprocess.run([place / "run_autograder"], cwd=tmp_path, env=os.environ | {"AUTOGRADER_ROOT": str(place)})
    assert done.returncode == 0
    assert (
        points(results(place))
        == graded_here(course)
        == {
            "operators.arithmetic": (1.0, 3.0),
            "operators.comparison": (4.0, 4.0),
        }
    )


def graded_here(course):
    """What `autograder grade` gives for the same notebooks."""
    notebooks = sorted(map(str, (course / "submitted" / "ada" / "week0").glob("*.ipynb")))
    options = ["--course", str(course), "--hidden", str(course.parent / "hidden"), "--json"]
    done = CliRunner().invoke(app, ["grade", *notebooks, *options])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    return {each["exercise"]: (earned(each), each["points"]) for one in found for each in one["exercises"]}


def earned(exercise):
    return sum(group["earned"] for group in exercise["groups"])


@pytest.mark.parametrize(("year", "shows"), [(2001, True), (2999, False)])
def test_what_is_shown_waits_for_the_due_date(place, year, shows):
    """A student who may hand in again reads the points of groups, and no input that failed."""
    due = f'title = "Numbers"\ndue = {year}-02-01T23:59:00Z'
    put(place, "course/course.toml", zipped(place, "course/course.toml").replace('title = "Numbers"', due))
    running.grade(place, "week0")
    said = {each["name"]: each["output"] for each in results(place)["tests"]}["operators.arithmetic"]
    assert ("use +" in said) is shows and ("Points by group: values 0 of 2, special 1 of 1" in said) is not shows


def test_the_report_is_in_the_language_of_the_notebook(course, tmp_path):
    """The course's catalogues go with the archive, and say there what a feedback page says here."""
    other = again(course, tmp_path / "all")
    toml = other / "course.toml"
    toml.write_text(toml.read_text().replace("seed = 7", 'seed = 7\nlanguages = ["de"]'))
    catalogues = other / "locale" / "de" / "LC_MESSAGES"
    catalogues.mkdir(parents=True)
    (catalogues / "hidden.po").write_text('msgid "add adds."\nmsgstr "add addiert."\n')
    notebook = other / "submitted" / "ada" / "week0" / "00_numbers.ipynb"
    content = json.loads(notebook.read_text())
    content["metadata"]["minigrad"]["language"] = "de"
    notebook.write_text(json.dumps(content))
    place = unpacked(other, tmp_path)
    put(place, "course/course.toml", zipped(place, "course/course.toml") + '[serve]\nshows = "all"\n')
    running.grade(place, "week0")
    said = {each["name"]: each["output"] for each in results(place)["tests"]}["operators.arithmetic"]
    assert "add addiert." in said and "add adds." not in said


def zipped(place, name):
    with zipfile.ZipFile(place / "source" / PARCEL) as parcel:
        return parcel.read(name).decode()


def put(place, name, text):
    """Change a file of the parcel."""
    file = place / "source" / PARCEL
    with zipfile.ZipFile(file) as parcel:
        files = {each: parcel.read(each) for each in parcel.namelist()}
    with zipfile.ZipFile(file, "w") as parcel:
        for each, content in {**files, name: text.encode()}.items():
            parcel.writestr(each, content)


def test_no_sandbox_no_mark(place, monkeypatch):
    """Where the container permits no wall, nothing is graded and nothing is written."""

    def none(_):
        raise SandboxUnavailable("no isolation can be had")

    monkeypatch.setattr(running, "choose", none)
    with pytest.raises(SandboxUnavailable):
        running.grade(place, "week0")
    assert not list((place / "results").iterdir())


def test_a_hidden_test_at_fault(place):
    """A test that breaks gives no mark: nobody loses points by it."""
    name = "hidden/test_operators.py"
    put(place, name, re.sub(r"expect\(student\(observe, 2\.0\), -2\.0\)", "no_such_name", zipped(place, name)))
    with pytest.raises(running.NotGraded, match="a hidden test is at fault"):
        running.grade(place, "week0")
    assert not list((place / "results").iterdir())


def test_a_student_cannot_read_the_tests(place):
    """Behind the wall that Docker permits as a rule, the archive beside a student's code cannot be opened."""
    secret = place / "source" / PARCEL
    reading = ARITHMETIC.replace("return x + y", f"return len(open({str(secret)!r}, 'rb').read())")
    notebook = place / "submission" / "00_numbers.ipynb"
    content = json.loads(notebook.read_text())
    next(each for each in content["cells"] if "def add" in "".join(each["source"]))["source"] = reading
    notebook.write_text(json.dumps(content))
    put(place, "course/course.toml", zipped(place, "course/course.toml") + '[serve]\nshows = "all"\n')
    running.grade(place, "week0", isolation="landlock")
    said = {each["name"]: each for each in results(place)["tests"]}["operators.arithmetic"]
    assert said["score"] == 1.0 and "Permission" in said["output"], said


def test_an_empty_hand_in(place):
    """Nothing earns nothing, with the reason."""
    shutil.rmtree(place / "submission")
    (place / "submission").mkdir()
    running.grade(place, "week0")
    assert points(results(place)) == {"operators.arithmetic": (0.0, 3.0), "operators.comparison": (0.0, 4.0)}


def test_an_assignment_that_is_not_built(course, tmp_path):
    """The command says what comes before it."""
    shutil.copytree(course, tmp_path / "course")
    shutil.rmtree(tmp_path / "course" / "source")
    done = CliRunner().invoke(app, ["gradescope", "week0", "--course", str(tmp_path / "course")])
    assert done.exit_code == 2 and "is not built yet; give `autograder build`" in " ".join(done.output.split())

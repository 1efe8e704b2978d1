"""`autograder extend` says where an id may be a slip."""

import os
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.extensions import read_extensions

TOML = """
[course]
name = "small"
version = "1"
seed = 1

[library]
package = "none"

[[assignment]]
name = "week1"
title = "A week"
due = 2027-02-01T23:59:00Z
lessons = ["01_first"]

[[exercise]]
id = "first.middle"
lesson = "01_first"
points = 2
groups = { values = 2 }
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    # nbgrader starts `alembic` by its bare name.
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    (tmp_path / "course.toml").write_text(TOML)
    return tmp_path


def enrol(course, *students):
    with Gradebook(f"sqlite:///{course}/gradebook.db", "small") as gradebook:
        for student in students:
            gradebook.add_student(student)


def run(course, *arguments):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["extend", *arguments, "--course", str(course)])
    assert done.exit_code == 0, (done.output, done.exception)
    return " ".join(done.output.split())


@pytest.mark.full("nbgrader makes a gradebook", share=4)
def test_an_id_that_the_gradebook_has_not(course):
    """It may be right, of a student who comes later; so it is written, and the likely id is named."""
    enrol(course, "ada", "bob")
    said = run(course, "adaa", "week1", "--days", "3")
    assert "no student of that id; did you mean ada?" in said
    assert "`autograder extend adaa week1 --remove` takes a mistake back" in said
    assert "note" not in run(course, "adaa", "week1", "--remove")
    assert read_extensions(course) == {}


@pytest.mark.full("nbgrader makes a gradebook", share=4)
def test_an_id_that_is_like_no_other(course):
    """No other is guessed."""
    enrol(course, "ada")
    said = run(course, "s4711", "week1", "--days", "3")
    assert "no student of that id, `autograder extend s4711 week1 --remove`" in said


# SQLAlchemy remarks on the order in which nbgrader makes its own rows; they are made all the same.
@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
@pytest.mark.full("nbgrader makes a gradebook", share=4)
def test_an_extension_that_nbgrader_granted(course):
    """It is listed beside the command's own, by which it may be replaced, and taken back."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "small") as gradebook:
        gradebook.add_assignment("week1")
        gradebook.add_student("ada")
        gradebook.add_submission("week1", "ada")
        gradebook.grant_extension("week1", "ada", days=2)
    assert "week1 ada: 2 days more, due 2027-02-03 23:59 UTC" in run(course)
    said = run(course, "ada", "week1", "--days", "3")
    assert "ada: week1 is due 2027-02-04 23:59 UTC, 3 days more (before: 2 days more)" in said
    assert "no extension of week1 any more (before: 3 days more)" in run(course, "ada", "week1", "--remove")
    assert run(course).endswith("no extension was granted")


@pytest.mark.parametrize("students", [(), ("ada",)])
@pytest.mark.full("nbgrader makes a gradebook", share=4)
def test_an_id_that_may_well_be(course, students):
    """A gradebook without students knows nobody; a known student has handed in nothing yet."""
    enrol(course, *students)
    said = run(course, "ada", "week1", "--days", "3")
    assert "has nothing of ada in week1 yet" in said and "no student" not in said

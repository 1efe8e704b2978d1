"""`autograder new course` lays out a course that is complete: it is built, its tests tell right from wrong."""

import pytest
from typer.testing import CliRunner

from autograder.building.build import build
from autograder.building.slicing import slice_exercise
from autograder.cli import app
from autograder.course.loading import load_course
from autograder.gradebook.settings import load_app
from autograder.proof.verify import verify


def run(*words):
    """Run a command; return its exit code and what it printed, on one line."""
    done = CliRunner().invoke(app, list(words), env={"COLUMNS": "300"})
    return done.exit_code, " ".join((done.output + done.stderr).split())


def test_a_new_course_is_built_and_verified(tmp_path):
    """Each file of the layout is right as it stands: no problem is found, apart from what is not recorded yet."""
    code, said = run("new", "course", str(tmp_path / "stats"))
    assert code == 0 and "autograder build" in said
    build(tmp_path / "stats")
    course = load_course(tmp_path / "stats")
    assert course.name == "stats" and "return (low + high) / 2" in slice_exercise(course, "first.middle").reference
    (checked,) = verify(course, hidden=course.hidden, answers=course.authored)
    assert checked.problems == () and [each.misconception for each in checked.wrong] == ["whole-numbers-only"]


def test_a_new_course_has_the_exchange_that_course_toml_names(tmp_path):
    """`exchange` counts as it does in minigrad's course; without it the exchange is a folder of the course."""
    course = tmp_path / "stats"
    run("new", "course", str(course))
    assert load_app(course, "week1").config.Exchange.root == str(course / "exchange")
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace("seed = 1", 'exchange = "/srv/exchange"\nseed = 1'))
    assert load_app(course, "week1").config.Exchange.root == "/srv/exchange"


@pytest.mark.parametrize(
    ("name", "said"),
    [("full", "is there already, and not empty; name a new folder"), ("a b", "a course is named after its folder")],
)
def test_a_folder_that_cannot_be_a_new_course_is_refused(tmp_path, name, said):
    """Nothing is written over what someone has there."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    code, output = run("new", "course", str(tmp_path / name))
    assert code == 2 and said in output
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["thesis.txt"]

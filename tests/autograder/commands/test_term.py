"""`autograder term`: which commands a step runs, when it is done, and where it stops."""

import subprocess

import pytest
from small_course import SmallCourse
from sqlalchemy import make_url
from typer.testing import CliRunner

from autograder.cli import app
from autograder.commands.term import STEPS, is_done
from autograder.gradebook.class_server import Server


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A course and its exchange, before anything is released."""
    server = Server(SmallCourse(tmp_path).load(), make_url("sqlite:///gradebook.db"), tmp_path / "exchange", "small")
    monkeypatch.setattr(Server, "of", lambda course: server)
    return server


@pytest.fixture
def ran(monkeypatch):
    """The commands that were run; those in `failing` fail."""

    class Ran(list):
        failing = ()

        def __call__(self, words, *, cwd, check):
            self.append(" ".join(words[2:]))
            return subprocess.CompletedProcess(words, 3 if words[3] in self.failing else 0)

    ran = Ran()
    monkeypatch.setattr("autograder.commands.term.subprocess.run", ran)
    return ran


@pytest.fixture
def term(server):
    """Give the command."""

    def invoke(*words, code=0):
        result = CliRunner().invoke(app, ["term", *words, "--course", str(server.course.directory)])
        assert result.exit_code == code, result.output
        return result.output

    return invoke


def test_release_once(term, server, ran):
    """An assignment is released once: students may have begun, so what they have is not replaced unasked."""
    said = term("release", "week0")
    assert ran == ["nbgrader generate_assignment week0 --force", "nbgrader release_assignment week0"]
    assert said.splitlines() == [f"$ {command}" for command in ran]
    (server.exchange / "small" / "outbound" / "week0").mkdir(parents=True)
    ran.clear()
    assert "is released already" in term("release", "week0") and not ran


def test_next_follows_the_folders(term, server, ran):
    """`next` is the first step that is not done for everybody."""
    folder, seen = server.course.directory, []
    released = "../exchange/small/outbound/week0"
    for made in ("", released, "submitted/ada/week0", "autograded/ada/week0", "submitted/bea/week0"):
        (folder / made).resolve().mkdir(parents=True, exist_ok=True)
        ran.clear()
        term("next", "week0")
        seen.append(ran[0].split()[1])
    assert seen == ["generate_assignment", "collect", "autograde", "feedback", "autograde"]
    for made in ("autograded/bea/week0", "feedback/ada/week0", "feedback/bea/week0"):
        (folder / made).mkdir(parents=True)
    ran.clear()
    assert "nothing is left" in term("next", "week0") and not ran
    assert all(is_done(server, step, "week0") for step in STEPS)


def test_work_handed_in_again_is_graded_again(server):
    """A newer time of handing in makes grading the next step, and then feedback."""
    for name in ("submitted", "autograded", "feedback"):
        folder = server.course.directory / name / "ada" / "week0"
        folder.mkdir(parents=True)
        (folder / "timestamp.txt").write_text("2027-02-01 10:00:00 UTC\n")
    assert is_done(server, "grade", "week0") and is_done(server, "feedback", "week0")
    for name in ("submitted", "autograded"):
        (server.course.directory / name / "ada" / "week0" / "timestamp.txt").write_text("2027-02-01 12:00:00 UTC")
        assert not is_done(server, "grade" if name == "submitted" else "feedback", "week0")


def test_a_command_that_fails_ends_the_step(term, ran):
    """Nothing is released of what could not be made, and the exit code is the command's."""
    ran.failing = ("feedback",)
    assert "`autograder feedback week0` failed" in term("feedback", "week0", code=3)
    assert ran == ["autograder feedback week0"]


@pytest.mark.parametrize(
    ("words", "said"),
    [(("grade", "week9"), "there is no assignment 'week9'"), (("undo", "week0"), "there is no step 'undo'")],
)
def test_a_mistake_is_one_sentence(term, ran, words, said):
    """An unknown step or assignment is named, with those that there are."""
    assert said in term(*words, code=2).replace("\n", " ")
    assert not ran

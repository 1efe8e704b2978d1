"""The commands for a reader alone, as typed: grade, solution, and `minigrad` with nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from notebooks_by_hand import exercise, find, load, notebook, question, save
from typer.testing import CliRunner

from minigrad import exercises
from minigrad.cli import app
from minigrad.errors import MinigradError, UnknownExercise
from minigrad.exercises import paths, syllabus
from minigrad.machine import packages
from minigrad.machine.overrides import CUT
from minigrad.tutor import progressing
from minigrad.tutor.progressing import Done
from minigrad.working_folder import attempts, grader, naming, next_step, waiting
from minigrad.working_folder.finding import located

LESSON, ID = "00_fundamentals", "operators.comparison"
WRONG = f"""# exercise: {ID}
def lt(x, y):
    return 1.0 if x <= y else 0.0
def eq(x, y):
    return 1.0 if x == y else 0.0
def max(x, y):
    return x if x != x or x > y else y
def is_close(x, y):
    return 1.0 if abs(x - y) < 1e-2 else 0.0
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with one lesson as it was given out: an exercise and a question."""
    given = notebook(exercise(ID), question("why"))
    save(tmp_path / ".minigrad" / "base" / f"{LESSON}.ipynb", given)
    save(tmp_path / f"{LESSON}.ipynb", given)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def minigrad(*arguments, code=0):
    """Run the command line."""
    command = [sys.executable, "-m", "minigrad", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def rewrite(path, part, text):
    """Write another text into the cell that has a part."""
    book = load(path)
    find(book, part)["source"] = text
    save(path, book)


def checked(**values):
    """Note a check of the exercise."""
    progressing._change(ID, lambda _: Done(points=4.0, **{"checks": 1, **values}), None)


# --- grade ----------------------------------------------------------------------------------------------------


@pytest.mark.full("two notebooks are graded by the hidden tests, in processes of their own", share=32)
def test_two_attempts_are_graded(folder):
    """The class's own report on real answers; the second one says what it won; the page has both."""
    rewrite(folder / f"{LESSON}.ipynb", "# exercise", WRONG)
    first = minigrad("grade")
    assert "operators.comparison: 3.25 of 4 points" in first and "less than is <, not <=" in first
    rewrite(folder / f"{LESSON}.ipynb", "# exercise", WRONG.replace("<=", "<"))
    second = minigrad("grade", f"{LESSON}.ipynb")
    assert "operators.comparison: 3.25 → 4 of 4 points; won: order" in second
    following = "operators.arithmetic: `minigrad hint operators.arithmetic`, `minigrad solution operators.arithmetic`."
    assert f"together 3.25 of 34 points. Next: {following}" in first and "together 4 of 34 points. Next: " in second
    pages = folder / ".minigrad"
    assert (pages / "report.html").as_uri() in first
    assert first.startswith(f"Graded: {LESSON}.ipynb\n")
    assert progressing.read()[ID].graded == 2 and attempts.no_attempt(ID, folder) == ""
    page = pages / f"report-{LESSON}.html"
    assert page.as_uri() in second and "3.25 → 4 of 4 points; won: order" in page.read_text(encoding="utf-8")


def test_lessons_that_are_begun_are_graded(folder, monkeypatch):
    """By default they are those with an answer, and those that cannot be read, which the grader tells of."""
    ran = []
    monkeypatch.setattr(grader, "run", lambda *words: ran.append(words) or 0)
    assert "nothing is written yet" in _refused("grade") and "write an answer first" in _refused("grade")
    rewrite(folder / f"{LESSON}.ipynb", "# exercise", WRONG)
    (folder / "01_numerical_derivatives.ipynb").write_text("{")
    said = _printed("grade").splitlines()[-1]
    assert said.startswith("01_numerical_derivatives.ipynb is not a notebook that can be read; move it away, then")
    monkeypatch.chdir(folder.parent)
    _typed("grade", folder.name)
    for words in ran:
        assert [word.rpartition(os.sep)[2] for word in words if word.endswith(".ipynb")] == [
            f"{LESSON}.ipynb",
            "01_numerical_derivatives.ipynb",
        ]
        assert "--own" in words and "--asked" not in words


def test_the_grader_learns_what_the_path_asks_for(folder, monkeypatch):
    """It names the next exercise to mend, which is none that the path leaves out."""
    ran = []
    monkeypatch.setattr(grader, "run", lambda *words: ran.append(words) or 0)
    rewrite(folder / f"{LESSON}.ipynb", "# exercise", WRONG)
    paths.choose(folder, paths.named("weekend"))
    _typed("grade")
    asked = ran[0][ran[0].index("--asked") + 1].split(",")
    assert tuple(asked) == paths.named("weekend").exercises


def test_a_notebook_that_is_named_alone_has_a_page_of_its_own(folder, monkeypatch):
    """The page of the whole folder stays."""
    pages = []
    monkeypatch.setattr(grader, "run", lambda *words: pages.append(Path(words[words.index("--html") + 1]).name) or 0)
    rewrite(folder / f"{LESSON}.ipynb", "# exercise", WRONG)
    save(folder / "01_numerical_derivatives.ipynb", load(folder / f"{LESSON}.ipynb"))
    for typed in ([], ["."], [f"{LESSON}.ipynb"], [LESSON], [f"{LESSON}.ipynb", "01_numerical_derivatives.ipynb"]):
        _typed("grade", *typed)
    assert pages == ["report.html"] * 2 + [f"report-{LESSON}.html"] * 2 + ["report.html"]


def test_what_cannot_be_graded_is_said_before_the_work(folder, monkeypatch):
    """A file of another kind, a folder without lessons, and a folder that takes no report: the grader never begins."""
    monkeypatch.setattr(grader, "run", lambda *_: pytest.fail("the grader began"))
    (folder / "README.md").write_text("# Read me")
    (folder / "empty").mkdir()
    assert _refused("grade", "README.md").startswith("grade: README.md is not a notebook; name one")
    assert _refused("grade", "empty").startswith("grade: there is no lesson in ")
    rewrite(folder / f"{LESSON}.ipynb", "# exercise", WRONG)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "cannot be written to, where your reports are kept" in _refused("grade")


@pytest.mark.parametrize("command", ["grade", "solution"])
def test_without_the_grader_one_sentence_says_what_to_install(folder, monkeypatch, tmp_path, command):
    """Where it is missing the sentence has the line to type; the library of a class says that it has none."""
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda _: None)
    words = [command, *([ID] if command == "solution" else [])]
    assert f"{command}: the grader is not installed" in _refused(*words)
    assert "pip install -e '.[course]'" in _refused(*words)
    (tmp_path / "edition" / CUT).parent.mkdir()
    (tmp_path / "edition" / CUT).write_text("")
    monkeypatch.setattr(grader, "__file__", str(tmp_path / "edition" / "working_folder" / "grader.py"))
    assert "the library of a class has neither hidden tests nor answers" in _refused(*words)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no Ctrl-C to a group of processes")
def test_ctrl_c_is_the_programs_business():
    """Ctrl-C reaches the program that runs; what it does then is waited for, and its exit code is the command's."""
    child = "import signal, sys, time\nsignal.signal(signal.SIGINT, lambda *_: (time.sleep(0.5), sys.exit(7)))\n"
    child += "print('ready', flush=True)\ntime.sleep(60)"
    parent = f"import sys\nfrom {waiting.__name__} import run\nsys.exit(run([sys.executable, '-c', {child!r}]))"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", parent], start_new_session=True, **pipes) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)  # until the parent has come from starting to waiting
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (7, "")


def test_checks_and_progress_lead_to_the_hidden_tests(folder, monkeypatch):
    """They name the command where the grader is installed, and only there."""
    for command in ("check", "progress"):
        assert "`minigrad grade` runs" in minigrad(command, code=int(command == "check"))
    monkeypatch.setattr(packages, "has_grader", lambda: False)
    assert "minigrad grade" not in _printed("progress")


# --- solution -------------------------------------------------------------------------------------------------


def test_a_solution_is_for_those_who_have_tried(folder):
    """A stub, and an answer that nobody looked at, are no attempts; an answer that was checked or graded is one."""
    path = folder / f"{LESSON}.ipynb"
    assert "write an answer, save the notebook and check it" in attempts.no_attempt(ID, folder)
    checked()
    assert attempts.no_attempt(ID, folder).endswith("write one, or save the notebook if you have")
    rewrite(path, "# exercise", WRONG)
    assert attempts.no_attempt(ID, folder) == ""
    checked(checks=0)
    assert attempts.no_attempt(ID, folder) == (
        f"your answer to {ID} was neither checked nor graded: `minigrad check --exercise {ID}` checks it"
    )
    progressing.was_graded(ID, folder)
    assert attempts.no_attempt(ID, folder) == ""
    path.unlink()
    checked()
    assert attempts.no_attempt(ID, folder)


def test_a_model_answer_is_for_those_who_have_answered(folder):
    """Neither the text that was given out, nor an empty cell, nor a deleted one is an answer."""
    path = folder / f"{LESSON}.ipynb"
    assert "write it into 00_fundamentals.ipynb" in attempts.no_attempt("why", folder)
    rewrite(path, "My answer", "**My answer to the question `why`:**\n")
    assert attempts.no_attempt("why", folder)
    rewrite(path, "My answer", "**My answer to the question `why`:**\n\nBecause.")
    assert attempts.no_attempt("why", folder) == ""
    rewrite(path, "My answer", "Because, without the heading.")
    assert attempts.no_attempt("why", folder) == ""
    path.write_text("{")
    assert "not a notebook" in attempts.no_attempt("why", folder)


def test_what_there_is_not(folder):
    """An unknown name is a mistake, with the name that may be meant; without a folder nothing is known."""
    with pytest.raises(MinigradError, match=r"did you mean operators\.comparison\?"):
        naming.meant("operators.comparison_", folder)
    assert "no attempt is known" in attempts.no_attempt(ID, None)


def test_one_name_is_understood_by_all_commands(folder, monkeypatch):
    """The end of an id, or a function, if one exercise alone has it; a question is called one where it will not do."""
    assert naming.meant("permute", folder) == naming.meant("tensor_data.permute", folder) == "tensor_data.permute"
    assert naming.meant("is_close", None) == ID
    assert naming.meant("operators.mul", None) == "operators.arithmetic"
    assert naming.meant("why", folder) == "why"
    with pytest.raises(MinigradError, match=r"did you mean tensor_ops\.tensor_map or fast_ops\.tensor_map"):
        naming.meant("tensor_map", folder)
    for words in (["hint", "why"], ["check", "--exercise", "why"]):
        assert f"why is a question of lesson {LESSON}, and no exercise; `minigrad solution why`" in _refused(*words)
    for each in exercises.catalogue().values():  # and by the functions `check` and `hint`
        for name in (each.id, *each.objects, *(part.rpartition(".")[2] for part in (each.id, *each.objects))):
            try:
                found = naming.meant(name, None)
            except UnknownExercise:
                with pytest.raises(UnknownExercise, match="did you mean"):
                    syllabus.meant(name)
            else:
                assert syllabus.meant(name) == found
    monkeypatch.setattr(grader, "run", lambda *words: words[1] == "tensor_data.permute" or pytest.fail(words))
    assert _typed("solution", "permute", "--now") == 1
    assert "  minigrad solution operators.arithmetic\n" in _printed("solution")


def test_progress_remembers_how_a_solution_was_seen(folder, monkeypatch):
    """The refusal says how to ask anyway; the first time counts, also for a question; a failure is not noted."""
    codes = [3, 0, 0, 0]
    monkeypatch.setattr(grader, "run", lambda *_: codes.pop(0))
    assert f"`minigrad solution {ID} --now` shows the solution anyway" in _refused("solution", ID)
    assert _typed("solution", ID, "--now") == 3
    assert progressing.read() == {}
    _typed("solution", ID, "--now")
    rewrite(folder / f"{LESSON}.ipynb", "# exercise", WRONG)
    checked(solution=progressing.read()[ID].solution)
    _typed("solution", ID)
    assert progressing.read()[ID].solution == "on request"
    rewrite(folder / f"{LESSON}.ipynb", "My answer", "**My answer to the question `why`:**\n\nBecause.")
    _typed("solution", "why")
    assert progressing.read()["why"].solution == "after an attempt"
    assert progressing.progress().note.endswith("Solutions seen: 2, 1 before an attempt.")


@pytest.mark.full("a notebook is graded by the hidden tests, in a process of its own", share=4)
def test_a_solution_is_shown(folder):
    """The grader's own process prints the reference and its commentary."""
    said = minigrad("solution", ID, "--now")
    assert "return 1.0 if x < y else 0.0" in said and "eq compares identity" in said
    content = json.loads((folder / ".minigrad" / "progress.json").read_text())
    assert content["exercises"][ID]["solution"] == "on request"


# --- minigrad, and nothing else -------------------------------------------------------------------------------


def test_nothing_says_what_to_do_next(folder):
    """The next exercise, its lesson, the commands, and where all of them are."""
    said = minigrad()
    first = next(iter(exercises.catalogue().values()))
    assert f"Next: {first.id} in lesson {first.lesson}" in said
    for command in (f"minigrad check {LESSON}.ipynb", f"minigrad hint {first.id}", "minigrad lab .", "minigrad --help"):
        assert command in said
    assert "Commands" not in said and "Commands" in minigrad("--help")


def test_the_next_step_follows_progress(folder, monkeypatch):
    """What passes is left behind, an attempt opens the solution, and the last step is to use it all."""
    asked = [each for each in exercises.catalogue().values() if not each.draft]
    known = {asked[0].id: Done(passed=True), asked[1].id: Done(checks=2, hints=3)}
    monkeypatch.setattr(next_step, "read", lambda _: known)
    found = next_step.next_step()
    assert found.said.startswith(f"Next: {asked[1].id}") and "checked 2 times and not right yet" in found.said
    commands = [command for command, _ in found.commands]
    assert f"minigrad solution {asked[1].id}" in commands and not any("hint" in each for each in commands)
    lesson = [each.id for each in asked if each.lesson == LESSON]
    monkeypatch.setattr(progressing, "read", lambda *_: {id: Done(passed=True) for id in lesson})
    assert "minigrad grade" not in commands
    assert "minigrad grade" in [command for command, _ in next_step.next_step().commands]
    (folder / f"{LESSON}.ipynb").unlink()
    assert [command for command, _ in next_step.next_step().commands] == ["minigrad start ."]
    known |= {each.id: Done(passed=True) for each in asked}
    found = next_step.next_step()
    assert found.said.startswith(f"All {len(asked)} exercises") and found.commands[0][0] == "minigrad grade"
    monkeypatch.setattr(packages, "has_grader", lambda: False)
    assert next_step.next_step().commands[0][0] == "minigrad train --answers ."


def test_who_has_not_begun_begins(tmp_path, monkeypatch):
    """Without a working folder here, around or beside, the next step is to make one."""
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    assert next_step.next_step().commands[0][0] == "minigrad start"


def test_a_working_folder_is_found_whatever_it_is_called(tmp_path, monkeypatch):
    """From the folder around it, before any beside, and of two the one that was used last; from beside, it is named."""
    for name in ("there/beside", "there/here/my work", "there/here/old", "there/docs"):
        (tmp_path / name).mkdir(parents=True)
    for number, name in enumerate(("there/here/old", "there/here/my work", "there/beside")):
        save(tmp_path / name / f"{LESSON}.ipynb", notebook(exercise(ID)))
        (tmp_path / name / ".minigrad").mkdir()
        os.utime(tmp_path / name / ".minigrad", (number, number))
    monkeypatch.chdir(tmp_path / "there" / "here")
    assert next_step.next_step().commands[0][0] == "minigrad lab 'my work'"
    assert located(Path(LESSON), "check") == Path("my work", f"{LESSON}.ipynb")
    assert exercises.folder_here() == Path("my work")
    (tmp_path / "there" / "here" / "my work" / ".minigrad" / "progress.json").write_text("{}")
    (tmp_path / "there" / "here" / "newer" / ".minigrad").mkdir(parents=True)  # `minigrad start` made it just now
    assert next_step.next_step().commands[0][0] == "minigrad lab 'my work'"
    monkeypatch.chdir(tmp_path / "there" / "docs")
    assert next_step.next_step().commands[0][0] == "cd ../beside"


def _result(*words):
    """Run a command in this process."""
    result = CliRunner().invoke(app, list(words))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def _typed(*words):
    """Run a command in this process, and return its exit code."""
    return _result(*words).exit_code


def _printed(*words):
    """Run a command in this process, and return what it prints."""
    return _result(*words).output


def _refused(*words):
    """Run a command that refuses, and return its sentence."""
    with pytest.raises(MinigradError) as error:
        _typed(*words)
    return str(error.value)

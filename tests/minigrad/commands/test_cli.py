"""The command line `minigrad`, run as a student runs it."""

import io
import json
import os
import subprocess
import sys

import pytest

from minigrad import cli, exercises
from minigrad.errors import UnknownExercise
from minigrad.tutor import hints

SORT = """# exercise: autodiff.topological_sort
def topological_sort(variable):
    order, seen = [], set()
    stack = [(variable, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node.unique_id not in seen and not node.is_constant():
            seen.add(node.unique_id)
            stack.append((node, True))
            for parent in node.parents:
                stack.append((parent, False))
    return order[::-1]
"""


COMMANDS = [
    "start",
    "lab",
    "check",
    "grade",
    "solution",
    "hint",
    "progress",
    "use",
    "submit",
    "train",
    "exercises",
    "doctor",
]


WIDE = {**os.environ, "COLUMNS": "140"}


def minigrad(*arguments):
    """Run the command line."""
    command = [sys.executable, "-m", "minigrad", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def notebook(path, *sources):
    """Write a notebook with code cells."""
    cells = [{"cell_type": "code", "metadata": {}, "source": source.splitlines(True)} for source in sources]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    return path


def test_help_teaches():
    """`--help` names the commands and what they are for."""
    done = minigrad("--help")
    assert done.returncode == 0
    assert all(word in done.stdout for word in COMMANDS)


def test_a_command_without_the_grader_is_not_offered():
    """In a class's copy of the library `grade` and `solution` cannot work, so its help does not name them."""
    hide = "import sys; sys.modules['autograder'] = None\nimport importlib.util as u; find = u.find_spec\n"
    hide += "u.find_spec = lambda name, *more: None if name == 'autograder' else find(name, *more)\n"
    run = "from minigrad.cli import main; sys.argv = ['minigrad', '--help']; main()"
    done = subprocess.run([sys.executable, "-c", hide + run], capture_output=True, text=True, timeout=60)
    offered = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("│ ") and line[2] != " "]
    assert {"check", "hint", "submit"} <= set(offered)
    assert not {"grade", "solution"} & set(offered)


def test_a_hint_without_an_exercise_names_the_next(tmp_path, monkeypatch):
    """No error: the command to type, and where all exercises are listed. In a notebook the call is named."""
    monkeypatch.chdir(tmp_path)
    done = minigrad("hint")
    assert done.returncode == 0, done.stderr
    assert "  minigrad hint operators.arithmetic\n" in done.stdout and "minigrad exercises" in done.stdout
    with pytest.raises(UnknownExercise, match=r'The next one is operators.arithmetic: write hint\("operators'):
        hints.hint()


def test_drafts_are_not_listed():
    """Whose lesson is still being written is nothing to do yet."""
    drafts = [each.id for each in exercises.catalogue().values() if each.draft]
    shown = minigrad("exercises").stdout
    assert [id for id in drafts if id in shown] == []
    assert all(each.id in shown for each in exercises.catalogue().values() if not each.draft)


def test_exercises_are_listed():
    """Every exercise is listed with its lesson."""
    done = minigrad("exercises")
    assert done.returncode == 0
    assert "autodiff.topological_sort" in done.stdout
    assert "03_backprop" in done.stdout


def test_a_right_answer_exits_with_0(tmp_path):
    """A notebook whose checks all pass gives exit code 0."""
    done = minigrad("check", notebook(tmp_path / "a.ipynb", SORT))
    assert "all" in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_answer_exits_with_1(tmp_path):
    """A failing check gives exit code 1 and names the test."""
    wrong = SORT.replace("order[::-1]", "order")
    done = minigrad("check", notebook(tmp_path / "a.ipynb", wrong))
    assert done.returncode == 1
    assert "✗" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "nowhere.ipynb"], "no file 'nowhere.ipynb'"),
        (["train", "triangle"], "simple, diag, split"),
        pytest.param(
            ["use", "nowhere"], "no 'nowhere'", marks=pytest.mark.full("the command is started for each", share=12)
        ),
        pytest.param(
            ["progress", "nowhere"],
            "progress: there is no folder 'nowhere'",
            marks=pytest.mark.full("the command is started for each", share=12),
        ),
    ],
)
def test_a_mistake_is_one_sentence(arguments, says):
    """A user's mistake gives one sentence on stderr and exit code 2, never a traceback."""
    done = minigrad(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_is_no_notebook_is_one_sentence(tmp_path):
    """A file that is not JSON gives one sentence and exit code 2."""
    broken = tmp_path / "broken.ipynb"
    broken.write_text("no notebook")
    done = minigrad("check", broken)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "broken.ipynb is not a notebook" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sign"),
    [
        pytest.param(["check"], "✗", marks=pytest.mark.full("a lesson is checked", share=12)),
        (["progress"], "░"),
    ],
)
def test_files_and_pipes_get_utf_8(tmp_path, arguments, sign):
    """Where output has an encoding without the signs of reports, as in files on Windows, it is written in UTF-8."""
    path = notebook(tmp_path / "03_backprop.ipynb", SORT.replace("order[::-1]", "order"))
    command = [sys.executable, "-m", "minigrad", *arguments, *([path] if arguments == ["check"] else [])]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "COLUMNS": "120"}  # room for a bar
    done = subprocess.run(command, capture_output=True, timeout=60, env=environment, cwd=tmp_path)
    assert done.stderr == b""
    assert sign in done.stdout.decode()


def test_a_terminal_without_a_sign_shows_a_question_mark(monkeypatch):
    """A terminal keeps its encoding, and what it cannot show ends nothing."""

    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    stream = Terminal(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", None)  # as in a program without a console on Windows
    cli.take_any_text()
    stream.write("é ✗")
    stream.flush()
    assert stream.buffer.getvalue() == "é ?".encode("cp1252")


def test_an_error_shows_the_students_line(tmp_path):
    """What the student's code raises is quoted from the cell, not from the notebook's file."""
    wrong = SORT.replace("order, seen = [], set()", "order, seen = [], set() + 1")
    done = minigrad("check", notebook(tmp_path / "a.ipynb", "x = 1", wrong))
    assert done.returncode == 1
    assert "in your line `order, seen = [], set() + 1`" in " ".join(done.stdout.split())


def test_an_unknown_exercise_suggests_one(tmp_path):
    """A misspelt id is answered with ids that look alike."""
    done = minigrad("check", notebook(tmp_path / "a.ipynb", SORT), "--exercise", "autodiff.toplogical_sort")
    assert done.returncode == 2
    assert "did you mean autodiff.topological_sort" in done.stderr


def test_use_says_where_each_answer_comes_from(tmp_path):
    """`use` prints one line for each exercise: yours, or the reference."""
    notebook(tmp_path / "a.ipynb", SORT)
    done = minigrad("use", tmp_path)
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["autodiff.topological_sort"] == "yours, from a.ipynb"
    assert lines["autodiff.backpropagate"] == "reference"


def test_train_reports_progress():
    """`train` ends with the loss and the number of points on the right side."""
    done = minigrad("train", "simple", "--epochs", "3", "--points", "10")
    assert done.returncode == 0
    assert "epoch     3" in done.stdout


def test_magic_checks_and_refuses(monkeypatch):
    """`%minigrad check ID` returns the report; a bad line is a sentence."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    from minigrad.commands.magics import register
    from minigrad.errors import MinigradError

    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # which a shell takes for its own
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))  # no file that outlives the test
    register(shell)
    shell.user_ns.clear()
    report = shell.run_line_magic("minigrad", "check autodiff.topological_sort")
    assert not report.passed
    with pytest.raises(MinigradError, match="write `%minigrad use`"):
        shell.run_line_magic("minigrad", "fly")


@pytest.mark.full("the command is started fifteen times", share=12)
def test_a_path_is_followed(tmp_path):
    """`start --path` is remembered: what is next, progress and checks ask for its exercises alone; "all" goes back."""
    done = minigrad("start", tmp_path / "work", "--path", "weekend")
    assert done.returncode == 0, done.stderr
    assert "Path weekend: 27 exercises, about " in done.stdout
    lessons = "Its lessons: 00, 01, 02, 03, 04, "
    assert lessons in done.stdout
    marked = [line.split("│")[1].strip() for line in done.stdout.splitlines() if "not on your path" in line]
    assert {"08_gpu", "11_compiler"} < set(marked) and "03_backprop" not in marked

    def said(*arguments):
        command = [sys.executable, "-m", "minigrad", *arguments]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path / "work", env=WIDE)
        assert not run.stderr
        return run.stdout

    assert (
        "Next: operators.elementary in lesson 00_fundamentals (about 25 minutes, difficulty 2 of 5, core; 0 of 27"
        in (said())
    )
    assert lessons in said()
    progress = said("progress")
    assert lessons in progress
    assert "0/27" in progress and "08_gpu" not in progress and 'Your path is "A weekend' in progress
    checked = said("check")
    assert "operators.elementary" in checked and "operators.folds" not in checked and "08_gpu" not in checked
    assert "3 more" in checked and "not on your path" in checked
    assert "3 more" in (alone := said("check", "07_parallel_cpu.ipynb")) and "fast_ops" not in alone
    assert "fast_ops.tensor_map: 0 of 1" in said("check", "--exercise", "fast_ops.tensor_map")
    assert "difficulty 1 of 5, more; it is not on your path." in said("hint", "operators.folds")
    assert "difficulty 2 of 5, core." in said("hint", "operators.elementary")
    assert "Path weekend" in (again := said("start")) and again.count("not on your path") == len(marked)
    assert "not on your path" not in said("start", "--path", "all", "--dry-run")
    assert "ath" not in said("start", "--path", "all")
    assert "Its lessons" not in said()
    assert "0/101" in said("progress") and "operators.folds" in said("check", "00_fundamentals.ipynb")


def test_a_path_that_is_not_there_copies_nothing(tmp_path):
    """One sentence lists the paths that are, and no folder is made."""
    done = minigrad("start", tmp_path / "work", "--path", "week")
    assert (done.returncode, (tmp_path / "work").exists()) == (2, False)
    assert done.stderr == "minigrad: start: there is no path 'week'; choose one of: weekend, term, poem, all\n"

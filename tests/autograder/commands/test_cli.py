"""The command line grades, verifies and builds; a user's mistake is one sentence and an honest exit code."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import nbformat
import pytest
from processes import descendants, until
from rich.text import Text
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.cli import app

TWO_FACTS = '''
import pytest
from autograder import expect


def observe(mg, x, y):
    return [mg.operators.lt(x, y), mg.operators.eq(x, y)]


@pytest.mark.exercise("operators.comparison", group="order", because="lesson 01: lt compares")
def test_lt(student):
    """lt says whether x is less."""
    expect([student(observe, x, 2.0)[0] for x in (1.0, 3.0)], [1.0, 0.0], misconception="not-less")


@pytest.mark.exercise("operators.comparison", group="order", because="lesson 01: eq compares")
def test_eq(student):
    """eq says whether x is y."""
    expect([student(observe, x, 2.0)[1] for x in (1.0, 2.0)], [0.0, 1.0], misconception="not-equal")
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory, root):
    return make_course(tmp_path_factory.mktemp("cli"), root)


@pytest.fixture
def run(place):
    """Run a command against the small course."""

    def invoke(command, *arguments, code=0):
        options = ["--course", str(place)]
        if command in ("build", "grade", "verify") and "--hidden" not in arguments:
            options += ["--hidden", str(place.parent / "hidden")]
        result = CliRunner().invoke(app, [command, *map(str, arguments), *options], env={"COLUMNS": "200"})
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return Text.from_ansi(result.output).plain

    return invoke


@pytest.fixture
def notebook(place, tmp_path):
    """A student's notebook of the first lesson with a wrong `add`."""
    released = nbformat.read(place.parent / "notebooks" / "00_numbers.ipynb", as_version=4)
    cell = next(cell for cell in released.cells if cell.source.startswith("# exercise"))
    cell.source = ARITHMETIC.replace("x + y", "x - y")
    path = tmp_path / "00_numbers.ipynb"
    nbformat.write(released, path)
    return path


def test_grade_prints_the_report(run, notebook):
    """Grading one file prints points, reasons and the total; lost points are not an error."""
    output = run("grade", notebook)
    assert "operators.arithmetic: 1 of 3 points" in output
    assert "got -41412.25" in output
    assert output.strip().endswith("00_numbers: 1 of 3 points")


@pytest.mark.full("commands are started", share=4)
def test_files_and_pipes_get_utf_8(notebook, place):
    """Where output has an encoding without the signs of reports, as in files on Windows, it is written in UTF-8."""
    quiet = "from autograder.commands import showing; showing.EVERY = math.inf"  # no progress on a slow machine
    program = [sys.executable, "-c", f"import math; {quiet}; from autograder.cli import main; main()"]
    program += ["grade", notebook, "--course", place, "--hidden", place.parent / "hidden"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(program, capture_output=True, env=environment, check=True)
    assert "✗" in done.stdout.decode() and done.stderr == b""


def test_grade_as_json(run, notebook):
    """--json prints the result and nothing else."""
    data = json.loads(run("grade", notebook, "--json"))
    assert (data["lesson"], data["earned"], data["points"]) == ("00_numbers", 1, 3)


def test_grade_as_html(run, notebook, tmp_path):
    """--html writes a page beside the printed report."""
    run("grade", notebook, "--html", tmp_path / "report.html")
    assert "1 of 3 points" in (tmp_path / "report.html").read_text()


def test_grade_finds_the_lesson_by_the_cells(run, notebook, tmp_path):
    """A file of any name is recognised by its cells; --lesson decides otherwise."""
    other = notebook.rename(tmp_path / "my answer.ipynb")
    assert "00_numbers: 1 of 3" in run("grade", other)
    assert "01_order: 0 of 4" in run("grade", other, "--lesson", "01_order")


def test_grade_uses_kept_results_only_if_it_may(run, notebook, place):
    """Results are kept in the course's directory; --fresh runs again."""
    run("grade", notebook)
    records = list((place / ".grades").rglob("*.json"))
    for record in records:
        record.write_text(record.read_text().replace("got -41412.25", "KEPT"))
    assert "KEPT" in run("grade", notebook)
    assert "KEPT" not in run("grade", notebook, "--fresh")
    for record in records:
        record.unlink()


def test_an_unreadable_notebook_is_reported(run, notebook):
    """A notebook cut off in its first cell prints its report, with the reason, and ends with exit code 2."""
    notebook.write_bytes(notebook.read_bytes()[:60])
    output = run("grade", notebook, code=2)
    assert "cut off" in output
    assert "00_numbers: 0 of 3 points" in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "nowhere.ipynb"], "there is no such file"),
        (["grade", "empty.ipynb"], "the file is empty"),
        (["grade", "foreign.ipynb"], "name its lesson by --lesson"),
        (["grade", "foreign.ipynb", "--lesson", "99_none"], "the lessons are 00_numbers, 01_order"),
        (["verify", "no.such"], "there is no exercise 'no.such'; "),
        (["verify", "operators.arithmetik"], "did you mean operators.arithmetic?"),
        (["explain", "ada", "operators.arithmetik"], "did you mean operators.arithmetic?"),
        (["regrade", "--diff", "--exercise", "operators.arithmetik"], "did you mean operators.arithmetic?"),
        (["edition", "--out", "out", "--date", "yesterday"], "--date"),
        (["grade"], "Missing argument"),
    ],
)
def test_mistakes_of_usage(run, tmp_path, monkeypatch, arguments, words):
    """A wrong name, file or option is one sentence and exit code 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.ipynb").write_text("")
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "foreign.ipynb")
    assert words in run(*arguments, code=2)


def test_no_sandbox(run, notebook, monkeypatch):
    """Without a sandbox grading stops with exit code 3 and says where to look."""
    monkeypatch.setattr("autograder.sandbox.isolation._try", lambda backend: "not on this machine")
    assert "autograder doctor" in run("grade", notebook, "--fresh", code=3)


def test_an_unknown_isolation(run, notebook):
    """A kind of sandbox that does not exist is wrong usage; those that exist are named."""
    assert "bubblewrap" in run("grade", notebook, "--isolation", "bogus", code=2)


@pytest.mark.parametrize("command", ["build", "grade", "verify", "edition"])
def test_ctrl_c(run, notebook, tmp_path, monkeypatch, command):
    """Ctrl-C ends a command with one line, which says that nothing is in the way, and exit code 130."""

    def stopped(*_args, **_options):
        raise KeyboardInterrupt

    module = command if command in ("grade", "verify") else "course"
    monkeypatch.setattr(f"autograder.commands.{module}.load_course", stopped)
    words = {"grade": [notebook], "edition": ["--out", tmp_path]}.get(command, [])
    assert run(command, *words, code=130).strip() == "stopped; the same command can be given again"


@pytest.mark.full("commands are interrupted, or write to files of every kind", share=16)
def test_ctrl_c_while_processes_work(place):
    """Ctrl-C reaches the processes of `verify` too; none of them shows a traceback."""
    command = [sys.executable, "-c", "from autograder.cli import main; main()", "verify", "--fresh", "--jobs", "2"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True
    )
    assert until(lambda: len(descendants(process.pid)) >= 2), "no processes work"
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in said and "stopped" in said


@pytest.mark.full("commands are started where a package is missing", share=16)
@pytest.mark.parametrize("words", [["doctor"], ["build"], ["grade", "a.ipynb", "--isolation", "none"], ["demo"]])
@pytest.mark.parametrize("package", ["hypothesis", "cloudpickle", "pytest"])
def test_a_missing_package(words, package):
    """Without the grader's packages a command says how to install them, with exit code 2."""
    code = f"import sys; sys.modules['{package}'] = None; from autograder.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert package in done.stderr and "pip install -e '.[course]'" in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1


def plain(*words, code=0):
    """Run a command as it is typed, without naming a course."""
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "300"})
    assert result.exit_code == code, result.output
    return Text.from_ansi(result.output).plain


@pytest.mark.full("a course is built twice, and two editions are made", share=4)
def test_the_current_folders_course_is_meant(place, monkeypatch):
    """A course.toml in the current folder, or in `course` below it, is the course that is built, and is named."""
    for folder in (place, place.parent):
        monkeypatch.chdir(folder)
        assert "course.toml: 0 files written" in plain("build", "--quick")
        assert "2 of 2 exercises cut" in plain("edition", "--out", folder / "elsewhere")


def test_a_folder_without_a_course(tmp_path, monkeypatch):
    """Where there is no course nothing is built: one sentence, exit code 2."""
    monkeypatch.chdir(tmp_path)
    assert f"{tmp_path}: has no course.toml" in plain("build", "--quick", code=2)
    assert f"{tmp_path}: has no course.toml" in plain("build", "--course", tmp_path, code=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full("a course is copied, built and graded", share=12)
def test_a_copy_of_a_course(root, place, notebook, tmp_path, monkeypatch):
    """A course apart from any library uses the installed one, leaves it as it is, and builds beside itself."""
    copy = tmp_path / "anywhere" / "my-course"
    copy.mkdir(parents=True)
    shutil.copy(place / "course.toml", copy)
    shutil.copytree(place / "lessons", copy / "lessons")
    before = (root / "src" / "minigrad" / "course.json").read_bytes()
    monkeypatch.chdir(copy)
    hidden = place.parent / "hidden"
    assert "course.toml: 7 files written" in plain("build", "--hidden", hidden)
    assert (root / "src" / "minigrad" / "course.json").read_bytes() == before
    assert [path.name for path in copy.parent.iterdir()] == ["my-course"]
    assert "00_numbers: 1 of 3 points" in plain("grade", notebook, "--hidden", hidden)
    assert "2 of 2 exercises cut" in plain("edition", "--out", tmp_path / "class")
    assert json.loads((tmp_path / "class" / "minigrad" / "course.json").read_text())["version"] == "1"


def test_a_broken_hidden_test(run, notebook, place, tmp_path):
    """A hidden test at fault is named, with exit code 3."""
    text = (place.parent / "hidden" / "test_operators.py").read_text()
    (tmp_path / "test_operators.py").write_text(text.replace('because="lesson 00: add adds"', ""))
    output = CliRunner().invoke(
        app, ["grade", str(notebook), "--course", str(place), "--hidden", str(tmp_path)], env={"COLUMNS": "200"}
    )
    assert output.exit_code == 3
    assert "test_add: has no because=" in output.output


@pytest.mark.full("known answers are judged", share=4)
def test_verify_prints_table_and_problems(run, place, tmp_path):
    """Problems are listed under the table, and make the exit code 1."""
    output = run("verify", "--answers", tmp_path, "--jobs", "1", code=1)
    assert "operators.comparison: has 0 known-wrong answers" in output
    assert "2 exercises, 3 hidden tests, 0 wrong answers, 0 variants: " in output


@pytest.mark.full("known answers are judged", share=4)
def test_verify_says_when_all_is_well(run, tmp_path, monkeypatch):
    """Without problems the exit code is 0."""
    monkeypatch.setattr("autograder.course.loading._proof", lambda _: {"fewest_wrong": 1, "fewest_variants": 1})
    half = COMPARISON.replace("1.0 if x < y", "0.0 if x < y")
    for name, text in {"wrong": half, "variants": COMPARISON}.items():
        folder = tmp_path / name / "operators.comparison"
        folder.mkdir(parents=True)
        (folder / "not-less.py").write_text(f'"""A mistake."""\n{text}')
    hidden = tmp_path / "test_operators.py"
    hidden.write_text(TWO_FACTS)
    output = run("verify", "operators.comparison", "--answers", tmp_path, "--hidden", tmp_path, code=1)
    assert "test_eq could be deleted unnoticed" in output
    (tmp_path / "wrong" / "operators.comparison" / "not-equal.py").write_text(
        f'"""A mistake."""\n{COMPARISON.replace("1.0 if x == y", "0.0 if x == y")}'
    )
    output = run("verify", "operators.comparison", "--answers", tmp_path, "--hidden", tmp_path, code=1)
    assert "run `autograder verify --record`" in output
    output = run("verify", "operators.comparison", "--answers", tmp_path, "--hidden", tmp_path, "--record")
    assert "1 exercise, 2 hidden tests, 2 wrong answers, 1 variant: all is well" in output


def test_build_twice(run, place):
    """A build checks stub and reference by the hidden tests, and a second one changes nothing."""
    assert "0 files written" in run("build")
    assert "0 files written" in run("build", "--quick")


def test_build_says_how_far_it_is(run, monkeypatch):
    """While stubs and references are graded, `build` says which exercise it is at, and how many are done."""
    monkeypatch.setattr("autograder.commands.showing.EVERY", 0)
    output = run("build")
    assert "operators.arithmetic: 0 of 4" in output and "operators.comparison: 4 of 4" in output


def test_build_refuses_a_reference_that_loses_points(run, place):
    """A reference that its own hidden tests reject is refused, and nothing is written."""
    hidden = place.parent / "hidden" / "test_operators.py"
    text = hidden.read_text()
    hidden.write_text(text.replace("41416.25", "0.5"))
    try:
        assert "the reference earns 1" in run("build", code=2)
    finally:
        hidden.write_text(text)


def test_edition(run, tmp_path):
    """The class's library has no answer that is not open yet."""
    output = run("edition", "--out", tmp_path / "class", "--date", "2027-02-01")
    assert "2 of 2 exercises cut" in output
    assert 'ExerciseNotDone("operators.arithmetic")' in (tmp_path / "class" / "minigrad" / "operators.py").read_text()
    run("edition", "--out", tmp_path / "class", "--date", "2027-02-02")


def test_an_edition_replaces_nothing_else(run, place, tmp_path, monkeypatch):
    """From the folder above a clone, `--out .` would replace the clone: it is refused, with exit code 2."""
    (tmp_path / "minigrad" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert "minigrad is no edition" in run("edition", "--out", ".", code=2)
    assert "own sources" in run("edition", "--out", place.parent / "src", code=2)
    assert [path.name for path in (tmp_path / "minigrad").iterdir()] == [".git"]


def test_doctor(run):
    """The doctor names the isolation of this machine."""
    assert "isolation: " in run("doctor")


def test_another_grader_of_that_name_is_told(run, tmp_path, monkeypatch):
    """PyPI has a package `autograder`; installed beside this one it replaces its script and some of its files."""
    installed = tmp_path / "autograder-3.7.7.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: autograder\nVersion: 3.7.7\n")
    monkeypatch.syspath_prepend(tmp_path)
    said = run("doctor", code=1)
    assert "autograder 3.7.7 of PyPI is another grader" in said
    assert "pip uninstall autograder" in said


def test_doctor_of_a_class(run):
    """--class names what is well and what is wrong with its fix, and ends with 1 if anything is wrong."""
    said = run("doctor", "--class", code=1)
    assert "ok    kernel: python3" in said
    assert re.search("wrong exchange: .*/exchange lies beside the answers; name a folder elsewhere", said)


def test_help_teaches():
    """Help has an example for every command and names the exit codes."""
    done = subprocess.run(
        [sys.executable, "-c", "from autograder.cli import main; main()", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "autograder grade 03_backprop.ipynb" in done.stdout
    assert "Exit codes" in done.stdout
    for command in ("build", "grade", "verify", "edition", "doctor"):
        assert f"autograder {command}" in CliRunner().invoke(app, [command, "--help"]).output

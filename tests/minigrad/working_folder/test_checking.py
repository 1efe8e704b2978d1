"""`minigrad check`: a process of its own for each notebook, what does not end, and what is printed."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from notebooks_by_hand import code, exercise, load, notebook, save

from minigrad import exercises
from minigrad.commands.checking import _chosen
from minigrad.errors import MinigradError
from minigrad.tutor import progressing
from minigrad.working_folder import checking, starting
from minigrad.working_folder.finding import located

ADD = "def add(x, y):\n    return x + y\n\n\ndef mul(x, y):\n    return x * y\n\n\ndef neg(x):\n    return -1.0 * x"
STUBS = "def add(x, y):\n    raise NotImplementedError()\n\n\ndef mul(x, y):\n    raise NotImplementedError()"
ARITHMETIC = "operators.arithmetic"
LAMBDA = "derivatives.central_difference"


def answered(id, text):
    """The cell of an exercise with an answer."""
    cell = exercise(id)[0]
    cell["source"] = f"# exercise: {id}\n{text}"
    return cell


@pytest.fixture
def work(tmp_path):
    starting.start(tmp_path / "work")
    return tmp_path / "work"


def minigrad(*arguments, cwd, columns=140):
    command = [sys.executable, "-m", "minigrad", *map(str, arguments)]
    variables = {**os.environ, "COLUMNS": str(columns)}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=cwd, env=variables)


def one(tmp_path, *cells):
    return save(tmp_path / "a.ipynb", notebook(*cells))


def reports(path, *ids, seconds=20.0):
    checked = checking.check_notebook(path, ids, seconds)
    return {report.exercise: report for report in checked.reports}, checked.remarks


@pytest.mark.full("every lesson of a folder is checked", share=48)
def test_a_narrow_terminal_has_whole_ids(work):
    """What one types for a hint can be read off the table in 80 columns; in fewer a name goes on in the next line."""
    shown = minigrad("check", cwd=work, columns=80).stdout
    for name in (*exercises.catalogue(), *(f"{each.lesson}.ipynb" for each in exercises.catalogue().values())):
        assert f" {name} " in shown
    assert "not begun" in shown


@pytest.mark.parametrize(
    "columns",
    [
        40,
        pytest.param(60, marks=pytest.mark.full("each command is started in wider terminals", share=12)),
        pytest.param(80, marks=pytest.mark.full("each command is started in wider terminals", share=12)),
    ],
)
@pytest.mark.parametrize("command", ["exercises", "progress", "doctor"])
def test_no_table_cuts_a_name(command, columns, work):
    """Whatever the width, each name of the course is there, letter by letter."""
    shown = minigrad(command, cwd=work, columns=columns).stdout
    assert "…" not in shown
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if line[:1] == "│"]
    whole = ["".join(column) for column in zip(*cells, strict=True)]
    asked = [] if command == "doctor" else exercises.catalogue().values()
    for each in asked:
        assert each.lesson in whole[0] and (command == "progress" or each.id in whole[0])


@pytest.mark.full("the command is started nine times", share=12)
def test_only_the_folder_at_hand_is_read(work, monkeypatch):
    """A lesson that was deleted here is not taken from a folder beside, and each report names the file it is of."""
    starting.start(work.parent / "other")
    (work / "02_chain_rule.ipynb").unlink()
    monkeypatch.chdir(work)
    for command in ("check", "grade"):
        for name in ("02", "02_chain_rule", "02_chain_rule.ipynb"):
            done = minigrad(command, name, cwd=work)
            assert done.returncode == 2
            assert f"there is no {'file ' * name.endswith('b')}{name!r}; did you mean ../other/02" in done.stderr
    for words in (["03"], ["03", "--all"], ["../other/02_chain_rule.ipynb"]):
        named = {"03": "03_backprop.ipynb"}.get(words[0], words[0])
        assert f" {named} " in f" {minigrad('check', *words, cwd=work).stdout}".replace("\n", " ")


def test_no_lesson_of_somebody_else_is_meant(work, monkeypatch):
    """From the folder around the student's own, what lies beside that folder is not looked at."""
    starting.start(work.parent / "course" / "work")
    (work.parent / "course" / "work" / "02_chain_rule.ipynb").unlink()
    monkeypatch.chdir(work.parent / "course")
    done = minigrad("check", "02", cwd=work.parent / "course")
    assert done.returncode == 2
    assert done.stderr == "minigrad: check: there is no '02'; your lessons are in work\n"


def test_a_named_lesson_has_its_table(work):
    """A row for each exercise, then the report of each that is begun, also if all of it is right."""
    solved(work / "00_fundamentals.ipynb", ARITHMETIC, f"# exercise: {ARITHMETIC}\n{ADD}")
    done = minigrad("check", "00_fundamentals.ipynb", cwd=work, columns=80)
    table, _, reports = done.stdout.partition("together")
    assert f" {ARITHMETIC} " in table and "not begun" in table
    assert f"{ARITHMETIC}: all 4 checks pass" in reports
    assert "operators.folds" not in reports


def test_nothing_is_run_for_what_is_not_begun(work, monkeypatch):
    """A lesson as it was given out has its report without a process, and the report is that of its check."""
    from minigrad.commands import checking as command

    path = work / "03_backprop.ipynb"
    ran, _ = reports(path, "mlp.SGD")
    monkeypatch.setattr(checking, "_one_process", lambda *_: pytest.fail("a process was started"))
    monkeypatch.chdir(work)
    (checked,) = command._check_all([path], "mlp.SGD", 20.0)
    assert [(each.exercise, each.results) for each in checked.reports] == [("mlp.SGD", ran["mlp.SGD"].results)]
    (checked,) = command._check_all([path], None, 20.0)
    assert [each.exercise for each in checked.reports] == [
        each.id for each in exercises.catalogue().values() if each.lesson == "03_backprop"
    ]


def test_answers_are_checked_in_another_process(tmp_path):
    """What the cells do to their process does nothing to this one; reports come back whole."""
    path = one(
        tmp_path, code("import sys\nsys.modules['minigrad'].spoilt = 1", tags=["setup"]), answered(ARITHMETIC, ADD)
    )
    found, remarks = reports(path, ARITHMETIC)
    assert found[ARITHMETIC].passed
    assert found[ARITHMETIC].results[0].title.startswith("Add and mul")
    assert remarks == []
    assert not hasattr(sys.modules["minigrad"], "spoilt")


def test_a_cell_without_an_end_is_left_out(tmp_path):
    """It is named with a sentence, and the other cells are checked."""
    loop = answered("operators.folds", "while True:\n    pass")
    found, remarks = reports(one(tmp_path, loop, answered(ARITHMETIC, ADD)), "operators.folds", ARITHMETIC, seconds=1.0)
    assert found[ARITHMETIC].passed
    assert not found["operators.folds"].passed
    assert len(remarks) == 1
    assert "the cell of operators.folds was left out: it was still running after 1 s: does its loop end?" in remarks[0]


@pytest.mark.full("a lesson is checked in a process of its own", share=24)
def test_a_check_without_an_end_is_stopped(tmp_path, monkeypatch):
    """Also where the answer catches whatever is thrown at it: its process ends, and the next exercise is checked."""
    stubborn = ADD.replace(
        "return x + y", "while True:\n        try:\n            while True: pass\n        except BaseException: pass"
    )
    path = one(
        tmp_path, answered(ARITHMETIC, stubborn), answered(LAMBDA, "def central_difference(f, *v, arg=0): return 0")
    )
    monkeypatch.setenv("PYTHONPATH", str(patched(tmp_path)))
    found, _ = reports(path, ARITHMETIC, LAMBDA, seconds=5.0)
    (result,) = found[ARITHMETIC].results
    assert result.reason == "the check was still running after 5 s: does its loop end?"
    assert len(found[LAMBDA].results) > 1


def test_half_a_line_is_the_end(recwarn):
    """A process that is stopped while it writes has said what came before."""
    lines = checking._lines(io.BytesIO(b'{"check": "a"}\n{"check'))
    assert [lines.get(timeout=5), lines.get(timeout=5)] == [{"check": "a"}, None]


def patched(tmp_path):
    """A folder that makes the other process allow a check no time of its own."""
    folder = tmp_path / "site"
    folder.mkdir()
    text = "from minigrad.checks import runner\nrunner.SECONDS = runner.SLOW_SECONDS = 0.0\n"
    (folder / "sitecustomize.py").write_text(text)
    return folder


@pytest.mark.full("a lesson is checked in several processes", share=12)
def test_an_answer_that_ends_python(tmp_path):
    """In a cell and in a check: a sentence, and the rest is checked."""
    ends = answered("operators.folds", "import os\nos._exit(3)")
    later = answered(LAMBDA, "import os\ndef central_difference(f, *v, arg=0, epsilon=1e-6): os._exit(0)")
    path = one(tmp_path, ends, answered(ARITHMETIC, ADD), later)
    found, remarks = reports(path, "operators.folds", LAMBDA, ARITHMETIC)
    assert "it ended Python, instead of coming to its own end" in remarks[0]
    assert found[LAMBDA].results[0].reason == "the check ended Python, instead of coming to its own end"
    assert found[ARITHMETIC].passed


def test_modules_beside_a_notebook_can_be_imported(tmp_path):
    """As in Jupyter; and one that is called like a module of Python's own does no harm."""
    (tmp_path / "mine.py").write_text("TWO = 2.0\n")
    (tmp_path / "queue.py").write_text("raise RuntimeError\n")
    text = "import mine\n" + ADD.replace("x + y", "x + y + mine.TWO - 2.0")
    found, remarks = reports(one(tmp_path, answered(ARITHMETIC, text)), ARITHMETIC)
    assert remarks == []
    assert found[ARITHMETIC].passed


def test_what_cells_print_is_no_message(tmp_path):
    """Neither lines that look like messages nor an error of a cell confuse the two processes."""
    noise = code('import os\nprint({"end": True})\nos.write(1, b"{\\"end\\": 1}\\n")', tags=["setup"])
    found, remarks = reports(one(tmp_path, noise, code("1 / 0", tags=["setup"]), answered(ARITHMETIC, ADD)), ARITHMETIC)
    assert found[ARITHMETIC].passed
    assert remarks == ["a.ipynb: the cell that begins with '1 / 0' was left out: ZeroDivisionError: division by zero"]


# --- the command ----------------------------------------------------------------------------------------------


@pytest.mark.full("every lesson of a folder is checked", share=48)
def test_all_lessons_of_the_folder_are_checked(work):
    """Without a name: a row for each exercise, points together, details of what is begun and wrong; exit code 1."""
    book = load(work / "00_fundamentals.ipynb")
    for cell in book["cells"]:
        text = "".join(cell["source"])
        if text.startswith(f"# exercise: {ARITHMETIC}"):
            cell["source"] = f"# exercise: {ARITHMETIC}\n{ADD}"
        if text.startswith("# exercise: operators.folds"):
            cell["source"] = text.replace("raise NotImplementedError()", "return 0.0")
    save(work / "00_fundamentals.ipynb", book)
    done = minigrad("check", cwd=work)
    assert done.returncode == 1, done.stderr
    rows = {cells[0].strip(): cells for line in done.stdout.splitlines() if len(cells := line.split("│")[1:]) > 2}
    assert [each.strip() for each in rows[ARITHMETIC][1:3]] == ["4 of 4", "3 of 3"]
    assert rows["mlp.SGD"][1].strip() == "not begun"
    assert rows["together"][1].strip() == f"1 of {len(exercises.catalogue())} pass"
    assert "07b_what_a_loop_costs.ipynb" in rows
    assert "operators.folds: 0 of 3 checks pass" in done.stdout or "operators.folds: 1 of 3" in done.stdout
    assert "mlp.SGD:" not in done.stdout
    assert "not isolated" in done.stdout
    known = progressing.read(work)
    assert known[ARITHMETIC].passed
    assert known[ARITHMETIC].checks == 1
    assert "mlp.SGD" not in known


def test_json_says_everything(tmp_path):
    """Plain data on stdout and nothing else: points, each check, and that nothing isolated the code."""
    path = one(
        tmp_path, answered(ARITHMETIC, ADD), answered(LAMBDA, "def central_difference(f, *v, arg=0): return 0.0")
    )
    done = minigrad("check", path, "--json", cwd=tmp_path)
    assert done.returncode == 1
    content = json.loads(done.stdout)
    assert (content["passed"], content["isolated"], content["points"] > 3.0, content["of"]) == (
        False,
        False,
        False,
        9.0,
    )
    first, second = content["exercises"]
    assert (first["id"], first["passed"], first["points"]) == (ARITHMETIC, True, 3.0)
    assert any(each["hint"] for each in second["checks"])
    assert minigrad("check", path, "--exercise", ARITHMETIC, "--json", cwd=tmp_path).returncode == 0


@pytest.mark.full("a lesson is checked in a process of its own", share=24)
def test_all_shows_every_report(work):
    """--all prints what a notebook would, also for what is not begun."""
    done = minigrad("check", "--all", cwd=work)
    assert done.returncode == 1
    assert done.stdout.count("not written yet") == len(exercises.catalogue())


def test_where_there_is_no_lesson(tmp_path):
    """One sentence and exit code 2."""
    done = minigrad("check", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no lesson in this folder" in done.stderr


@pytest.mark.full("every lesson of a folder is checked", share=48)
def test_from_the_folder_around_the_lessons(work):
    """Whoever types the commands one after the other never goes into my-notebooks: it is found, and so is progress."""
    around = work.parent / "around"
    assert minigrad("start", "my-notebooks", cwd=make(around)).returncode == 0
    book = load(around / "my-notebooks" / "00_fundamentals.ipynb")
    for cell in book["cells"]:
        if "".join(cell["source"]).startswith(f"# exercise: {ARITHMETIC}"):
            cell["source"] = f"# exercise: {ARITHMETIC}\n{ADD}"
    save(around / "my-notebooks" / "00_fundamentals.ipynb", book)
    done = minigrad("check", "--json", cwd=around)
    assert [each["id"] for each in json.loads(done.stdout)["exercises"] if each["passed"]] == [ARITHMETIC]
    assert "1/7" in minigrad("progress", cwd=around).stdout
    minigrad("hint", "mlp.SGD", cwd=around)
    assert progressing.read(around / "my-notebooks")["mlp.SGD"].hints == 1
    assert "hint 2 of 3" in minigrad("hint", "mlp.SGD", cwd=around).stdout


def make(folder):
    folder.mkdir()
    return folder


@pytest.mark.full("every lesson of a folder is checked", share=48)
def test_a_folder_may_be_named(work):
    """Its lessons are checked, as a table; one without lessons is named in the sentence."""
    done = minigrad("check", work.name, cwd=work.parent)
    assert done.returncode == 1
    assert f"0 of {len(exercises.catalogue())} pass" in done.stdout
    done = minigrad("check", make(work / "empty"), cwd=work)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no lesson in " in done.stderr and "empty" in done.stderr


def test_a_cell_that_is_no_python_is_named(tmp_path):
    """By its exercise; and what is said of the missing function does not speak of running cells."""
    path = one(tmp_path, answered(ARITHMETIC, "def add(x, y)\n    return x + y"))
    found, remarks = reports(path, ARITHMETIC)
    assert remarks == [f"a.ipynb: the cell of {ARITHMETIC} was left out: SyntaxError: expected ':' (line 2)"]
    (result,) = found[ARITHMETIC].results
    assert result.reason == "add, mul, neg must be defined in a.ipynb, in a cell that runs to its end"


@pytest.mark.full("a lesson is checked twice, in processes of its own", share=12)
def test_what_an_answer_prints_comes_below_the_report(tmp_path):
    """Also from the other process, and for programs."""
    path = one(tmp_path, answered(ARITHMETIC, ADD.replace("return x + y", "print('adding', x)\n    return x + y")))
    shown = minigrad("check", path, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "Your code printed, at the end:\n  adding" in shown.stdout
    (each,) = json.loads(minigrad("check", path, "--json", cwd=tmp_path).stdout)["exercises"]
    assert each["printed"].startswith("adding")


def test_a_report_in_a_terminal_names_the_command(tmp_path):
    """The hint is got by typing what is said."""
    path = one(tmp_path, answered(ARITHMETIC, ADD.replace("x + y", "x - y")))
    last = minigrad("check", path, cwd=tmp_path).stdout.splitlines()[-1]
    assert last == f"minigrad hint {ARITHMETIC} gives a nudge"


@pytest.mark.full("a lesson is checked in each form", share=12)
@pytest.mark.parametrize(
    "top", ["%%time\n# exercise: {}", "#exercise: {}", "# Exercise: {}", "# my try\n\n# exercise: {}"]
)
def test_a_cell_is_found_whatever_stands_above_its_mark(top, tmp_path):
    """A wrong answer is not passed over."""
    path = one(tmp_path, code(f"{top.format(ARITHMETIC)}\n{ADD.replace('x + y', 'x - y')}"), answered(LAMBDA, "pass"))
    done = minigrad("check", path, "--json", cwd=tmp_path)
    assert [each["id"] for each in json.loads(done.stdout)["exercises"]] == [ARITHMETIC, LAMBDA]


def test_a_deleted_cell_is_missing(work):
    """A lesson without one of its cells does not pass."""
    book = load(work / "03_backprop.ipynb")
    book["cells"] = [each for each in book["cells"] if "# exercise: mlp.SGD" not in "".join(each["source"])]
    save(work / "03_backprop.ipynb", book)
    done = minigrad("check", "03_backprop.ipynb", cwd=work)
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert "SGD must be defined in 03_backprop.ipynb, where the cell of this exercise is missing" in said
    assert "a new cell that begins with `# exercise: mlp.SGD`; or move the notebook away, and `minigrad start`" in said


def test_an_answer_in_the_notebook_of_another_lesson(work):
    """It brings no points where a grader does not look, and a sentence says where it belongs."""
    book = load(work / "00_fundamentals.ipynb")
    book["cells"].append(answered(LAMBDA, "def central_difference(f, *v, arg=0): return 0.0"))
    save(work / "00_fundamentals.ipynb", book)
    done = minigrad("check", "00_fundamentals.ipynb", "--json", cwd=work)
    content = json.loads(done.stdout)
    assert LAMBDA not in [each["id"] for each in content["exercises"]]
    assert content["remarks"] == [
        f"00_fundamentals.ipynb: {LAMBDA} belongs to 01_numerical_derivatives.ipynb; it is not graded here"
    ]


@pytest.mark.parametrize(
    ("text", "given_out"),
    [
        (STUBS, True),
        ("def add(x, y):\n    return 7.0\n\n\ndef mul(x, y):\n    raise NotImplementedError()", False),
        (ADD.replace("return x + y", "return x + y  # raise NotImplementedError()"), False),
        (STUBS.replace("NotImplementedError()", "NotImplementedError"), True),
        (STUBS.replace("raise", "if x > 0.0:\n        return x\n    raise"), True),
        (STUBS.replace("NotImplementedError()", "NotImplementedError('not for complex numbers')"), False),
        (STUBS.replace("raise", "return x\n    raise"), False),  # what is out of reach may stay
        ("def add(x, y)", False),
    ],
)
def test_what_is_begun(text, given_out, tmp_path):
    """One function of several is a beginning; the old line in a comment is none of the stub's."""
    path = one(tmp_path, answered(ARITHMETIC, text))
    assert checking.not_begun(ARITHMETIC, path) is given_out
    assert not checking.not_begun("mlp.SGD", path)  # its cell was deleted


@pytest.mark.parametrize("name", ["03_backprop.ipynb", "03_backprop", "03", "03_b"])
@pytest.mark.parametrize("here", [".", "beside", "my-notebooks", "my-notebooks/deeper"])
def test_a_lesson_is_found_from_the_folders_around(name, here, tmp_path, monkeypatch):
    """A lesson that is named alone is found as `minigrad.use` and `minigrad progress` find it."""
    starting.start(tmp_path / "my-notebooks")
    (tmp_path / here).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / here)
    assert located(Path(name), "check").resolve() == tmp_path / "my-notebooks" / "03_backprop.ipynb"
    assert str(located(Path(name), "check"))[:1] != "/"


@pytest.mark.parametrize("here", [".", "module0"])
def test_fetched_assignments_are_checked(tmp_path, monkeypatch, here):
    """A class's assignment is a folder in the folder of `minigrad lab`: found from both."""
    starting.start(tmp_path / "module0")
    (tmp_path / "module0" / ".minigrad").rename(tmp_path / ".minigrad")
    monkeypatch.chdir(tmp_path / here)
    chosen = _chosen([], None)
    assert {path.resolve().parent for path in chosen} == {tmp_path / "module0"}


def test_where_the_lessons_are_is_said(tmp_path, monkeypatch):
    """A file that is not there, or a folder without lessons, is one sentence that names the place to go to."""
    starting.start(tmp_path / "my-notebooks")
    monkeypatch.chdir(make(tmp_path / "beside"))
    for path in ("mine.ipynb", "there/03_backprop.ipynb"):
        with pytest.raises(MinigradError, match=rf"^check: there is no file '{path}'; .*../my-notebooks"):
            located(Path(path), "check")
    done = minigrad("check", cwd=tmp_path / "beside")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"there is no lesson in this folder; your lessons are in {tmp_path / 'my-notebooks'}" in done.stderr


# --- which notebooks are meant ----------------------------------------------------------------------------------


def solved(path, id, text):
    """Put an answer into the cell of an exercise, over the line that names it too."""
    book = load(path)
    (cell,) = [each for each in book["cells"] if f"# exercise: {id}" in "".join(each["source"])]
    cell["source"] = text
    return save(path, book)


@pytest.mark.full("a lesson is checked twice, in processes of its own", share=12)
def test_one_exercise_is_looked_for_in_its_lesson(work):
    """Without a name, or in a folder that is named: no other lesson is said to lack it, nor is that noted."""
    solved(work / "00_fundamentals.ipynb", ARITHMETIC, f"# exercise: {ARITHMETIC}\n{ADD}")
    for place in ([], [work]):
        done = minigrad("check", *place, "--exercise", ARITHMETIC, "--json", cwd=work)
        assert done.returncode == 0, done.stdout + done.stderr
        (only,) = json.loads(done.stdout)["exercises"]
        assert (only["id"], only["passed"]) == (ARITHMETIC, True)
        assert progressing.read(work)[ARITHMETIC].passed
    (work / "00_fundamentals.ipynb").unlink()
    done = minigrad("check", "--exercise", ARITHMETIC, cwd=work)
    assert (done.returncode, done.stderr) == (
        2,
        f"minigrad: check: {ARITHMETIC} belongs to 00_fundamentals.ipynb, which is not there; "
        "name the notebook that has it\n",
    )


@pytest.mark.full("a lesson is checked in a process of its own", share=24)
def test_another_lesson_that_is_named_is_no_progress(work):
    """It is checked as asked, but what it lacks is not noted; what stands in a notebook that is no lesson is."""
    solved(work / "00_fundamentals.ipynb", ARITHMETIC, f"# exercise: {ARITHMETIC}\n{ADD}")
    minigrad("check", "--exercise", ARITHMETIC, cwd=work)
    before = progressing.read(work)[ARITHMETIC]
    done = minigrad("check", "03_backprop.ipynb", "--exercise", ARITHMETIC, cwd=work)
    assert done.returncode == 1
    assert "the cell of this exercise is missing" in " ".join(done.stdout.split())
    assert progressing.read(work)[ARITHMETIC] == before
    one(work, answered(ARITHMETIC, ADD.replace("x + y", "x - y")))
    assert minigrad("check", "a.ipynb", cwd=work).returncode == 1
    assert not progressing.read(work)[ARITHMETIC].passed


def test_minitorch_stands_alone(tmp_path):
    """What is typed beside it is not passed over in silence."""
    done = minigrad("check", "a.ipynb", "--minitorch", tmp_path, "--exercise", ARITHMETIC, "--all", cwd=tmp_path)
    said = "minigrad: check: --minitorch checks a folder and nothing else; leave out a.ipynb, --exercise, --all\n"
    assert (done.returncode, done.stderr) == (2, said)


# --- answers that were pasted over the whole cell ---------------------------------------------------------------


def test_an_answer_over_the_whole_cell_is_found(work):
    """nbgrader's metadata say what the cell is for, as they do to a grader."""
    path = solved(work / "00_fundamentals.ipynb", ARITHMETIC, f"%%time\n{ADD}")
    assert exercises.placed_in(path)[0] == ARITHMETIC
    assert not checking.not_begun(ARITHMETIC, path)
    found, remarks = reports(path, ARITHMETIC)
    assert found[ARITHMETIC].passed
    assert remarks == []
    assert exercises.namespace_of(path)["add"](1.0, 2.0) == 3.0  # as `use` reads it
    solved(work / "00_fundamentals.ipynb", "operators.folds", "def prod(")
    _, remarks = reports(path, "operators.folds")
    assert remarks[0].startswith("00_fundamentals.ipynb: the cell of operators.folds was left out: SyntaxError")


def test_only_the_solution_of_an_exercise_is_found_by_metadata(tmp_path):
    """Neither a check, nor a cell that nbgrader calls something else, nor one with a mark of its own."""
    cells = [*exercise(ARITHMETIC), exercise("other.one")[0], exercise(LAMBDA)[0], exercise("mlp.SGD")[0]]
    for cell in (cells[0], cells[2]):
        cell["source"] = "x = 1"
    cells[3]["metadata"]["nbgrader"]["solution"], cells[3]["source"] = False, "y = 2"
    cells[4]["source"] = "# exercise: mlp.Linear\nz = 3"
    path = one(tmp_path, *cells)
    assert exercises.answer_cells(path) == [f"# exercise: {ARITHMETIC}\nx = 1", "# exercise: mlp.Linear\nz = 3"]


@pytest.mark.parametrize("text", ["", f"# exercise: {ARITHMETIC}\n", "# I tried\n\n"])
def test_a_cell_that_was_emptied_is_not_begun(text, work):
    """No answer is in it, whether or not its mark is left."""
    assert checking.not_begun(ARITHMETIC, solved(work / "00_fundamentals.ipynb", ARITHMETIC, text))


def test_limits_are_of_work(tmp_path):
    """A cell that waits longer than it may work is no loop: here it waits by sleeping, elsewhere for a processor."""
    waits = answered(ARITHMETIC, f"import time\ntime.sleep(2.5)\n{ADD}")
    found, remarks = reports(one(tmp_path, waits), ARITHMETIC, seconds=1.0)
    assert remarks == []
    assert found[ARITHMETIC].passed


@pytest.mark.full("a lesson is checked in a process of its own", share=24)
def test_what_waits_for_nothing_is_stopped(tmp_path):
    """A cell that sleeps for ever is stopped after a few times as long."""
    found, remarks = reports(one(tmp_path, answered(ARITHMETIC, "import time\ntime.sleep(600)")), ARITHMETIC, seconds=1)
    assert "it was still running after 1 s" in remarks[0]
    assert not found[ARITHMETIC].passed


@pytest.mark.full("a lesson is checked in a process of its own", share=24)
def test_compiling_is_no_work(tmp_path):
    """A cell that compiles for longer than a cell may work is run to its end."""
    compiles = (
        "import time\nimport numba\nfrom numba.core import event\n"
        "with event.trigger_event('numba:compile'):\n"
        "    until = time.process_time() + 2.5\n    while time.process_time() < until: pass\n"
    )
    cells = code("import numba", tags=["setup"]), answered(ARITHMETIC, compiles + ADD)
    found, remarks = reports(one(tmp_path, *cells), ARITHMETIC, seconds=1.0)
    assert remarks == []
    assert found[ARITHMETIC].passed


@pytest.mark.full("a lesson is checked in a process of its own", share=24)
def test_a_notebook_that_cannot_be_read(tmp_path):
    """It is named in the end, with exit code 2, and hides none of the others, in a table and as data."""
    save(tmp_path / "00_fundamentals.ipynb", notebook(answered(ARITHMETIC, ADD)))
    (tmp_path / "01_numerical_derivatives.ipynb").write_text("{broken")
    sentence = "01_numerical_derivatives.ipynb is not a notebook that can be read"
    sentence += f"; move it away, then `minigrad start {tmp_path}` gives a fresh copy"
    shown = minigrad("check", tmp_path, cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (2, f"minigrad: {sentence}\n")
    assert re.search(rf"{ARITHMETIC} +│ 4 of 4 ", shown.stdout)
    data = minigrad("check", tmp_path, "--json", cwd=tmp_path)
    found = json.loads(data.stdout)
    assert (data.returncode, found["unreadable"], found["passed"]) == (2, [sentence], False)
    assert found["exercises"][0]["passed"]
    alone = minigrad("check", tmp_path / "01_numerical_derivatives.ipynb", cwd=tmp_path)
    assert (alone.returncode, alone.stderr, alone.stdout) == (2, f"minigrad: {sentence}\n", "")


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "-" * 100_000 + "1",
        *(
            pytest.param(text, marks=pytest.mark.full("a lesson is checked with each text", share=12))
            for text in (
                "x = " + "+".join(["1"] * 300_000),
                "x = a" + ".b" * 300_000,
                "if a: pass\n" + "elif a: pass\n" * 40_000,
                "x = " + "(" * 3000 + ")" * 3000,
                "x = " + "9" * 5000,
            )
        ),
        "x = 1\0",
        "x = '\ud800'",
        "def f(x, x): pass",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_a_text_that_python_cannot_read_is_begun(text, work):
    """Whatever compiling it raises, the answer is not as it was given out, and its cell alone is left out."""
    assert not checking.is_as_given(ARITHMETIC, f"# exercise: {ARITHMETIC}\n{text}")
    path = solved(work / "00_fundamentals.ipynb", ARITHMETIC, f"{ADD}\n{text}")
    (report,) = checking.check_notebook(path, [ARITHMETIC]).reports
    assert not report.passed

"""`minigrad check`: a process of its own for each notebook, what does not end, and what is printed."""

import json
import os
import subprocess
import sys

import pytest
from notebooks_by_hand import code, exercise, load, notebook, save

from minigrad import checking, progressing, starting

ADD = "def add(x, y):\n    return x + y\n\n\ndef mul(x, y):\n    return x * y\n\n\ndef neg(x):\n    return -1.0 * x"
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


def minigrad(*arguments, cwd):
    command = [sys.executable, "-m", "minigrad", *map(str, arguments)]
    variables = {**os.environ, "COLUMNS": "140"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=cwd, env=variables)


def one(tmp_path, *cells):
    return save(tmp_path / "a.ipynb", notebook(*cells))


def reports(path, *ids, seconds=20.0):
    checked = checking.check_notebook(path, ids, seconds)
    return {report.exercise: report for report in checked.reports}, checked.remarks


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
    assert "a cell was left out: it was still running after 1 s: does its loop end?" in remarks[0]
    assert "'# exercise: operators.folds'" in remarks[0]


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


def patched(tmp_path):
    """A folder that makes the other process allow a check no time of its own."""
    folder = tmp_path / "site"
    folder.mkdir()
    text = "from minigrad.checks import runner\nrunner.SECONDS = runner.SLOW_SECONDS = 0.0\n"
    (folder / "sitecustomize.py").write_text(text)
    return folder


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
    assert remarks == ["a.ipynb: a cell was left out: ZeroDivisionError: division by zero"]


# --- the command ----------------------------------------------------------------------------------------------


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
    rows = {cells[1].strip(): cells for line in done.stdout.splitlines() if len(cells := line.split("│")[1:]) > 3}
    assert [each.strip() for each in rows[ARITHMETIC][2:4]] == ["4 of 4", "3 of 3"]
    assert rows["mlp.SGD"][2].strip() == "not begun"
    assert "1 of 17 pass" in rows
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
        7.0,
    )
    first, second = content["exercises"]
    assert (first["id"], first["passed"], first["points"]) == (ARITHMETIC, True, 3.0)
    assert any(each["hint"] for each in second["checks"])
    assert minigrad("check", path, "--exercise", ARITHMETIC, "--json", cwd=tmp_path).returncode == 0


def test_all_shows_every_report(work):
    """--all prints what a notebook would, also for what is not begun."""
    done = minigrad("check", "--all", cwd=work)
    assert done.returncode == 1
    assert done.stdout.count("not written yet") == 17


def test_where_there_is_no_lesson(tmp_path):
    """One sentence and exit code 2."""
    done = minigrad("check", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no lesson in this folder" in done.stderr

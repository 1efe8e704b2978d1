"""Progress: what is recorded, where, and what is shown of it."""

import datetime as dt
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from minigrad import exercises
from minigrad.checks import CheckReport, CheckResult
from minigrad.tutor import keeping, progressing
from minigrad.tutor.progressing import Done
from minigrad.working_folder import reviewing
from minigrad.working_folder.cards import Card

ID = "autodiff.chain_rule"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder, in which the current one lies deep."""
    (tmp_path / ".minigrad").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    monkeypatch.setattr(keeping, "_said", set())
    return tmp_path


def report(*passed, id=ID):
    """A report with checks that passed or did not."""
    return CheckReport(id, exercises.get(id).points, tuple(CheckResult("It works.", each) for each in passed))


def test_a_check_is_recorded(folder):
    """The last result counts: whether it passed, its points, how often, and when; hints stay."""
    progressing.record(report(True, False))
    progressing.saw_hint(ID, 2)
    known = progressing.read()[ID]
    assert (known.passed, known.earned, known.points, known.checks, known.hints) == (False, 2.5, 5.0, 1, 2)
    progressing.record(report(True, True))
    known = progressing.read()[ID]
    assert (known.passed, known.earned, known.checks, known.hints) == (True, 5.0, 2, 2)
    assert known.last.endswith("+00:00")
    progressing.record(report(False))
    assert not progressing.read()[ID].passed


def test_check_records_and_a_grader_does_not(folder, monkeypatch, capsys):
    """`check` in a notebook notes its result, but not in a grader's sandbox; running a test alone never does."""
    exec(f"check({ID!r})", {"check": minigrad.check})
    assert progressing.read()[ID].checks == 1
    monkeypatch.setenv("MINIGRAD_SANDBOX", "1")
    exec(f"check({ID!r})", {"check": minigrad.check})
    assert progressing.read() == {}
    monkeypatch.delenv("MINIGRAD_SANDBOX")
    assert progressing.read()[ID].checks == 1
    minigrad.checks.run(ID, {})
    assert progressing.read()[ID].checks == 1


def test_without_a_working_folder_nothing_is_written(tmp_path, monkeypatch):
    """No `.minigrad` above: no file anywhere, and the table says how to get one."""
    monkeypatch.chdir(tmp_path)
    progressing.record(report(True))
    assert list(tmp_path.rglob("*")) == []
    assert progressing.working_folder() is None
    assert "`minigrad start` makes a working folder" in repr(minigrad.progress())


def test_the_nearest_folder_counts(folder):
    """A folder within a working folder may be one of its own."""
    assert progressing.working_folder() == folder.resolve()
    (folder / "a" / ".minigrad").mkdir()
    progressing.record(report(True))
    assert not (folder / ".minigrad" / "progress.json").exists()
    assert (folder / "a" / ".minigrad" / "progress.json").is_file()


DAMAGED = ["", "[]", '{"exercises": [1]}', '{"exercises": {"a": 1}}', "\x00" * 50]
DAMAGED += [
    f'{{"exercises": {{"a": {{"points": 2, {part}}}}}}}'
    for part in ('"earned": NaN', '"earned": 1e99', '"earned": -1', '"live": "yesterday"', '"live": "2026-01-01"')
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_set_aside(folder, content, capsys):
    """It is kept under another name, one sentence says so, and a new one begins."""
    path = folder / ".minigrad" / "progress.json"
    path.write_text(content)
    progressing.record(report(True))
    assert progressing.read()[ID].checks == 1
    (aside,) = path.parent.glob("progress-damaged-*.json")
    assert aside.read_text() == content
    said = capsys.readouterr()
    sentence = f"The file of your progress could not be read: it is kept as {aside.name}, and a new one begins.\n"
    assert said.out == sentence
    assert said.err == ""


def kept_parts(folder):
    """A file with two exercises, a prediction and a card, as the library writes it."""
    progressing.record(report(True))
    progressing.record(report(False, id="functions.arithmetic"))
    minigrad.predict("steps-skipped", 13)
    reviewing.answered(Card("a/1", "", "", str), folder, dt.date(2026, 2, 1), known=True)
    return folder / ".minigrad" / "progress.json"


def test_one_record_that_is_none_costs_itself(folder, capsys):
    """The others stay, those of other parts too; the file as it was is kept, and one sentence says so."""
    path = kept_parts(folder)
    damaged = path.read_text().replace('"checks": 1', '"checks": "many"', 1)
    path.write_text(damaged)
    capsys.readouterr()
    assert list(progressing.read()) == ["functions.arithmetic"]
    (aside,) = path.parent.glob("progress-damaged-*.json")
    assert aside.read_text() == damaged
    sentence = f"The file of your progress is damaged: it is kept as {aside.name}, and what can be read of it stays.\n"
    assert capsys.readouterr().out == sentence
    progressing.record(report(True))
    assert list(progressing.read()) == ["functions.arithmetic", ID]
    assert list(reviewing._CARDS.read(folder)) == ["a/1"]
    assert minigrad.tutor.predicting._known("steps-skipped").value == [13]
    assert len(list(path.parent.glob("progress-damaged-*.json"))) == 1


@pytest.mark.parametrize(("cut", "lost"), [('"graded": 0', 3), ('"a/1": {', 1), (" }\n}\n", 0)])
def test_the_beginning_of_a_file_that_ends_too_early_stays(folder, cut, lost, capsys):
    """Each record that is whole is kept, in its part."""
    path = kept_parts(folder)
    whole = json.loads(path.read_text())
    text = path.read_text()
    path.write_text(text[: text.rindex(cut) + len(cut) // 2])
    assert progressing.read()[ID] == Done(**whole["exercises"][ID])
    left = json.loads(path.read_text())
    for part in whole.keys() - {"version"}:
        assert left.get(part, {}).items() <= whole[part].items()
    missing = sum(len(whole[part]) - len(left.get(part, {})) for part in whole.keys() - {"version"})
    assert missing == lost, left
    assert "what can be read of it stays" in capsys.readouterr().out


def test_a_file_that_cannot_be_read_is_left(folder, monkeypatch, capsys):
    """A disk that fails for a moment damages no file: one sentence each says so, and nothing is moved or written."""
    progressing.record(report(True))
    path = folder / ".minigrad" / "progress.json"
    content, read_bytes = path.read_text(), Path.read_bytes

    def failing(self):
        if self.name == "progress.json":
            raise PermissionError(13, "Permission denied")
        return read_bytes(self)

    monkeypatch.setattr(Path, "read_bytes", failing)
    assert progressing.read() == progressing.read() == {}
    progressing.record(report(True))
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    sentences = ("could not be read: Permission denied.\n", f"could not be noted in {path}: Permission denied.\n")
    said = capsys.readouterr().out
    assert [said.count(each) for each in sentences] == [1, 1]
    assert path.read_text() == content
    assert list(path.parent.glob("progress-damaged-*")) == []


def test_fields_of_a_later_version_do_no_harm(folder):
    """What is unknown is passed over, and what is missing has its default."""
    path = folder / ".minigrad" / "progress.json"
    path.write_text(json.dumps({"version": 2, "exercises": {ID: {"checks": 3, "mood": "good"}}}))
    assert progressing.read() == {ID: Done(checks=3)}


def test_two_kernels_lose_nothing(folder):
    """Two processes that record at once both count."""
    code = (
        "from minigrad.tutor import progressing\n"
        "from minigrad.checks import CheckReport, CheckResult\n"
        f"report = CheckReport({ID!r}, 5.0, (CheckResult('x', True),))\n"
        "for _ in range(25): progressing.record(report)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [each.wait(timeout=120) for each in running] == [0, 0, 0]
    assert progressing.read()[ID].checks == 75


def test_a_place_that_cannot_be_written_costs_no_check(folder, monkeypatch, capsys):
    """A full disk is one sentence, said once; the check goes on."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keeping, "write", full)
    progressing.record(report(True))
    progressing.record(report(True))
    assert capsys.readouterr().out.count("No space left on device") == 1


def test_the_table_counts(folder):
    """Done are those whose last check passed; points are the checks' share of today's points."""
    progressing.record(report(True))
    progressing.record(report(True, False, id="functions.arithmetic"))
    progressing.saw_hint("functions.arithmetic", 3)
    progress = minigrad.progress()
    row = next(each for each in progress.lessons if each.lesson == "02_chain_rule")
    assert (row.done, row.exercises, row.earned, row.points, row.checks, row.hints) == (1, 6, 8.0, 30.0, 2, 3)
    assert progress.total.earned == 8.0
    assert progress.total.exercises == sum(not each.draft for each in exercises.catalogue().values())
    assert "02_chain_rule" in repr(progress)
    assert all(each.lesson[:2].isdigit() for each in progress.lessons)


def test_the_page_can_be_read_aloud(folder):
    """Heads have a scope, each bar says its share in words, and no text has a colour of its own."""
    progressing.record(report(True))
    html = minigrad.progress()._repr_html_()
    lessons = minigrad.progress().lessons
    assert html.count('<th scope="row"') == len(lessons) + 1
    assert 'aria-label="17 percent of the points"' in html
    assert html.count("aria-label=") == len(lessons) + 1
    assert "color:#" not in html


def test_a_narrow_terminal_has_whole_names(folder):
    """In 80 columns each lesson has one line, and its name: the bar goes, the share stays."""
    command = [sys.executable, "-m", "minigrad", "progress", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "COLUMNS": "80"})
    rows = [line for line in done.stdout.splitlines() if "│" in line]
    assert all("%" in row for row in rows) and len(rows) == len(progressing.progress(folder).lessons) + 1
    assert "01_numerical_derivatives" in done.stdout and "…" not in done.stdout


def test_the_command_prints_the_table(folder):
    """`minigrad progress` shows lessons, points and a bar; a folder can be named."""
    progressing.record(report(True))
    done = subprocess.run(
        [sys.executable, "-m", "minigrad", "progress", str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder.parent,
        env={**os.environ, "COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stderr
    assert "1/6" in done.stdout
    assert "5/30" in done.stdout
    assert "17%" in done.stdout


def test_a_kernel_records_and_shows_progress(folder):
    """In Jupyter a check notes its result in the folder of the notebook; hint and progress are shown as HTML."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat is missing: pip install nbformat")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is missing: pip install nbclient")
    sources = (f"import minigrad\nminigrad.check({ID!r})", "minigrad.progress()")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder / "a")}})
    client.execute()
    checked, shown = (cell.outputs[0].data for cell in notebook.cells)
    assert "chain_rule must be defined in this notebook" in checked["text/html"]
    assert progressing.read()[ID].checks == 1
    assert progressing.read()[ID].live
    assert '<table class="minigrad-progress"' in shown["text/html"]

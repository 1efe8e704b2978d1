"""Predictions: what is kept, when it counts, and that a notebook runs without any."""

import json

import numpy as np
import pytest

import minigrad
from minigrad.errors import MinigradError
from minigrad.tutor import predicting


@pytest.fixture(autouse=True)
def fresh_session(monkeypatch):
    monkeypatch.setattr(predicting, "_session", {})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder, which is the current one."""
    (tmp_path / ".minigrad").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *arguments, **named):
    assert minigrad.predict(*arguments, **named) is None
    return capsys.readouterr().out


def test_a_prediction_is_kept_and_answered(folder, capsys):
    """The value lies in the folder; the truth is said beside it, and both are counted."""
    assert said(capsys, "blocks-for-ten", (3, 1)) == "Kept: 3, 1. Run the next cells, and see.\n"
    assert said(capsys, "blocks-for-ten", truth=(3, 2)) == "You predicted 3, 1. It is 3, 2.\n"
    assert said(capsys, "steps-skipped", 13) and said(capsys, "steps-skipped", truth=13).endswith("It is 13: right.\n")
    kept = json.loads((folder / ".minigrad" / "progress.json").read_text())["predictions"]
    assert kept["blocks-for-ten"]["value"] == [3, 1] and kept["blocks-for-ten"]["truth"] == [3, 2]
    assert kept["steps-skipped"]["right"] is True
    assert predicting.counted() == (1, 2)
    assert "Predictions: 1 of 2 right." in minigrad.progress().note


def test_without_a_prediction_nothing_happens(folder, capsys):
    """The cell as it is given out says what is asked for; the answer to it says nothing, and nothing is written."""
    assert said(capsys, "blocks-for-ten", ...) == (
        "To predict, in the place of the three dots: blocks, the thread of element 6 in its block "
        "(a number each, as (..., ...)).\n"
    )
    assert said(capsys, "blocks-for-ten", truth=(3, 2)) == ""
    assert list((folder / ".minigrad").iterdir()) == []
    assert "Predictions" not in minigrad.progress().note


def test_the_first_answered_prediction_counts(folder, capsys):
    """Before the answer a prediction may be changed, after it no more."""
    said(capsys, "steps-skipped", 1)
    said(capsys, "steps-skipped", 2)
    assert said(capsys, "steps-skipped", truth=13) == "You predicted 2. It is 13.\n"
    assert "that one counts" in said(capsys, "steps-skipped", 13)
    assert said(capsys, "steps-skipped", truth=13) == "You predicted 2. It is 13.\n"
    assert predicting.counted() == (0, 1)


def test_without_a_folder_the_session_remembers(tmp_path, monkeypatch, capsys):
    """In a browser or beside the course the answer comes too, and no file is made."""
    monkeypatch.chdir(tmp_path)
    said(capsys, "steps-skipped", 13)
    assert said(capsys, "steps-skipped", truth=13) == "You predicted 13. It is 13: right.\n"
    assert list(tmp_path.iterdir()) == []


NEAR = [
    ("five-questions", (7, -0.6667, 1, 3, 8), (7, -2 / 3, 1, 3, 8), True),
    ("five-questions", (7, 0.6667, 1, 3, 8), (7, -2 / 3, 1, 3, 8), False),
    ("five-questions", (7, -0.6, 1, 3, 8), (7, -2 / 3, 1, 3, 8), False),
    ("one-loop-for-nine", 10.5, 8.0, True),
    ("one-loop-for-nine", 10.5, 5.0, False),
    ("shapes-together", [7, 2, 3, 5], (7, 2, 3, 5), True),
    ("product-and-sum", (6, 11), np.array([6.0, 11.0]), True),
    ("to-bfloat16", (1.0078125, 1, 1), np.array([1.0078125, 1.0, 1.0], np.float32), True),
    ("folds-of-nothing", (0, 1), (0.0, 1), True),
    ("folds-of-nothing", (1e-9, 1), (0.0, 1), False),
    ("six-loops", [False, False, True, True, True, True], [np.bool_(i > 1) for i in range(6)], True),
    ("six-loops", [False, False, True, True, True, False], [i > 1 for i in range(6)], False),
    ("first-gradient", "b", "B", True),
    ("a-bias-of-one", "an error", "an error", True),
    ("a-bias-of-one", "wrong gradients", "an error", False),
]


@pytest.mark.parametrize(("id", "value", "truth", "right"), NEAR)
def test_near_enough(id, value, truth, right, folder, capsys):
    """Numbers have a tolerance where the true one is measured; words and truth values are equal or not."""
    said(capsys, id, value)
    assert said(capsys, id, truth=truth).endswith(": right.\n") is right
    assert predicting.counted() == (int(right), 1)


MISSHAPEN = [("blocks-for-ten", 3), ("blocks-for-ten", "three blocks"), ("six-loops", (True, 2, 3, 4, 5, 6))]
MISSHAPEN += [("first-gradient", "both"), ("steps-skipped", None), ("steps-skipped", (1, 2))]


@pytest.mark.parametrize(("id", "value"), MISSHAPEN)
def test_what_is_no_prediction_is_not_kept(id, value, folder, capsys):
    """One sentence says what is asked for, and the cell goes on."""
    assert said(capsys, id, value).startswith(f"Not kept: {value!r} is not what is asked for, ")
    assert predicting.counted() == (0, 0)
    assert list((folder / ".minigrad").iterdir()) == []


def test_an_unknown_name_is_refused(folder):
    """A name that was mistyped is not kept under that name."""
    with pytest.raises(MinigradError, match=r"is it 'steps-skipped'\?"):
        minigrad.predict("steps-skiped", 3)


@pytest.mark.parametrize("id", [None, 3, ["steps-skipped"]])
def test_a_name_that_is_no_text_is_refused(folder, id):
    """One sentence says what belongs there; a TypeError of Python's own would not."""
    with pytest.raises(MinigradError, match="predict: the first argument is a prediction's name"):
        minigrad.predict(id, 3)


def test_a_truth_of_another_form_is_the_lesson_s_mistake():
    """It is told also when nobody has predicted, so that running a lesson finds it."""
    with pytest.raises(MinigradError, match="is not of the form"):
        minigrad.predict("steps-skipped", truth=(1, 2))


def test_a_grader_records_nothing(folder, monkeypatch, capsys):
    """In a sandbox a cell of a student's own runs as anywhere, and leaves no trace."""
    monkeypatch.setenv("MINIGRAD_SANDBOX", "1")
    said(capsys, "steps-skipped", 13)
    monkeypatch.delenv("MINIGRAD_SANDBOX")
    assert list((folder / ".minigrad").iterdir()) == []


def test_progress_of_exercises_stays(folder, capsys):
    """The parts of the file do not lose each other's records."""
    minigrad.tutor.progressing.saw_hint("autodiff.chain_rule", 2)
    said(capsys, "steps-skipped", 13)
    minigrad.tutor.progressing.saw_hint("operators.folds", 1)
    assert set(minigrad.tutor.progressing.read()) == {"autodiff.chain_rule", "operators.folds"}
    said(capsys, "steps-skipped", truth=13)
    assert predicting.counted() == (1, 1)

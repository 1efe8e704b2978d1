"""Hints: one tier after the other, within a session and across sessions, and never at a cost."""

import json
import re
import subprocess
import sys

import pytest

import minigrad
from minigrad import checks
from minigrad.checks import runner
from minigrad.errors import MinigradError, UnknownExercise
from minigrad.tutor import hints, progressing

ID = "autodiff.chain_rule"
TEXTS = {"nudge": "Look at `history`.", "idea": "Multiply <and> add.", "outline": "1. take\n   2. give"}


@pytest.fixture(autouse=True)
def session(monkeypatch, tmp_path):
    """A new session in an empty folder, with hints for one exercise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hints, "bundled", lambda: {ID: TEXTS})
    forget(monkeypatch)


def forget(monkeypatch):
    """Begin a new session."""
    monkeypatch.setattr(hints, "_session", {})
    monkeypatch.setattr(hints, "_said_free", False)


def test_tiers_come_one_after_the_other():
    """Nudge, idea, outline; then the outline again."""
    assert [minigrad.hint(ID).tier for _ in range(5)] == [1, 2, 3, 3, 3]


def test_a_function_stands_for_its_exercise():
    """As in a terminal; a name that several exercises have is answered by these, and by no list of all."""
    assert minigrad.hint("chain_rule").exercise == ID
    for name in ("tensor_map", "operators.folds.sum"):
        with pytest.raises(UnknownExercise) as caught:
            minigrad.hint(name)
        assert "did you mean" in str(caught.value) and len(str(caught.value)) < 200


def test_tiers_go_on_in_the_next_session(monkeypatch, tmp_path):
    """In a working folder the next session shows the next hint; elsewhere it begins anew."""
    minigrad.hint(ID)
    forget(monkeypatch)
    assert minigrad.hint(ID).tier == 1
    (tmp_path / ".minigrad").mkdir()
    minigrad.hint(ID, 1)
    forget(monkeypatch)
    assert minigrad.hint(ID).tier == 2
    assert progressing.read()[ID].hints == 2


def test_a_tier_can_be_asked_for(tmp_path):
    """hint(id, tier=3) shows the outline, and an earlier one again counts nothing twice."""
    (tmp_path / ".minigrad").mkdir()
    assert minigrad.hint(ID, tier=3).text == "1. take\n   2. give"
    assert minigrad.hint(ID, tier=1).text == "Look at `history`."
    assert progressing.read()[ID].hints == 3


def test_the_text_says_what_comes_next_and_once_that_it_is_free():
    """A terminal gets plain text; only the first hint of a session says that hints are free."""
    first, second, third = (repr(minigrad.hint(ID)) for _ in range(3))
    assert first.startswith(f"{ID}, hint 1 of 3: a nudge\n\n  Look at `history`.\n\n")
    assert f'The next one is the idea: `hint("{ID}", 2)`.' in first
    assert [("never cost points" in each) for each in (first, second, third)] == [True, False, False]
    assert "  1. take\n     2. give" in third
    assert "That was the last one" in third


def test_a_notebook_gets_html():
    """Code is marked, and what looks like a tag is text."""
    assert "Look at <code>history</code>." in minigrad.hint(ID)._repr_html_()
    html = minigrad.hint(ID)._repr_html_()
    assert "Multiply &lt;and&gt; add." in html
    assert f'<code>hint("{ID}", 3)</code>' in html


def test_mistakes_are_sentences():
    """An unknown id suggests one, a tier that is none says which there are, an exercise without hints says so."""
    with pytest.raises(UnknownExercise, match=r"did you mean autodiff\.chain_rule"):
        minigrad.hint("autodiff.chainrule")
    for tier in (0, 4, "2", True, 1.0, [1]):
        with pytest.raises(MinigradError, match="there are the hints 1, 2 and 3"):
            minigrad.hint(ID, tier)
    with pytest.raises(MinigradError, match="this exercise has no hints"):
        minigrad.hint("mlp.SGD")


def test_a_failing_check_points_to_the_next_hint():
    """The last line of a report names the call, and how many hints were used; one that passes has none."""
    report = runner.run(ID, {})
    assert str(report).splitlines()[-1] == f'hint("{ID}") gives a nudge'
    assert f"<code>hint(&quot;{ID}&quot;)</code> gives a nudge" in report._repr_html_()
    minigrad.hint(ID)
    assert str(runner.run(ID, {})).splitlines()[-1] == f'hint("{ID}") gives the idea; 1 of 3 hints used'
    minigrad.hint(ID, 3)
    assert str(runner.run(ID, {})).splitlines()[-1] == f'hint("{ID}", 3) shows the outline again; all 3 hints are used'
    assert "hint(" not in str(runner.run("mlp.SGD", {}))


def test_a_report_that_passes_points_nowhere(monkeypatch):
    """Who is done needs no hint."""
    from minigrad import autodiff

    def chain_rule(variable, d_output):
        return library(variable, d_output)

    library = autodiff.chain_rule
    report = runner.run(ID, {"chain_rule": chain_rule})
    assert report.passed
    assert report.pointer == ""


def test_the_command_line_shows_hints(tmp_path):
    """`minigrad hint ID` goes on where it was, since the folder remembers; an unknown id is one sentence."""
    (tmp_path / ".minigrad").mkdir()
    code = (
        "from minigrad.tutor import hints\nfrom minigrad import cli\n"
        f"hints.bundled = lambda: {{{ID!r}: {TEXTS!r}}}\n"
        f"import sys; sys.argv[1:] = ['hint', {ID!r}]; cli.main()"
    )
    shown = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60) for _ in range(2)]
    assert [each.returncode for each in shown] == [0, 0]
    assert [re.search(r"hint (\d) of 3", each.stdout)[1] for each in shown] == ["1", "2"]
    assert f"The next one is the idea: `minigrad hint {ID} --tier 2`" in " ".join(shown[0].stdout.split())
    done = subprocess.run([sys.executable, "-m", "minigrad", "hint", "x"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_what_is_bundled_fits_the_course(root, monkeypatch):
    """Every exercise with hints has three texts, and the file says what it was made from."""
    monkeypatch.undo()
    path = root / "src" / "minigrad" / "hints.json"
    if not path.is_file():
        pytest.skip("src/minigrad/hints.json is missing: `autograder build` writes it from course/hints")
    content = json.loads(path.read_text())
    assert "course/hints" in content["generated"]
    for id, texts in content["hints"].items():
        assert id in minigrad.exercises.catalogue()
        assert list(texts) == list(hints.TIERS)
        assert all(text.strip() for text in texts.values())
    assert hints.bundled() == content["hints"]


def test_checks_is_what_is_imported():
    """The function `hint` and the module `hints` do not get in each other's way."""
    assert callable(minigrad.hint)
    assert callable(minigrad.progress)
    assert checks.check is minigrad.check

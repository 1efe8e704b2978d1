"""`minigrad review`: which cards there are, when they come again, and one key each."""

import datetime as dt
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from minigrad import exercises
from minigrad.checks import CheckReport, CheckResult
from minigrad.cli import app
from minigrad.commands import reviewing as command
from minigrad.errors import MinigradError
from minigrad.tutor import progressing
from minigrad.working_folder import cards, formulas, reviewing, starting

ID = "autodiff.chain_rule"  # of 02_chain_rule
TODAY = dt.date(2026, 2, 1)


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with all lessons, in which nothing is done."""
    starting.start(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def passes(id, passed=True):
    progressing.record(CheckReport(id, exercises.get(id).points, (CheckResult("It works.", passed),)))


def boxes(work):
    """The cards that are no wrong answers."""
    return [card for card in cards.cards(work) if card.id[0].isdigit()]


def test_cards_come_of_lessons_that_are_begun(work):
    """No exercise passes: no card. One does: the boxes of its lesson, with the question before them."""
    assert cards.cards(work) == []
    passes(ID, False)
    assert cards.cards(work) == []
    passes(ID)
    (first, second) = boxes(work)
    assert first.front.startswith("**Before you go on:** $y = (3x)^2$") and first.back().startswith("3 and 12.")
    assert second.front.startswith("> **Find the slip.** A text you may find shows a box for the logarithm")
    assert second.place.startswith("02_chain_rule, ")
    assert "<details>" not in second.back() + second.front


def test_every_box_is_a_card_of_its_own(work):
    """All lessons together have more than thirty, each with a question; those in Chinese have as many."""
    for exercise in {each.lesson: each for each in exercises.catalogue().values()}.values():
        passes(exercise.id)
    found = boxes(work)
    assert len(found) == len({card.id for card in found}) > 30
    assert [card.place for card in found if len(card.front) < 40 or len(card.back()) < 20] == []
    slips = [card for card in found if card.front.startswith("> **Find the slip.**")]
    assert len(slips) >= 20
    starting.start(work, language="zh")
    assert len(boxes(work)) == len(found)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_card_stands_without_its_lesson(work, language):
    """No card asks about a picture that only the lesson shows, and a terminal gets its formulas as plain text."""
    if language == "zh":
        starting.start(work, language=language)
    for exercise in {each.lesson: each for each in exercises.catalogue().values()}.values():
        passes(exercise.id)
    for card in boxes(work):
        assert not re.search(r"this picture|picture above|这幅图|上面的图|上图", card.front), card.place
        for text in (card.front, card.back()):
            shown = formulas.in_plain_text(text)
            outside = re.sub(r"```.*?```|`[^`]*`", "", shown, flags=re.DOTALL)
            assert "$" not in outside and "\\" not in shown, shown


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"$f'(x) = 3x^2 + 2x$", "`f'(x) = 3x^2 + 2x`"),
        (r"$x \cdot e^{-x}$ and `a$b$c`", "`x · e^(-x)` and `a$b$c`"),
        (r"$10 / \frac{1}{2} = \log w_{11}$", "`10 / (1/2) = log w_11`"),
        (r"$\frac{a + b}{2n}$", "`(a + b)/(2n)`"),
        (r"$\mathrm{d\_a}_{il} = \frac{\sqrt{x^{10}}}{e^{\frac{x}{2}}}$", "`d_a_il = (√(x^10))/(e^(x/2))`"),
        (r"$X = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}, \quad W$", "`X = [[1, 2], [3, 4]], W`"),
    ],
)
def test_formulas_as_plain_text(formula, shown):
    """Fractions, powers, indices and matrices can be read without their commands; code stays as it is."""
    assert formulas.in_plain_text(formula) == shown


def test_a_wrong_answer_asks_for_the_check_that_fails(work):
    """Its text is shown without the sentence that tells, and the visible checks answer."""
    passes(ID)
    (card,) = [card for card in cards.cards(work) if card.id == f"{ID}/constants-kept"]
    assert "def chain_rule(variable, d_output):" in card.front and "Constants get a pair" not in card.front
    assert "onstant" in card.back() and card.back().startswith("- ")


def test_wrong_answers_of_what_is_not_solved_are_not_shown(work):
    """An exercise that does not pass has no card, in a lesson where another one does."""
    passes(ID)
    assert {card.id.partition("/")[0] for card in cards.cards(work)} == {"02_chain_rule", ID}


def test_an_installed_library_has_boxes_alone(work, monkeypatch, tmp_path):
    """Without the course's repository there are no wrong answers, and nothing fails."""
    monkeypatch.setattr(cards, "_WRONG", tmp_path / "nowhere")
    passes(ID)
    assert len(cards.cards(work)) == 2


def made(count):
    return [cards.Card(f"a/{n}", "lesson", f"question {n}", lambda: "answer") for n in range(count)]


def test_five_a_day(work):
    """New cards come in their order, five a day; what was shown today counts."""
    every = made(12)
    today = reviewing.for_today(every, work, TODAY)
    assert [card.id for card in today] == [f"a/{n}" for n in range(5)]
    for card in today[:3]:
        reviewing.answered(card, work, TODAY, known=True)
    assert [card.id for card in reviewing.for_today(every, work, TODAY)] == ["a/3", "a/4"]
    tomorrow = reviewing.for_today(every, work, TODAY + dt.timedelta(days=1))
    assert [card.id for card in tomorrow] == [f"a/{n}" for n in range(3, 8)]


def test_boxes_double_the_days(work):
    """Known: after 2, 4, 8, ... 64 days. Not known: tomorrow, and from there on anew."""
    (card,) = made(1)
    day, waits = TODAY, []
    for _ in range(8):
        seen = reviewing.answered(card, work, day, known=True)
        waits.append((seen.due - day).days)
        day = seen.due
    assert waits == [2, 4, 8, 16, 32, 64, 64, 64]
    assert (reviewing.answered(card, work, day, known=False).due - day).days == 1
    assert (reviewing.answered(card, work, day, known=True).due - day).days == 2


def test_due_cards_come_before_new_ones(work):
    """A card that is due is asked first, the longest due before the others; one that is not due is not asked."""
    every = made(4)
    reviewing.answered(every[2], work, TODAY, known=False)
    reviewing.answered(every[3], work, TODAY, known=True)
    ids = {
        days: [card.id for card in reviewing.for_today(every, work, TODAY + dt.timedelta(days=days))] for days in (1, 2)
    }
    assert ids[1] == ["a/2", "a/0", "a/1"]
    assert ids[2] == ["a/2", "a/3", "a/0", "a/1"]


def test_the_day_of_the_next_cards(work):
    """New cards wait for tomorrow; where all are known, the first that is due decides."""
    every = made(2)
    assert reviewing.next_day(every, work, TODAY) == TODAY + dt.timedelta(days=1)
    for day in (TODAY, TODAY + dt.timedelta(days=2)):
        for card in every:
            reviewing.answered(card, work, day, known=True)
    assert reviewing.next_day(every, work, TODAY + dt.timedelta(days=2)) == TODAY + dt.timedelta(days=6)


def run(monkeypatch, keys, *words):
    """Run the command as in a terminal, with keys that are pressed one after the other."""
    monkeypatch.setattr(command, "_has_keys", lambda: True)
    pressed = iter(keys)
    monkeypatch.setattr(command.typer, "getchar", lambda: next(pressed))
    return CliRunner().invoke(app, ["review", *words], catch_exceptions=False)


def test_one_key_each(work, monkeypatch):
    """A key shows the answer, y or n files the card, other keys are passed over, q ends it."""
    passes(ID)
    monkeypatch.setattr(cards, "_WRONG", work / "nowhere")
    run(monkeypatch, [" ", "x", "y", " ", "q"])
    (known,) = reviewing._CARDS.read(work).values()
    assert known == reviewing.Seen(2, dt.date.today().isoformat())
    run(monkeypatch, ["q"])
    assert len(reviewing._CARDS.read(work)) == 1
    run(monkeypatch, [" ", "n"])
    assert sorted(seen.box for seen in reviewing._CARDS.read(work).values()) == [1, 2]
    done = run(monkeypatch, [])
    assert done.exit_code == 0 and "The next cards come tomorrow." in done.stdout  # no key is asked for
    for card in boxes(work):
        reviewing.answered(card, work, dt.date.today(), known=True)
    coming = dt.date.today() + dt.timedelta(days=2)
    assert f"The next cards come on {coming}." in run(monkeypatch, []).stdout


def test_without_a_terminal_it_is_one_sentence(work):
    """A pipe has no keys: exit code 2, and nothing is filed."""
    passes(ID)
    done = subprocess.run(
        [sys.executable, "-m", "minigrad", "review"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ},
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "minigrad: review: 5 cards wait for you, one key each; run it in a terminal\n"
    assert reviewing._CARDS.read(work) == {}


def test_no_cards_yet(work):
    """One sentence says where they come from."""
    with pytest.raises(MinigradError, match="there are no cards yet; they come out of lessons"):
        command.review(work)


def test_without_a_folder(tmp_path, monkeypatch):
    """One sentence says how to get one."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MinigradError, match="here is no working folder; `minigrad start` makes one"):
        command.review()

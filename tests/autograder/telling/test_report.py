"""Reports show why points were lost, and never more than a student may see."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from autograder.results import Example, Graded, GroupScore, Submission, Verdict, format_points
from autograder.telling.report import MAX_TEXT, as_html, as_json, as_text, clean, page, together

FAILED = Verdict(
    test="test_diamond",
    title="Gradients along two paths are summed.",
    group="paths",
    because="lesson 03, 'Two paths': gradients are summed",
    passed=False,
    reason="got 3.0",
    hint="each use adds",
    misconception="gradient-overwritten",
    confirmed=True,
)
PASSED = Verdict("test_leaf", "A leaf gets its gradient.", "leaves", "lesson 03", passed=True)


@pytest.fixture
def graded():
    groups = (GroupScore("paths", 2, 0), GroupScore("leaves", 1.5, 1.5))
    return Graded("autodiff.backpropagate", 3.5, groups, (FAILED, PASSED), notes=("a cell was moved",))


def submission(*exercises, **more):
    return Submission("03_backprop", exercises, **more)


class Tags(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_failure_that_is_counted_elsewhere(graded):
    """The report says which group lost the points, in text and in HTML; a group that earned its points is no riddle."""
    other = replace(FAILED, group="leaves", hint="", misconception="", confirmed=False, counted_in="paths")
    both = replace(graded, verdicts=(FAILED, other))
    line = "in the group paths: it follows from the mistake there"
    assert f"counted once: {line}" in as_text(both) and as_text(graded).count("counted once") == 0
    assert line in as_html(both) and line not in as_html(graded)


def test_text_has_everything_a_student_needs(graded):
    """The text names points by group, and for a failure its title, reason, hint, misconception and sentence."""
    text = as_text(graded)
    for words in (
        "autodiff.backpropagate: 1.5 of 3.5 points",
        "paths: 0 of 2",
        "leaves: 1.5 of 1.5",
        "✗ Gradients along two paths are summed.",
        "got 3.0",
        "hint: each use adds",
        "typical cause: gradient overwritten",
        "because: gradients are summed",
        "read again: lesson 03 'Two paths'",
        "note: a cell was moved",
    ):
        assert words in text
    assert "A leaf gets" not in text and "test_diamond" not in text


def test_a_cause_that_is_not_known_is_not_told(graded):
    """A failure without a known mistake says what was seen: no cause, and no hint, which would name one as well."""
    known = next(verdict for verdict in graded.verdicts if not verdict.passed)
    other = replace(known, title="Any graph works.", hint="mark", misconception="marked-too-early", confirmed=False)
    both = as_text(replace(graded, verdicts=(other, known)))
    alone = as_text(replace(graded, verdicts=(other,)))
    assert both.index("two paths") < both.index("Any graph works.")
    assert "typical cause: gradient overwritten" in both and "marked too early" not in both and "mark\n" not in both
    assert "Any graph works." in alone and "typical cause" not in alone and "mark" not in alone


def test_what_ends_in_one_way_is_told_once(graded):
    """Of the tests of a group that got no answer for one reason the first is shown, and the others are counted."""
    raised = replace(FAILED, reason="raised NameError: s", failure="error")
    others = [
        replace(raised, title="Second."),
        replace(raised, title="Third.", group="leaves"),
        replace(raised, title="Fourth.", reason="raised NameError: t"),
        replace(raised, title="Fifth."),
        replace(FAILED, title="Sixth."),
        replace(FAILED, title="Seventh."),
    ]
    for told in (as_text, as_html):
        whole = told(replace(graded, verdicts=(raised, *others)))
        assert "2 more tests fail for the same reason." in whole
        assert [each.title for each in others if each.title in whole] == ["Third.", "Fourth.", "Sixth.", "Seventh."]
        assert "1 more test fails for" in told(replace(graded, verdicts=(raised, others[0])))
        assert "for the same reason" not in told(graded)


@pytest.mark.parametrize(
    ("because", "said"),
    [
        (
            "operators.add: 'Return x + y.' operators.mul: 'Return x * y.'",
            ["because: operators.add: 'Return x + y.'", "because: operators.mul: 'Return x * y.'",
             "read again: the docstrings of operators.add, operators.mul"],
        ),
        (
            "functions.Log, Exp and ReLU: 'The logarithm.', 'e to the power a.', 'a, else 0.'",
            ["because: 'The logarithm.', 'e to the power a.', 'a, else 0.'",
             "read again: the docstrings of functions.Log, Exp and ReLU"],
        ),
        (
            "autodiff.topological_sort: 'deeper than Python's limit.'",
            ["because: deeper than Python's limit.", "read again: the docstring of autodiff.topological_sort"],
        ),
        (
            "derivatives.gradient: 'a step to one side', (f(x + h) - f(x)) / h",
            ["because: 'a step to one side', (f(x + h) - f(x)) / h",
             "read again: the docstring of derivatives.gradient"],
        ),
        ("Numba compiles 'this' function.", ["because: Numba compiles 'this' function."]),
    ],
)  # fmt: skip
def test_where_a_sentence_stands(graded, because, said):
    """A sentence of each docstring has a line of its own, and all of the docstrings are named to be read again."""
    lines = as_text(replace(graded, verdicts=(replace(FAILED, because=because),))).splitlines()
    assert [line.strip() for line in lines if line.strip().startswith(("because", "read again"))] == said


@pytest.mark.parametrize(
    ("given", "withheld", "said"),
    [((), "", True), ((("x", "2.0"),), "", False), ((), "shown later", False)],
)
def test_a_place_without_an_input(graded, given, withheld, said):
    """Where a test has no input to show, the place that was wrong is counted out; else the input says it."""
    failed = replace(FAILED, reason="got nan at [1]", example=Example(given, withheld=withheld))
    words = "at [1]: element number 2 of what the test asked for"
    assert (words in as_text(replace(graded, verdicts=(failed,)))) is said


def test_html_says_the_same(graded):
    """The fragment is well formed, needs no other file, and says what the text says."""
    fragment = as_html(graded, ["the notebook was renamed"])
    assert not Tags(fragment).open
    for words in ("1.5 of 3.5 points", "0 of 2", "got 3.0", "each use adds", "gradient overwritten", "renamed"):
        assert words in fragment
    assert "http" not in fragment and "url(" not in fragment
    assert "prefers-color-scheme:dark" in fragment
    assert "test_diamond" not in fragment


@pytest.mark.parametrize("field", ["title", "reason", "hint", "because", "misconception"])
def test_markup_is_escaped(field):
    """Markup in any field is shown, not obeyed."""
    verdict = Verdict(**{**FAILED.__dict__, field: "<script>alert(1)</script>"})
    graded = Graded("a.b", 1, (GroupScore("g", 1, 0),), (verdict,), notes=("<img src=x>",))
    fragment = as_html(graded, ["<iframe>"])
    assert Tags(fragment).seen <= {"div", "style", "p", "b", "table", "tr", "td", "ul", "li", "span"}
    assert "&lt;script&gt;" in fragment
    assert "[bold]" in as_text(Graded("a.b", 1, (), reason="[bold]x[/bold]"))


def test_terminals_are_not_steered():
    """Escape sequences, carriage returns and direction marks of a student's text are dropped."""
    assert clean("a\x1b[31mred\x07\r\u202eb\x00") == "a[31mredb"
    assert "\x1b" not in as_text(Graded("a.b", 1, (), reason="\x1b[2Jgone"))


def test_long_text_is_cut():
    """A student's text is repeated up to a limit, and the cut is said."""
    text = clean("x" * 10_000_000)
    assert len(text) < MAX_TEXT + 30 and text.endswith("(cut here)")


def test_a_reason_without_tests():
    """Where nothing could be tested the reason stands alone, without a table of groups."""
    graded = Graded("a.b", 2, (GroupScore("g", 2, 0),), reason="there is no cell for this exercise")
    assert "there is no cell" in as_text(graded) and "g: 0" not in as_text(graded)
    assert "<table>" not in as_html(graded)


def test_full_marks_say_so(graded):
    """Full marks need no list of tests."""
    full = Graded("a.b", 1, (GroupScore("g", 1, 1),), (PASSED,))
    assert full.full and not graded.full
    assert as_text(full).splitlines() == ["a.b: 1 of 1 points", "  g: 1 of 1"]


def test_a_whole_notebook(graded):
    """The report on a notebook has its total, its notes, and why it could not be read."""
    text = as_text(submission(graded, notes=("renamed",)))
    assert "note: renamed" in text and text.endswith("03_backprop: 1.5 of 3.5 points")
    assert "not JSON" in as_text(submission(unreadable="it is not JSON"))


def test_page(graded):
    """The page is a whole document that holds every exercise's report."""
    text = page(submission(graded, graded, unreadable="<b>"))
    assert text.startswith("<!doctype html>") and not Tags(text).open
    assert text.count('class="mg-report"') == 2 and "&lt;b&gt;" in text
    assert not re.search(r"(src|href)=", text)


def test_the_sum_names_the_next_exercise(graded):
    """The first that lacks points, with the commands for it; none where nothing is lacking."""
    gap = "autodiff.backpropagate: `minigrad hint autodiff.backpropagate`, `minigrad solution autodiff.backpropagate`."
    assert together([submission(), submission(graded)]) == f"together 1.5 of 3.5 points. Next: {gap}"
    assert together([submission(graded)], [graded.exercise]).endswith(gap)
    assert together([submission(graded)], ["operators.folds"]).endswith("Next: `minigrad` says what to do.")
    full = replace(graded, groups=(GroupScore("paths", 3.5, 3.5),))
    assert together([submission(full)]) == "together 3.5 of 3.5 points. Next: `minigrad` says what to do."


def test_json_round_trip(graded):
    """JSON holds everything, and a result read back is the same."""
    data = json.loads(as_json(submission(graded, notes=("n",))))
    assert (data["earned"], data["points"], data["notes"]) == (1.5, 3.5, ["n"])
    assert Graded.from_json(data["exercises"][0]) == graded
    with pytest.raises(KeyError):
        Graded.from_json({})


def test_points_read_like_points():
    """Whole numbers have no decimals."""
    assert [format_points(value) for value in (2.0, 2.5, 0)] == ["2", "2.5", "0"]

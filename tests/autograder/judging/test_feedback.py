"""A failed test shows the input that failed and what came of it, and nothing that the student may not see."""

import datetime as dt
import json
from dataclasses import replace

import numpy as np
import pytest
from fake_session import Failed, judged
from typer.testing import CliRunner

from autograder.cli import app
from autograder.common.wording import in_words
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.judging.examples import released
from autograder.judging.plugin import HiddenTestError
from autograder.results import Example, Graded, GroupScore, Submission, Verdict, pictures
from autograder.results.shortening import TOTAL, Budget, shortened
from autograder.telling.report import as_html, as_text

MARK = '@pytest.mark.exercise("demo.f", group="values", because="lesson 03, \'Two paths\': they add")'


@pytest.fixture
def example(tmp_path):
    """The example of the one test in a text."""

    def run(body, answer, mark=MARK, **options):
        text = f'{mark}\ndef test_x(student):\n    """Fact."""\n' + "\n".join(f"    {line}" for line in body)
        (verdict,) = judged(tmp_path, text, answer, **options)
        return verdict.example

    return run


OBSERVE = ["def observe(mg, shape, start):", "    return 0"]


def test_input_and_answer(example):
    """An example holds the probe's arguments by name and the answer, and not what was wanted."""
    found = example([*OBSERVE, "expect(student(observe, [2, 3], 0.5), [4711.0])"], lambda shape, start: [start])
    assert found.given == (("shape", "[2, 3]"), ("start", "0.5"))
    assert (found.came, found.wanted, found.picture, found.derived) == ("[0.5]", "", None, False)
    assert "4711" not in repr(found)


def test_the_wanted_value_where_the_author_shows_it(example):
    """`show="wanted"` in the marker, and nothing else, puts the right value into the report."""
    mark = MARK.replace("because", 'show="wanted", because')
    found = example([*OBSERVE, "expect(student(observe, 1, 2), 4711)"], lambda *args: 0, mark=mark)
    assert found.wanted == "4711"
    with pytest.raises(HiddenTestError, match="show='all'; write \"wanted\" or leave it out"):
        example([*OBSERVE, "student(observe, 1, 2)"], lambda *args: 0, mark=mark.replace('"wanted"', '"all"'))


def test_a_short_message_with_a_long_place_is_said_once():
    """One error at one line, seen by several tests, leaves room for another one."""
    text = "AttributeError: 'tuple' has no attribute 'size' (cell 'answer to demo.f', line 9: return " + "x" * 60 + ")"
    budget = Budget()
    assert [budget.take(text) for _ in range(5)] == [text] + ["the same as for another test of this exercise"] * 4
    assert budget.take("ValueError: another one") == "ValueError: another one"


def test_the_case_that_failed_first(example):
    """Of several questions the first one with a wrong answer is the example; its inputs count as the student's."""
    body = [*OBSERVE, "seen = [student(observe, n, 1) for n in (1, 2, 3)]", "expect(seen, [1, 2, 3])"]
    found = example(body, lambda n, start: n if n < 2 else [0])
    assert found.given[0] == ("shape", "2")
    assert found.came == "[0]" and found.derived


def test_what_was_made_of_an_answer(example):
    """Where a test compares something made of the answer, that is what came; the answer itself may hold more."""
    found = example([*OBSERVE, "expect(student(observe, 1, 2)['out'], 3)"], lambda *args: {"out": 4, "other": "secret"})
    assert found.came == "4"


def test_an_example_in_words(example):
    """An author may say the input in words; the answer then stands in the reason and in the picture alone."""
    body = [*OBSERVE, 'expect(student(observe, 1, 2), 3, example="x * x at x = 3")']
    found = example(body, lambda *args: 4)
    assert found.given == (("", "x * x at x = 3"),) and found.came == ""


def test_no_answer(example):
    """An error shows the input that led to it; a test that asked nothing, or with no input, shows nothing."""
    found = example([*OBSERVE, "student(observe, [2], 1)"], lambda *args: Failed("error", "IndexError"))
    assert found.given == (("shape", "[2]"), ("start", "1")) and found.came == ""
    assert example(["expect(student(lambda mg: 0), 1)"], lambda: 0) is None
    assert example(["assert False"], lambda: 0) is None


PROPERTY = f"""
{MARK}
@given(st.lists(st.integers(-1000, 1000)))
def test_property(student, numbers):
    \"\"\"Fact.\"\"\"
    expect(student(lambda mg, numbers: 0, numbers), sum(numbers), picture=lambda: pictures.together(
        pictures.array("numbers", numbers), pictures.array("came", [1], [2], came=True)))
"""


def test_the_smallest_counter_example(tmp_path):
    """A property's example is the shrunk one, and so is its picture."""
    (verdict,) = judged(tmp_path, PROPERTY, lambda numbers: 0 if any(n > 9 for n in numbers) else sum(numbers))
    assert verdict.example.given == (("numbers", "[10]"),) and verdict.example.came == "0"
    assert not verdict.example.derived
    assert verdict.example.picture["arrays"][0]["cells"] == [["10"]]


def test_the_search_may_end_early(tmp_path, monkeypatch):
    """Where the search for a smaller input ends at one that passes, the example is the one that failed."""
    monkeypatch.setattr("autograder.judging.plugin.SHRINK_CALLS", 3)
    bad = []

    def answer(numbers):
        bad[:] = bad or ([numbers] if sum(numbers) > 9 else [])
        return 0 if bad == [numbers] else sum(numbers)

    (verdict,) = judged(tmp_path, PROPERTY, answer)
    assert verdict.example.given == (("numbers", in_words(bad[0])),) and verdict.example.came == "0"


def test_a_stop_while_shrinking(tmp_path):
    """Where a timeout ends the search, the example is the input that timed out."""
    late = {"now": False}

    def answer(numbers):
        if late["now"]:
            return Failed("timeout", "too slow")
        late["now"] = any(n > 9 for n in numbers)
        return 0 if late["now"] else sum(numbers)

    (verdict,) = judged(tmp_path, PROPERTY, answer)
    assert verdict.failure == "timeout" and verdict.example.came == ""


def test_a_picture_that_cannot_be_drawn(example):
    """An answer of a strange form costs the picture and nothing else; a mistake of the author's is seen."""
    body = [*OBSERVE, 'expect(student(observe, 1, 2), [3], picture=lambda: pictures.array("a", MISSING["x"]))']
    found = example([*body[:2], "MISSING = {}", body[2]], lambda *args: 4)
    assert found.picture is None and found.given
    with pytest.raises(HiddenTestError, match="its picture cannot be made: NameError"):
        example(body, lambda *args: 4)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (3, "3"),
        (10**40, "a whole number of 41 digits"),
        (0.1 + 0.2, "0.3"),
        (float("nan"), "nan"),
        ("it's", '"it\'s"'),
        ([1.0, [2, "x"]], "[1.0, [2, 'x']]"),
        ({"a": (1,)}, "{'a': [1]}"),
        (np.array([1.0, 2 / 3]), "[1.0, 0.6667]"),
        (np.array([True]), "[True]"),
        (np.zeros((5, 6)), "an array of shape (5, 6)"),
        (object(), "object"),
    ],
)
def test_values_in_words(value, text):
    """Plain data reads as a person would write it."""
    assert in_words(value) == text


def nested(depth):
    return [nested(depth - 1)] * 99 if depth else 0


@pytest.mark.parametrize(
    "value", ["x" * 10**6, [0] * 10**6, {i: i for i in range(10**5)}, nested(40), [[], *[[]] * 10**6]]
)
def test_words_are_bounded(value):
    """However large or deep a value is, a report repeats a line of it, and soon."""
    assert len(in_words(value)) <= 120


def failed(name, example, reason="got 1", **more):
    return Verdict(
        name, f"Fact {name}.", "g", "lesson 03, 'Two paths': they add", False, reason, example=example, **more
    )


def graded(*verdicts):
    return Graded("demo.f", 1, (GroupScore("g", 1, 0),), verdicts)


PICTURE = pictures.graph({"y": [("x", 2.0)]}, {"x": 110.0}, {"x": 7.0})
SHOWN = Example((("shape", "[2, 3]"),), "[0.5, 1.5]", "[4.5]", PICTURE)


def test_reports_show_examples():
    """Text and page show input, picture and what was right; the place to read again is a link in its own lesson."""
    report = graded(failed("a", SHOWN))
    text, page = as_text(report), as_html(report, lesson="03_backprop")
    for words in ("input: shape = [2, 3]", "right: [4.5]", "x, a leaf: grad 110   <- wrong", "because: they add"):
        assert words in text
    assert "read again: lesson 03 'Two paths'" in text
    for words in ("shape = [2, 3]", "[4.5]", "<svg", "grad 110", 'href="#Two-paths"'):
        assert words in page
    assert "href" not in as_html(report, lesson="02_chain_rule")


def test_a_notebook_has_light_pages():
    """Reports and pictures are light in nbgrader's pages, which always are; alone they follow the reader's choice."""
    report = graded(failed("a", SHOWN))
    assert as_html(report).count("prefers-color-scheme") == 3
    light = as_html(report, lesson="03_backprop")
    assert "prefers-color-scheme" not in light and "@media" not in light
    assert light.count("{") == light.count("}") and "<svg" in light and ".mg-report p{" in light


def test_what_came_is_said_once():
    """What came stands in the reason, in the picture, or in the table."""
    plain = replace(SHOWN, picture=None)
    assert "your code gave" not in as_text(graded(failed("a", SHOWN)))
    assert "your code gave: [0.5, 1.5]" in as_text(graded(failed("a", plain)))
    assert "your code gave" not in as_text(graded(failed("a", plain, reason="got [0.5, 1.5]")))


def test_a_docstring_to_read_again():
    """A sentence of a docstring loses its quotation marks and says whose docstring it is."""
    one = replace(failed("a", None), because="tensor_data.permute: 'Nothing is copied.'")
    text = as_text(graded(one))
    assert "because: Nothing is copied." in text and "read again: the docstring of tensor_data.permute" in text


def test_examples_survive_json():
    """An example is the same after a turn through JSON."""
    report = Submission("03_backprop", (graded(failed("a", SHOWN), failed("b", None)),))
    assert Submission.from_json(json.loads(json.dumps(report.as_json()))) == report


def test_examples_share_the_budget():
    """What came of the code in examples and pictures counts as what it says does; what is too much is left out."""
    many = [failed(str(i), replace(SHOWN, came=f"{i}" * 90, picture=None), reason="no") for i in range(1, 9)]
    kept = [verdict.example for verdict in shortened(graded(*many)).verdicts]
    assert sum(len(example.came) for example in kept) <= TOTAL
    assert kept[0].came == "1" * 90 and kept[-1].given == () and "400 characters" in kept[-1].withheld
    assert as_text(graded(failed("a", kept[-1]), failed("b", kept[-1]))).count("400 characters") == 1


def test_what_a_message_had_no_room_for_counts_where_the_example_says_it():
    """What came of the code stands in the message too, but is free of charge only if the message is shown."""
    many = []
    for i in range(1, 9):
        came = f"{i}" * 78
        many.append(failed(str(i), replace(SHOWN, came=came, picture=None), reason=f"got '{came}'"))
    said = as_text(shortened(graded(*many)))
    assert sum(said.count(f"{i}" * 78) for i in range(1, 9)) * 78 <= TOTAL


def test_inputs_made_of_answers_count():
    """The inputs of a later question may carry an earlier answer, so they count; those of the first do not."""
    long = replace(SHOWN, given=(("x", "a" * 500),), picture=None)
    first, later = failed("a", long), failed("b", replace(long, derived=True))
    kept = {verdict.test: verdict.example for verdict in shortened(graded(first, later)).verdicts}
    assert kept["a"].given == long.given and kept["b"].given == ()


def test_a_picture_is_shown_once():
    """The same picture under several tests is drawn under the first, and a picture too large for the budget never."""
    kept = shortened(graded(failed("a", SHOWN), failed("b", SHOWN))).verdicts
    assert [verdict.example.picture for verdict in kept] == [PICTURE, None]
    large = replace(SHOWN, picture={**PICTURE, "said": TOTAL + 1})
    assert shortened(graded(failed("a", large))).verdicts[0].example.picture is None


TOML = """
[course]
name = "small"
version = "1"
seed = 1

[[assignment]]
name = "week0"
title = "Numbers"
lessons = ["00_numbers"]
answers_open = 2027-02-15
examples = "with answers"

[[exercise]]
id = "demo.f"
lesson = "00_numbers"
points = 1
groups = { g = 1 }
"""


@pytest.fixture
def course(tmp_path):
    def load(text=TOML):
        (tmp_path / "course.toml").write_text(text)
        return load_course(tmp_path, tree=False)

    return load


def test_examples_wait_for_the_answers(course):
    """Before the day a report says when examples come, once, and keeps every other word; on that day they are there."""
    report = Submission("00_numbers", (graded(failed("a", SHOWN), failed("b", SHOWN), failed("c", None)),))
    before = released(report, course(), dt.date(2027, 2, 14))
    text, page = as_text(before), as_html(before.exercises[0])
    assert text.count("The inputs that failed are shown from 2027-02-15, when the answers are open.") == 1
    assert "got 1" in text and "they add" in text
    for hidden in ("[2, 3]", "110", "4.5", "<svg"):
        assert hidden not in text + page + json.dumps(before.as_json())
    assert released(report, course(), dt.date(2027, 2, 15)) == report


def test_examples_do_not_wait_unless_told(course):
    """Without the setting, and with "at once", examples are shown with the first report."""
    report = Submission("00_numbers", (graded(failed("a", SHOWN)),))
    for text in (TOML.replace('examples = "with answers"', ""), TOML.replace("with answers", "at once")):
        assert released(report, course(text), dt.date(2026, 1, 1)) == report


SECRET = "Q2Fycnkgb3V0"


def quoting(cell="answer to"):
    """A report in which a student's code speaks at every place where it can."""
    said = Example((("x", SECRET),), came=SECRET, derived=True)
    wrong = replace(failed("a", said), reason=f"got {SECRET!r}", hint="they add", failure="")
    raised = replace(failed("b", None), reason=f"ValueError: {SECRET} (cell line 3)", failure="error")
    named = replace(failed("c", None), reason=f"{SECRET}: no", failure="error")
    slow = replace(failed("d", None), reason=f"no answer in 5 s; {SECRET}", failure="timeout")
    notes = (f"{cell} demo.f: printed {SECRET}", "2 cells hold this exercise")
    first = replace(graded(wrong, raised, named, slow), notes=notes)
    untested = replace(graded(), reason=f"nothing could be tested: {cell} demo.f: KeyError: {SECRET}")
    blank = replace(graded(), reason="this exercise was not started")
    return Submission("00_numbers", (first, untested, blank), (f"added cell 2: OSError: {SECRET}", "a repair"))


@pytest.mark.parametrize("cell", ["answer to", "solution of"], ids=["today", "older"])
def test_quotes_wait_for_the_answers(course, cell):
    """Until the answers are open not a character that the code has chosen is repeated; what happened is still said."""
    quotes = course(TOML.replace("examples =", "quotes ="))
    report = quoting(cell)
    before = released(report, quotes, dt.date(2027, 2, 14))
    page = "".join(as_html(each, before.notes) for each in before.exercises)
    assert SECRET not in as_text(before) + page + json.dumps(before.as_json())
    for words in (
        "the answer is another one", "the code raised ValueError", "the code raised an error", "no answer in time",
        "the code raised KeyError", "this exercise was not started", "2 cells hold", "a repair", "they add",
        "is shown from 2027-02-15, when the answers are open",
    ):  # fmt: skip
        assert words in as_text(before), words
    assert [each.earned for each in before.exercises] == [each.earned for each in report.exercises]
    assert released(report, quotes, dt.date(2027, 2, 15)) == report
    assert SECRET in as_text(released(report, course(), dt.date(2027, 2, 14)))


def test_the_command_line_waits_too(course, tmp_path, monkeypatch):
    """`autograder grade` prints and writes what a student may see today, unless it is asked for all."""
    course(TOML.replace("2027-02-15", f"{dt.date.today() + dt.timedelta(days=9)}"))
    report = Submission("00_numbers", (graded(failed("a", SHOWN)),))
    monkeypatch.setattr("autograder.judging.grading.grade_file", lambda *args: report)
    file = tmp_path / "report.html"
    arguments = ["grade", "x.ipynb", "--course", str(tmp_path), "--html", str(file)]
    for more, shown in (([], False), (["--all-examples"], True), (["--json"], False)):
        result = CliRunner().invoke(app, arguments + more)
        assert result.exit_code == 0, result.output
        assert ("[2, 3]" in result.output, "<svg" in file.read_text()) == (shown, shown)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"with answers"', '"never"', "'examples' is 'never'; write 'at once' or 'with answers'"),
        ("answers_open = 2027-02-15", "", "'answers_open' is missing; add it"),
        ("examples =", "quotes = 'later'\nexamples =", "'quotes' is 'later'; write 'at once' or 'with answers'"),
    ],
)
def test_a_setting_that_cannot_be_kept(course, old, new, words):
    """A setting that is misspelt, or waits for a day that nobody named, is refused with what to do."""
    with pytest.raises(CourseError, match=words):
        course(TOML.replace(old, new))

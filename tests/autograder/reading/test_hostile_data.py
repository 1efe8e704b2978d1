"""What a student's data costs the grader itself is bounded by its size, whatever form it has."""

import contextlib
import json
import threading
import time

import numpy as np
import pytest
from fake_session import FakeSession, pack

from autograder import reading
from autograder.common.effort import Effort
from autograder.common.python_text import python_of
from autograder.common.wording import in_words
from autograder.judging.plugin import MAX_REASON, HiddenTests, run_hidden_tests
from autograder.reading import Unreadable, damaged, exports, read_notebook
from autograder.results.pictures.paper import label
from autograder.sandbox.inside import wire
from minigrad.checks import expectation
from minigrad.checks.expectation import Expectation, expect

WIDE = np.zeros((2,) * 17)
"""NumPy writes all of its elements, since each of its axes is short."""

EMPTY = np.zeros((1_048_576, 2, 0))
"""It takes no memory, and as lists it takes hundreds of megabytes."""


class Spent(Exception):
    """More than was allowed."""


@pytest.mark.parametrize("value", [WIDE, EMPTY, [WIDE] * 3, {"a": [EMPTY]}], ids=["wide", "empty", "list", "dict"])
@pytest.mark.parametrize("words", [in_words, label], ids=["words", "label"])
def test_an_array_is_described_by_its_shape(monkeypatch, value, words):
    """No element of a large array, and no row of an empty one, is looked at."""
    monkeypatch.setattr(np, "array2string", None)
    monkeypatch.setattr(np, "array_repr", None)
    assert "an a" in words(value)
    assert words(np.zeros((3, 0))).startswith("an array")


@pytest.mark.parametrize("value", [WIDE, [WIDE] * 3, {"a": [WIDE]}])
def test_a_message_names_the_shape(value):
    """A message says what a large array is, and does not write it out to cut it."""
    with pytest.raises(Expectation, match=r"an array of shape \(2, 2, ") as found:
        expect(value, 3)
    assert len(str(found.value)) < 200


def test_a_message_writes_out_what_it_shows_and_no_more(monkeypatch):
    """Of a list of a hundred thousand arrays those are written for which there is room."""
    written = []
    monkeypatch.setattr(expectation, "repr", lambda each: written.append(each) or "x" * 30, raising=False)
    with pytest.raises(Expectation):
        expect([np.zeros(3)] * 100_000, 3)
    assert 3 <= len(written) < 20


@pytest.mark.parametrize("shape", [(8_388_608, 8_388_608, 0), (1_048_576, 2, 0), (2, 100_001, 0)])
def test_an_array_without_items_has_few_rows(monkeypatch, shape):
    """Both sides refuse an array that is nothing but rows; one of an honest answer arrives."""
    with pytest.raises(wire.TooLarge):
        wire.encode(np.zeros(shape))
    with monkeypatch.context() as patch:
        patch.setattr(wire, "MAX_ITEMS", 10**18)
        forged = wire.encode(np.zeros(shape))
    with pytest.raises(wire.Malformed):
        wire.decode(forged)
    assert wire.decode(wire.encode(np.zeros((3, 0, 2)))).shape == (3, 0, 2)


def test_many_arrays_without_items_are_too_many(monkeypatch):
    """The rows of all arrays of an answer count together."""
    rows = [np.zeros((wire.MAX_ITEMS // 4, 0))] * 5
    with pytest.raises(wire.TooLarge, match="rows of arrays"):
        wire.encode(rows)
    with monkeypatch.context() as patch:
        patch.setattr(wire, "MAX_ITEMS", 10**18)
        forged = wire.encode(rows)
    with pytest.raises(wire.Malformed):
        wire.decode(forged)


TEST = '''
import pytest
from autograder import expect
@pytest.mark.exercise("demo.f", group="values", because="b")
def test_f(student):
    """Fact."""
    seen = student(lambda mg, x: x, 1)
    BODY
'''


@pytest.fixture
def judged(tmp_path):
    """Judge one answer by a test with this body."""

    def run(body, answer, effort=None):
        (tmp_path / "test_demo.py").write_text(TEST.replace("BODY", body))
        plugin = HiddenTests("demo.f", {"demo.f": ("values",)}, FakeSession(lambda *_: answer), pack, 0)
        plugin.effort.left = plugin.effort.left if effort is None else effort
        (verdict,) = run_hidden_tests(plugin, tmp_path)
        return verdict, plugin.events

    return run


def test_an_example_that_cannot_be_made_is_left_out(judged, monkeypatch):
    """It costs no class its run: the verdict stands, and the instructor is told."""

    def example_of(*_, **__):
        raise MemoryError

    monkeypatch.setattr("autograder.judging.plugin.example_of", example_of)
    verdict, events = judged("expect(seen, 3)", 4)
    assert not verdict.passed and verdict.example is None and verdict.reason == "got 4"
    assert events == ["test_f: no example could be made of the answer: MemoryError"]


def test_an_answer_that_takes_long_to_examine(judged):
    """What a hidden test spends on an answer ends by the grader's own processor time, and costs the student's point."""
    verdict, events = judged("while True: seen += 1", 4, effort=0.05)
    assert not verdict.passed and verdict.failure == "unusable"
    assert "of processor time to examine" in verdict.reason and len(events) == 1


def test_an_error_that_repeats_an_answer_is_cut(judged):
    """Python's own message holds all of a text; what looks for places in it would take the square of its length."""
    verdict, _ = judged("float(seen)", " (cell " * 100_000)
    assert verdict.failure == "unusable" and len(verdict.reason) < MAX_REASON + 100


def stubborn(effort, caught):
    """Take the error for one of its own, once."""
    with effort.spent():
        try:
            while True:
                pass
        except Spent:
            caught.append(True)
        while True:
            pass


def test_effort_ends_what_catches_every_error():
    """It is said again to code that goes on; and what is left is counted over all blocks."""
    effort, caught = Effort(0.05, Spent), []
    for _ in range(2):
        with pytest.raises(Spent):
            stubborn(effort, caught)
        assert len(caught) == 1 and effort.left == 0.0


def deaf(effort):
    """Take the error for one of its own, and end."""
    with effort.spent(), contextlib.suppress(Spent):
        while True:
            pass


def test_effort_ends_what_catches_its_error_and_ends_itself():
    """The error is raised once more at the end of the block: nothing that spent too much counts as done."""
    effort = Effort(0.05, Spent)
    with pytest.raises(Spent):
        deaf(effort)
    assert effort.left == 0.0


def nested(outer, inner):
    """Spend nothing inside, and go on outside."""
    with outer.spent():
        with inner.spent():
            pass
        while True:
            pass


def test_an_inner_effort_leaves_the_outer_one():
    """A block inside another one has its own bound, after which the other's still holds."""
    inner = Effort(30.0, KeyError)
    with pytest.raises(Spent):
        nested(Effort(0.1, Spent), inner)
    assert inner.left > 20


def test_what_an_inner_effort_spends_is_spent_of_the_outer_one():
    """Also where the outer block does nothing beside the inner one, time after time."""
    outer, blocks = Effort(0.1, Spent), 0
    with contextlib.suppress(Spent):
        while blocks < 20:
            with outer.spent(), Effort(30.0, KeyError).spent():
                sum(range(3_000_000))
            blocks += 1
    assert blocks < 10 and outer.left == 0.0


def test_effort_outside_of_the_main_thread():
    """There it bounds nothing, and breaks nothing."""
    done = []

    def work():
        with Effort(0.0, Spent).spent():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done


def test_a_damaged_file_is_read_few_times(monkeypatch):
    """A hundred beginnings of cells before a long tail do not read the tail a hundred times."""
    read = []
    decode = json.JSONDecoder.raw_decode

    def counted(self, text, start=0):
        read.append(len(text) - start)
        return decode(self, text, start)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counted)
    text = '{"cells":[' + '{"cell_type":' * 90 + "[" + "[]," * 5_000 + "]}"
    assert damaged.whole_cells(text) == []
    assert sum(read) <= (damaged.MOST_AGAIN + 1) * len(text)


def test_a_whole_cell_behind_a_hole_is_found():
    """One place that is damaged costs no cell behind it, also where the rest seems to belong to it."""
    cell = '{"cell_type":"code","source":"x = 1"}'
    for opening in ('{"cells":[{"cell_type":"code","outputs":[ ,', '{"cells":[{"cell_type":"code","outputs":['):
        assert len(damaged.whole_cells(opening + ",".join([cell] * 3))) == 3


def test_a_file_that_takes_long_to_read_is_refused(monkeypatch):
    """The sentence says so, and the class goes on."""

    def endless(text):
        while True:
            pass

    monkeypatch.setattr(reading, "EFFORT", 0.05)
    monkeypatch.setattr(reading, "_document", endless)
    with pytest.raises(Unreadable, match="of processor time to read"):
        read_notebook(b"{}")


def test_a_script_of_millions_of_statements():
    """Of the text before its first exercise no more is parsed than is read of code: a tree takes much memory."""
    text = "a;" * 1_000_000 + "\n# exercise: operators.arithmetic\ndef add(x, y):\n    return x + y\n"
    begun = time.process_time()
    assert exports.script_cells(text[2_000_000:]) == exports.script_cells(text)
    assert python_of(text) is None
    assert time.process_time() - begun < 1.0


def test_a_script_longer_than_anybody_writes():
    """It is no notebook, and nothing of it is looked at."""
    text = "# exercise: operators.arithmetic\nx = 1\n" * (exports.MAX_SCRIPT // 30)
    with pytest.raises(Unreadable, match="not a notebook"):
        read_notebook(text.encode())


def test_white_space_behind_a_picture():
    """It is taken off before the picture is looked at: to look for the end in every place of it takes the square."""
    data = "QUJD" + " " * 200_000
    with Effort(5.0, Spent).spent():
        assert reading._BASE64.fullmatch(data + "!") is None

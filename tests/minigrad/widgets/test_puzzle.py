"""The memory puzzle: what it shows, what moves, and what it calls solved."""

import re
import xml.etree.ElementTree as ET

import pytest

from minigrad import widgets
from minigrad.loops import Lifetime, peak, plan_memory
from minigrad.widgets.puzzle import PUZZLE, clashes, fullest, picture, sentence

SOLVED = {"a": 0, "b": 128, "c": 256, "d": 384, "e": 256, "f": 0}
PAIR = {"x": Lifetime(64, 0, 1), "y": Lifetime(128, 1, 2)}


def keys(puzzle, *pressed):
    """Let the page say that keys were pressed."""
    for key in pressed:
        puzzle._hear({"key": key})


def kinds(drawing):
    """The kind of each box by its name."""
    root = ET.fromstring(drawing.svg)
    groups = [each for each in root.iter() if each.get("data-part")]
    return {each.get("data-part"): each[0].get("class").removeprefix("mp-") for each in groups}


def test_the_puzzle_has_a_solution_that_the_simple_rule_misses():
    """The fullest step can be reached by hand; the largest box first ends higher."""
    assert fullest(PUZZLE) == 512 == peak(PUZZLE, SOLVED)
    assert clashes(PUZZLE, SOLVED) == []
    assert "solved" in sentence(PUZZLE, SOLVED, "a")
    assert peak(PUZZLE, plan_memory(PUZZLE)) == 768


def test_it_begins_with_a_pile():
    """Nothing is shared and nothing clashes; the first box is chosen."""
    puzzle = widgets.memory_puzzle()
    assert puzzle.places == {"a": 0, "b": 128, "c": 256, "d": 384, "e": 512, "f": 768}
    assert (puzzle.chosen, clashes(puzzle.values, puzzle.places)) == ("a", [])
    assert "The block has 1024 bytes" in puzzle.said and "has 512 bytes. Can you reach it?" in puzzle.said


def test_keys_choose_and_move():
    """Left and right go round, up and down move by 64 bytes and stay in the picture, R begins anew."""
    puzzle = widgets.memory_puzzle(PAIR)
    keys(puzzle, "ArrowLeft")
    assert puzzle.chosen == "y"
    keys(puzzle, "ArrowDown", "ArrowDown")
    assert puzzle.places == {"x": 0, "y": 0}
    keys(puzzle, *["ArrowUp"] * 9)
    assert puzzle.places["y"] == 64  # 192 bytes is all that there is
    keys(puzzle, "r")
    assert (puzzle.chosen, puzzle.places) == ("x", {"x": 0, "y": 64})
    puzzle._hear({"part": "y"})
    assert puzzle.chosen == "y"


def test_a_clash_is_shown_and_told():
    """Two boxes in the same bytes at one step have thick frames, and the sentence names them and the step."""
    places = {"x": 0, "y": 0}
    assert clashes(PAIR, places) == [("x", "y")]
    assert kinds(picture(PAIR, places, "x")) == {"x": "bad", "y": "bad"}
    assert "x and y are both there at step 1, in the same bytes" in sentence(PAIR, places, "x")
    assert clashes({"x": Lifetime(64, 0, 1), "y": Lifetime(64, 2, 3)}, places) == []


def test_the_lowest_block_is_called_solved():
    """Only a plan without clashes that reaches the fullest step."""
    assert "solved" in sentence(PAIR, {"x": 128, "y": 0}, "x")
    assert "solved" not in sentence(PAIR, {"x": 0, "y": 0}, "x")
    apart = {"x": Lifetime(64, 0, 1), "y": Lifetime(64, 2, 3)}
    assert "solved" not in sentence(apart, {"x": 0, "y": 64}, "x")
    assert "solved" in sentence(apart, {"x": 0, "y": 0}, "x")


def test_the_chosen_box_differs_by_more_than_its_colour():
    """It has a frame of its own, and brackets around its name."""
    drawing = picture(PAIR, {"x": 0, "y": 64}, "y")
    assert kinds(drawing) == {"x": "used", "y": "mark"}
    assert re.findall(r">(\[y\]|x)</text>", drawing.svg) == ["x", "[y]"]


def test_a_page_without_widgets_shows_the_picture():
    """With its sentence, and words for people who cannot see it."""
    puzzle = widgets.memory_puzzle(PAIR)
    shown = puzzle.fallback()
    assert "data:image/svg+xml" in shown and "The block has 192 bytes" in shown
    assert "x, chosen: bytes 0 to 63, steps 0 to 1." in puzzle.still()[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "0 values cannot be shown; take 1 to 12"),
        ({n: Lifetime(64, 0, 1) for n in range(13)}, "13 values cannot be shown"),
        ({"x": Lifetime(100, 0, 1)}, "a size of 100 bytes is no multiple of 64; round it up"),
        ({"x": Lifetime(0, 0, 1)}, "a size of 0 bytes is no multiple of 64"),
    ],
)
def test_what_is_no_puzzle(values, words):
    """One sentence says why."""
    with pytest.raises(ValueError, match=f"^memory_puzzle: {words}"):
        widgets.memory_puzzle(values)


def test_a_box_that_is_not_there():
    """The sentence names those that are."""
    with pytest.raises(KeyError, match="there is no box 'z'; the boxes are x, y"):
        widgets.memory_puzzle(PAIR).choose("z")

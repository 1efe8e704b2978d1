"""Pictures of loops on several cores: shares of threads, iterations that meet, walks through memory."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from looking_into import SVG, boxes, inside, texts, words

from minigrad import debug, draw
from minigrad.draw.parallel import MOST_BOXES
from minigrad.machine._numba import numba

prange = numba.prange


def _shifted(out, a):
    for i in prange(1, len(a)):
        out[i] = out[i - 1] + a[i]


def _carried(out, a):
    last = 0.0
    for i in prange(len(a)):
        last = 0.5 * last + a[i]
    out[0] = last


def _doubled(out, a):
    for i in prange(len(a)):
        out[i] = 2.0 * a[i]


def _shared(out, a):
    buffer = np.empty(1)
    for i in prange(len(a)):
        buffer[0] = a[i]
        out[i] = buffer[0]


def _many(out, a):
    for i in prange(len(a)):
        out[0] = a[i]
        out[1] = a[i]
        out[2] = a[i]
        out[3] = a[i]
        out[4] = a[i]
        out[5] = a[i]


def report(kernel):
    """What the detector says of a kernel on a few elements."""
    return debug.races(kernel, np.zeros(8), np.ones(8))


# --- iterations ----------------------------------------------------------------------------------------------


def test_shares_are_runs_of_neighbours():
    """Ten iterations on four threads are shares of 3, 3, 2 and 2, each in order, as Numba makes them."""
    picture = draw.iterations(10, 4)
    assert "thread 0 runs 0, 1, 2; thread 1 runs 3, 4, 5; thread 2 runs 6, 7; thread 3 runs 8, 9" in words(picture)
    assert [each for each in texts(picture) if each.startswith("t") and each[1:].isdigit()] == ["t0", "t1", "t2", "t3"]
    assert len(boxes(picture, "used")) + len(boxes(picture, "other")) + len(boxes(picture, "cell")) == 20


OBSERVED = """
import numpy as np
from minigrad.machine._numba import numba

@numba.njit(parallel=True)
def who(out):
    for i in numba.prange(len(out)):
        out[i] = numba.get_thread_id()

seen = np.zeros(11, dtype=np.int64)
who(seen)
print(*seen)
"""


def test_shares_are_those_of_numba():
    """What the picture shares out agrees with what a compiled loop was observed to do."""
    # Of Numba's layers tbb alone lets a thread that is idle take what was another's.
    chosen = {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "4"}
    command = [sys.executable, "-c", OBSERVED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=os.environ | chosen)
    assert words(draw.iterations(11, 4)) == words(draw.iterations(11, 4, owners=[*map(int, done.stdout.split())]))


def test_observed_owners():
    """Owners that were observed are drawn as they are, also where a thread has two runs."""
    picture = draw.iterations(6, 2, owners=[0, 0, 1, 1, 1, 0])
    assert "thread 0 runs 0, 1, 5; thread 1 runs 2, 3, 4" in words(picture)
    assert [each for each in texts(picture) if each in ("t0", "t1")] == ["t0", "t1", "t0"]


def test_a_thread_without_work():
    """Where there are more threads than iterations, some have none."""
    assert "thread 2 runs none" in words(draw.iterations(2, 3))


@pytest.mark.parametrize(("size", "threads"), [(0, 1), (1, 0), (MOST_BOXES + 1, 2), (3, 13)])
def test_iterations_that_cannot_be_drawn(size, threads):
    """Nothing, and too much, are refused with the limits."""
    with pytest.raises(ValueError, match=r"draw\.iterations: .* cannot be drawn; take 1 to 24 iterations and 1 to 12"):
        draw.iterations(size, threads)


@pytest.mark.parametrize("owners", [[0, 1], [0, 1, 2], [0, -1, 1]])
def test_owners_that_do_not_fit(owners):
    """Each iteration has one owner, and it is one of the threads."""
    with pytest.raises(ValueError, match="owners must name a thread below 2 for each of 3 iterations"):
        draw.iterations(3, 2, owners=owners)


# --- races ---------------------------------------------------------------------------------------------------


def test_two_iterations_and_the_element_between():
    """The writer stands left, the reader right, and the element in which they meet is framed."""
    picture = draw.races(report(_shifted))
    shown = texts(picture)
    assert len(boxes(picture, "bad")) == 1
    assert [each for each in shown if each in ("iteration 1", "iteration 2", "writes", "reads", "out[1]")] == [
        "out[1]", "iteration 1", "writes", "iteration 2", "reads",
    ]  # fmt: skip
    root = ET.fromstring(picture.svg)
    element, *sides = (each.get("x") for each in root.iter(f"{SVG}rect") if each.get("x"))
    tips = [float(each.get("points").split(",")[0]) for each in root.iter(f"{SVG}polygon")]
    assert tips == pytest.approx([float(element) - 4.0, float(sides[1]) - 3.0])  # to what is written, to who reads
    assert "both: out[i] = out[i - 1] + a[i]" in shown
    assert "the same is true of 6 elements" in shown


def test_each_line_says_who_comes_there():
    """Where two iterations meet in different lines, each line is shown with what is done there."""
    shown = texts(draw.races(report(_shared)))
    assert "both: buffer[0] = a[i]" in shown
    assert {"reads: out[i] = buffer[0]", "writes: buffer[0] = a[i]"} <= set(shown)


def test_findings_of_no_single_element():
    """What concerns a variable is put into one line, with its kind."""
    picture = draw.races(report(_carried))
    assert len(boxes(picture, "bad")) == 0
    assert [each.split(",")[0] for each in texts(picture)[1:]] == ["carried: last", "lost: last"]


def test_no_races():
    """Without findings the picture is the summary alone."""
    picture = draw.races(report(_doubled))
    line = _doubled.__code__.co_firstlineno + 1
    assert texts(picture) == [f"_doubled: no races in 8 iterations at line {line}"]


def test_many_findings_are_not_all_drawn():
    """Four findings are drawn, and the rest is counted."""
    found = report(_many)
    assert len(found.races) == 6
    picture = draw.races(found)
    assert len(boxes(picture, "bad")) == 4
    assert texts(picture)[-1] == "and 2 more like these"


# --- walks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "kept", "fetched"),
    [("rows", 1, 8), ("rows", 2, 8), ("columns", 2, 32), ("columns", 3, 32), ("columns", 4, 8)],
)
def test_how_often_lines_are_fetched(by, kept, fetched):
    """Along the rows each line comes once; down the columns each visit fetches one, unless all four are kept."""
    picture = draw.walk(4, 8, by, kept=kept)
    assert f"32 visits, {fetched} lines fetched ({4 * fetched} elements)" in texts(picture)
    assert len(boxes(picture, "mark")) == fetched


def test_the_order_of_visits():
    """The numbers in the boxes are the order in which the loop comes by."""
    root = ET.fromstring(draw.walk(2, 3, "columns", line=1).svg)
    placed = {
        (float(each.get("y")), float(each.get("x"))): each.text
        for each in root.iter(f"{SVG}text")
        if each.text.isdigit()
    }
    assert [placed[place] for place in sorted(placed)] == ["0", "2", "4", "1", "3", "5"]


def test_walks_that_cannot_be_drawn():
    """An unknown direction, an empty table and a cache without room are refused."""
    with pytest.raises(ValueError, match=r"draw\.walk: by is 'up'; it must be 'rows' or 'columns'"):
        draw.walk(2, 2, "up")
    for given in ((0, 3), (13, 3), (3, 25)):
        with pytest.raises(ValueError, match=r"draw\.walk: .* cannot be drawn; take 1 to 12 rows, 1 to 24 columns"):
            draw.walk(*given, "rows")
    with pytest.raises(ValueError, match="and 0 of them kept cannot be drawn"):
        draw.walk(2, 2, "rows", kept=0)


@pytest.mark.parametrize(
    "picture",
    [
        draw.iterations(1, 1),
        draw.iterations(24, 12),
        draw.races(report(_carried)),
        draw.races(report(_doubled)),
        draw.races(report(_many)),
        draw.races(report(_shared)),
        draw.walk(1, 1, "rows"),
        draw.walk(12, 24, "columns"),
        draw.walk(3, 5, "rows", line=2),
    ],
    ids=lambda picture: picture.title,
)
def test_nothing_is_cut(picture):
    """Every box and every line of text lies within its picture."""
    assert inside(picture)

"""Pictures of accesses, and how reports read in a notebook."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from minigrad.debug import Race, Report, cuda_races
from minigrad.debug.draw import LARGEST
from minigrad.machine._numba import cuda, numba

SIZE = 4


def reverse(out, a, table):
    window = cuda.shared.array(SIZE, numba.float64)
    t = cuda.threadIdx.x
    window[t] = a[cuda.grid(1)] + table[t, 0]
    cuda.syncthreads()
    out[cuda.grid(1)] = window[SIZE - 1 - t]


def colliding(out, a):
    out[cuda.threadIdx.x // 2] = a[cuda.threadIdx.x]
    cuda.atomic.add(out, 3, 1.0)


def square(out):
    i, j = cuda.grid(2)
    out[i, j] = 1.0


ARGUMENTS = (np.zeros(8), np.arange(8.0), np.ones((4, 2)))


def lines_of(svg, kind):
    return re.findall(rf'<path class="mg-line {kind}( mg-strong)?"', svg)


def test_the_picture_has_a_line_for_each_access():
    """Each element that a thread reads or writes has one line; those of one thread are strong."""
    picture = cuda_races(reverse, 2, SIZE, *ARGUMENTS).draw(block=(1,), thread=(2,))
    ElementTree.fromstring(picture.svg)
    reads, writes = lines_of(picture.svg, "mg-read"), lines_of(picture.svg, "mg-write")
    assert (len(reads), len(writes)) == (3 * SIZE, 2 * SIZE)
    assert sum(map(bool, reads)) == 3 and sum(map(bool, writes)) == 2
    assert "window (shared)" in picture.svg and picture._repr_svg_() == picture.svg


def test_the_picture_is_told_in_words():
    """The description says for each thread what it reads and writes, in the block that is drawn."""
    picture = cuda_races(reverse, 2, SIZE, *ARGUMENTS).draw(block=(1,))
    assert "Thread 0 reads a[4], table[0, 0], window[3] and writes window[0], out[4]." in picture.description
    assert picture.description in picture.svg
    assert "Thread 3 reads a[7]" in repr(picture)


def test_elements_with_a_collision_are_framed():
    """Exactly the elements on which threads collide have a red frame."""
    svg = cuda_races(colliding, 1, SIZE, np.zeros(8), np.arange(8.0)).draw().svg
    assert len(re.findall("mg-used mg-bad", svg)) == 2
    assert len(lines_of(svg, "mg-atomic")) == SIZE and "atomic</text>" in svg
    svg = cuda_races(reverse, 2, SIZE, *ARGUMENTS).draw().svg
    assert "mg-used mg-bad" not in svg and "atomic</text>" not in svg


def test_threads_of_two_dimensions_have_two_numbers():
    """A block of two dimensions names its threads by x and y, also where both are 0."""
    picture = cuda_races(square, (1, 1), (2, 2), np.zeros((2, 2))).draw()
    assert ">0,0</text>" in picture.svg and "Thread 0,1 writes out[0, 1]." in picture.description


def test_a_picture_can_be_saved(tmp_path):
    """The file holds the picture."""
    picture = cuda_races(square, 1, 2, np.zeros((2, 2))).draw()
    picture.save(tmp_path / "accesses.svg")
    assert (tmp_path / "accesses.svg").read_text(encoding="utf-8") == picture.svg


def test_what_cannot_be_drawn_is_refused():
    """A block that is not known, or too large to be read, is refused; the report is shown without it."""
    with pytest.raises(ValueError, match=r"block \(5, 0, 0\) of square"):
        cuda_races(square, 1, 2, np.zeros((2, 2))).draw(block=(5,))
    n = LARGEST + 1
    large = cuda_races(square, (1, 1), (n, 1), np.zeros((n, 1)))
    with pytest.raises(ValueError, match=f"a block of {n} threads is too large"):
        large.draw()
    assert "<svg" not in large._repr_html_()

    def wide(out):
        for k in range(n):
            out[k] = 1.0

    with pytest.raises(ValueError, match=f"{n} elements of out are too many"):
        cuda_races(wide, 1, 1, np.zeros(n)).draw()


def test_reports_escape_the_source():
    """Source text is shown as text in a notebook, and a picture follows the findings of a CUDA kernel."""

    def compare(out, a):
        out[0] = a[0] < a[1]

    page = cuda_races(compare, 1, 2, np.zeros(2), np.ones(2))._repr_html_()
    assert "out[0] = a[0] &lt; a[1]" in page and "<svg" in page and "<li><b>write-write</b>" in page


def test_a_long_report_is_cut():
    """Of many findings, eight are printed and the rest are counted."""
    found = tuple(Race("write-write", f"number {i}", line=i + 1, function="f") for i in range(10))
    report = Report("kernel", found)
    assert "8. write-write: number 7" in str(report) and "number 8" not in str(report)
    assert str(report).endswith("and 2 more like these")
    assert "and 2 more like these" in report._repr_html_()
    assert not Report("kernel") and "no races" in str(Report("kernel"))

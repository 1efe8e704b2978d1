"""The measurement of growth: what counts as a jump, what stands on the page, and that its programs run."""

import dataclasses
import importlib

import numpy as np
import pytest

from benchmarks import __main__, growth, growth_section
from benchmarks.growth import GROWTHS, Growth, Point
from benchmarks.lines import GROWING
from benchmarks.workers import Failed


def series(**seconds):
    """The seconds that libraries took at 10, 20, 50 and 100 elements."""
    return {
        name: {n: Point(time, 1000 + n) for n, time in zip((10, 20, 50, 100), times, strict=True)}
        for name, times in seconds.items()
    }


def test_a_jump_is_what_peers_do_not():
    """The time for an element rises from 20 to 50 by 2, of peers by 1.2; from 50 to 100 theirs rises as much."""
    found = growth.jumps(
        series(minigrad=[1.0, 2.0, 10.0, 40.0], torch=[1.0, 2.0, 6.0, 24.0], numpy=[1.0, 2.0, 4.0, 8.0])
    )
    assert [jump.sizes for jump in found] == [(20, 50)]
    assert (found[0].ours, found[0].theirs) == (pytest.approx(2.0), pytest.approx(1.2))


def test_a_peer_that_was_stopped_for_a_moment_hides_no_jump():
    """A peer took a hundred at 50 elements, and 8 at 100: at 50 it needs no more than 8."""
    found = growth.jumps(series(minigrad=[1.0, 2.0, 15.0, 25.0], torch=[1.0, 2.0, 100.0, 8.0]))
    assert [(jump.sizes, round(jump.theirs, 2)) for jump in found] == [((20, 50), 1.6)]


def test_a_time_that_falls_for_an_element_does_not_jump():
    """While a call costs more than its elements, time for an element falls: slower than a peer's is no jump."""
    assert growth.jumps(series(minigrad=[1.0, 1.9, 4.5, 9.0], torch=[1.0, 1.0, 1.0, 1.0])) == []


def test_elements_of_a_matrix_are_counted():
    """Time as the square of n is the same for each element of n x n; the border of 32,768 elements is at 181."""
    squared = series(minigrad=[1.0, 4.0, 25.0, 100.0], torch=[1.0] * 4)
    assert growth.jumps(squared, 2) == []
    matrices = next(each for each in GROWTHS if each.power == 2)
    assert [(round(at), name) for at, name in growth.borders(matrices, 100, 200).items()] == [(181, "LARGE")]


def test_sizes_go_up_to_their_ends():
    """Three sizes a decade, squares among them, and as many parameters as the network has."""
    plain, rows, training = GROWTHS[0], GROWTHS[3], GROWTHS[-1]
    assert plain.sizes[:4] == (10, 20, 50, 100) and plain.sizes[-1] == 10**8 and len(plain.sizes) == 22
    assert all(round(n**0.5) ** 2 == n for n in rows.sizes)
    for parameters in training.sizes:
        h = training.argument(parameters)
        assert (2 * h + h) + (h * h + h) + (h + 1) == parameters


@pytest.mark.parametrize("growing", [each for each in GROWTHS if len(each.ways) > 1], ids=lambda each: each.file)
def test_libraries_compute_the_same(growing):
    """At a small size every program has the result of PyTorch, NumPy's own form included."""
    size = growing.argument(growing.sizes[2])
    wanted, *others = (
        np.asarray(GROWING[growing.name](size, False)(importlib.import_module(name))())
        for name in ("torch", "minigrad", "numpy")
    )
    for result in others:
        assert result.dtype == wanted.dtype == np.float32
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("library", ["torch", "minigrad"])
def test_programs_go_back(library):
    """Each program runs with its backward pass, the training step among them."""
    for growing in GROWTHS:
        GROWING[growing.name](growing.argument(growing.sizes[0]), True)(importlib.import_module(library))()


def test_a_picture_names_libraries_at_their_lines():
    """Both ways have panels of seconds and of bytes; a ring lies around a jump; the words say the last shares."""
    growing = Growth("a * b", "product", (10, 20, 50, 100))
    found = {
        False: series(minigrad=[1.0, 2.0, 10.0, 20.0], torch=[1.0, 2.0, 5.0, 10.0], numpy=[1.0, 2.0, 5.0, 10.0]),
        True: series(minigrad=[1.0, 2.0, 5.0, 5.0], torch=[1.0, 2.0, 5.0, 10.0]),
    }
    picture = growth.drawn(growing, found)
    forward, memory, *_ = axes = picture.figure.axes
    assert [len(ax.lines) for ax in axes] == [4, 3, 2, 2]
    assert forward.lines[3].get_xydata().tolist() == [[50.0, 10.0]]
    assert {text.get_text() for text in memory.texts} == {"minigrad", "PyTorch", "NumPy"}
    assert "minigrad takes 0.5 of PyTorch's time and 1 of its memory, forward and backward" in picture.caption


class Process:
    """A library's process that has memory for 20 elements, and takes a second for ten of them."""

    pid = 1

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def build(self, line, size, backward):
        if size > 20:
            raise Failed("the process ended")
        self.size = size

    def seconds(self):
        return self.size / 10

    def peak_of_a_run(self):
        return 5_000_000


class Samples:
    """One sample of each program, on a busy machine."""

    is_quiet = False

    def __init__(self, programs):
        self.time = {name: program() for name, program in programs.items()}.__getitem__


@pytest.fixture
def small(monkeypatch):
    """One program at three sizes, without processes."""
    growing = dataclasses.replace(GROWTHS[0], sizes=(10, 20, 50), ways=(False,))
    monkeypatch.setattr(growth_section, "GROWTHS", (growing,))
    monkeypatch.setattr(growth_section, "Worker", Process)
    monkeypatch.setattr(growth_section, "interleave", lambda programs, load, seconds, rounds: Samples(programs))
    return growing


def test_the_page_has_what_was_measured(tmp_path, monkeypatch, small):
    """The page has the sizes that ran before one was too large, and both pictures; it says that others ran beside."""
    monkeypatch.setattr(growth_section, "RESULTS", tmp_path / "RESULTS_GROWTH.md")
    monkeypatch.setattr(growth_section, "PICTURES", tmp_path / "pictures")
    (section,), steps = __main__.some(["growth"])
    *news, jumps, sizes = section
    assert steps == growth_section.STEPS
    assert news == [f"a * b, forward, {size} elements" for size in small.sizes]
    assert sizes.rows == [["a * b, forward", "20 elements", *["2 s, 5 MB"] * 3]]
    assert jumps.rows == []
    assert f"at 2 of {steps} sizes, such as a * b, forward, 10 elements." in jumps.notes[0]
    page = (tmp_path / "RESULTS_GROWTH.md").read_text()
    assert "Written by `python -m benchmarks growth`" in page
    for name in ("product", "class"):
        assert f"](pictures/{name}.png)" in page
        assert (tmp_path / "pictures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "12 to 10,000 students: record the class, " in page and "a copy of the gradebook" not in page


def test_sizes_that_do_not_fit_into_memory_are_left_out(monkeypatch, small):
    """Where the machine has memory for 15 elements, 20 are not tried."""
    monkeypatch.setattr(growth_section, "available_memory", lambda: 15 * growth_section.HELD)
    found = {}
    list(growth_section._measured(small, False, found, []))
    assert {name: list(points) for name, points in found.items()} == {name: [10] for name in growth.NAMES}


def test_a_program_that_does_not_run_at_all_is_an_error(small):
    """Without a smallest size there is nothing to draw."""
    with pytest.raises(Failed):
        list(growth_section._measured(dataclasses.replace(small, sizes=(50,)), False, {}, []))

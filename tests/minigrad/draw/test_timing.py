"""Pictures of measured times."""

import io
import re

import matplotlib.image
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from minigrad import draw

SIZES = [100, 10_000, 4_000_000]


def drawn(picture):
    """Whether it is a PNG file with something drawn on white."""
    pixels = matplotlib.image.imread(io.BytesIO(picture.png()), format="png")[..., :3]
    return min(pixels.shape[:2]) > 100 and 0.001 < np.mean(pixels.min(axis=2) < 0.9) < 0.9


def test_times_on_logarithmic_axes():
    """Each series has its median at each size, and both axes are logarithmic."""
    picture = draw.timings(SIZES, {"one": [1e-6, 1e-5, 1e-3], "more": [[4e-6, 2e-6, 3e-6], [2e-5], [1e-3, 3e-3]]})
    (ax,) = picture.figure.axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    (legend,) = picture.figure.legends
    assert [each.get_text() for each in legend.get_texts()] == ["one", "more"]
    lines = [container.lines[0].get_ydata() for container in ax.containers]
    assert [list(line) for line in lines] == [[1e-6, 1e-5, 1e-3], pytest.approx([3e-6, 2e-5, 2e-3])]
    assert [each.get_text() for each in ax.get_xticklabels()] == ["100", "10k", "4M"]
    assert drawn(picture)
    assert repr(picture) == "Picture: times of one, more for 100 to 4,000,000 (elements)"


def test_no_line_runs_through_the_legend():
    """The names stand above the axes, whatever was measured."""
    picture = draw.timings(SIZES, {name: [1.0, 1e-6, 1.0] for name in ("one", "two", "three", "four")})
    renderer = FigureCanvasAgg(picture.figure).get_renderer()
    picture.figure.draw(renderer)
    names, (ax,) = picture.figure.legends[0].get_window_extent(renderer), picture.figure.axes
    assert ax.get_tightbbox(renderer).y1 <= names.y0 < names.y1 <= picture.figure.bbox.y1


def test_bars_reach_from_quartile_to_quartile():
    """Of five runs, the second and the fourth in order are the quartiles."""
    picture = draw.timings([10], {"five": [[5.0, 1.0, 4.0, 2.0, 3.0]]})
    (bars,) = picture.figure.axes[0].containers[0].lines[2]
    assert bars.get_segments()[0][:, 1].tolist() == [2.0, 4.0]


def test_the_line_of_memory():
    """The dashed line is the bytes that have to be moved, divided by the bandwidth."""
    picture = draw.timings(SIZES, {"one": [1e-6, 1e-5, 1e-2]}, bytes_per_element=24, bandwidth=12e9)
    (ax,) = picture.figure.axes
    (line,) = [each for each in ax.lines if each.get_linestyle() == "--"]
    assert list(line.get_ydata()) == pytest.approx([2e-7, 2e-5, 8e-3])
    assert line.get_label() == "memory: 24 bytes an element, 12 GB/s"
    assert repr(picture).endswith(", above what memory needs at 12 GB/s")


def test_many_sizes_have_no_labels_of_their_own():
    """More sizes than have room below the axis are left to the axis."""
    ax = draw.timings(range(1, 11), {"one": range(1, 11)}, axis="side").figure.axes[0]
    assert len(ax.get_xticklabels()) != 10
    assert ax.get_xlabel() == "side"


@pytest.mark.parametrize(
    ("sizes", "seconds", "sentence"),
    [
        ([], {"one": []}, "there is nothing to draw"),
        ([1], {}, "there is nothing to draw"),
        ([1, 2], {"one": [1.0]}, "'one' has 1 entries for 2 sizes"),
        ([1], {"one": [0.0]}, "'one' has a time that is not above 0"),
        ([1], {"one": [[]]}, "one of the entries is an empty list"),
    ],
)
def test_times_that_cannot_be_drawn(sizes, seconds, sentence):
    """Nothing, another number of times than of sizes, and times without a logarithm are refused."""
    with pytest.raises(ValueError, match=rf"draw\.timings: {sentence}"):
        draw.timings(sizes, seconds)


def test_runs_with_median_and_mean():
    """A single slow run moves the mean and leaves the median; the scale is logarithmic."""
    picture = draw.runs({"cold": [1e-2, 1e-6, 2e-6, 3e-6], "warm": [1e-6, 1e-6]})
    cold, warm = picture.figure.axes
    shown = [each.get_text() for each in cold.get_legend().get_texts()]
    assert shown == ["half of all runs", "median 2.5", "mean 2,500"]
    assert (cold.get_yscale(), warm.get_title()) == ("log", "warm")
    assert list(cold.lines[0].get_ydata()) == pytest.approx([1e4, 1.0, 2.0, 3.0])
    assert drawn(picture)
    assert "warm: median 1, mean 1 microseconds" in repr(picture)


def test_times_of_runs_are_written_in_one_way():
    """From less than a microsecond to a second: no exponents, in the ticks and in the legend."""
    ax = draw.runs({"cold": [1.7, 4e-7, 2e-6, 3e-5]}).figure.axes[0]
    ax.figure.canvas.draw()
    ticks = [*ax.yaxis.get_ticklabels(), *ax.yaxis.get_ticklabels(minor=True)]
    written = [each.get_text() for each in ticks if each.get_text()]
    assert {"1", "100", "10,000", "1,000,000"} <= set(written)
    assert all(re.fullmatch(r"\d{1,3}(,\d{3})*|0\.\d+", each) for each in written)
    assert [each.get_text() for each in ax.get_legend().get_texts()][1:] == ["median 16", "mean 425,000"]
    assert [each.get_text() for each in ax.get_xticklabels() if "." in each.get_text()] == []  # runs are counted


@pytest.mark.parametrize("seconds", [{}, {"one": [1.0]}, {"one": [1.0, 0.0]}])
def test_runs_that_cannot_be_drawn(seconds):
    """Single runs and times of 0 are refused."""
    with pytest.raises(ValueError, match=r"draw\.runs: give at least two times under each name"):
        draw.runs(seconds)


def test_a_roof_over_kernels():
    """The roof is a slope up to the ridge and flat behind it; a kernel that was not measured lies on it, hollow."""
    picture = draw.roofline(1e11, 1e10, {"add": (0.1, 5e8), "most": (5.0, None), "product": (40.0, 2e10)}, machine="m")
    (ax,) = picture.figure.axes
    roof, _ridge, add, _, most, _, product, _ = ax.lines
    assert list(roof.get_xdata())[1] == 10.0
    assert list(roof.get_ydata())[1:] == [100.0, 100.0]
    assert roof.get_ydata()[0] == pytest.approx(roof.get_xdata()[0] * 10.0)
    assert [mark.get_xydata().tolist() for mark in (add, most, product)] == [
        [[0.1, 0.5]],
        [[5.0, 50.0]],
        [[40.0, 20.0]],
    ]
    assert (most.get_markerfacecolor(), add.get_markerfacecolor() == "none") == ("none", False)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_title()) == ("log", "log", "m")
    assert drawn(picture)
    assert "add: 0.1 operations a byte, 0.5 of at most 1 GFLOP/s; most: 5 operations a byte, at most 50" in repr(
        picture
    )


@pytest.mark.parametrize("kernels", [{}, {"add": (0.0, 1.0)}, {"add": (1.0, -1.0)}, {"add": (float("nan"), None)}])
def test_a_roof_over_nothing(kernels):
    """No kernels, and numbers that have no place on logarithmic axes, are refused."""
    with pytest.raises(ValueError, match=r"draw\.roofline: give at least one kernel"):
        draw.roofline(1e11, 1e10, kernels)

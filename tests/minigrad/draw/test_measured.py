"""Pictures of measured memory and of bytes against seconds show the numbers that they were given."""

import pytest

from minigrad import draw


def test_memory_over_time():
    """A line for each run, as long as the run, and its highest point in words."""
    picture = draw.memory_over_time({"kept": [1, 2, 3, 2], "pieces": [1, 1.5]}, "tensors")
    lines = picture.figure.axes[0].lines
    assert [list(line.get_ydata()) for line in lines] == [[1, 2, 3, 2], [1, 1.5]]
    assert "in tensors; kept: at most 3; pieces: at most 1.5" in str(picture)


def test_bytes_and_seconds():
    """Megabytes to the right, milliseconds upwards; the dashed line is what memory alone would take."""
    picture = draw.bytes_and_seconds({"gelu": [(168e6, 0.02), (16e6, 0.004)]}, bandwidth=10e9)
    line, memory = picture.figure.axes[0].lines
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([168.0, 16.0], [20.0, 4.0])
    for size, time in zip(memory.get_xdata(), memory.get_ydata(), strict=True):
        assert size * 1e6 / (time / 1e3) == pytest.approx(10e9)


@pytest.mark.parametrize("series", [{}, {"empty": []}])
def test_no_steps_are_refused(series):
    """There is nothing to draw."""
    with pytest.raises(ValueError, match=r"draw\.memory_over_time: there is nothing to draw"):
        draw.memory_over_time(series)


@pytest.mark.parametrize("measured", [{}, {"none": []}, {"zero": [(1.0, 0.0)]}])
def test_what_logarithmic_axes_cannot_show(measured):
    """Bytes and seconds are above 0."""
    with pytest.raises(ValueError, match="give bytes and seconds above 0"):
        draw.bytes_and_seconds(measured)

"""Pictures of several workers."""

import pytest

from minigrad import draw


def test_schedule_has_a_box_for_each_step():
    """Three steps in two rows are three boxes, and a wait between two of them is none."""
    picture = draw.schedule({"backward": [("a", 0.0, 1e-3), ("b", 2e-3, 3e-3)], "network": [("a", 1e-3, 4e-3)]})
    assert picture.svg.count("<rect") == 1 + 3
    assert repr(picture) == (
        "Schedule: backward: a from 0.00 to 1.00 ms, b from 2.00 to 3.00 ms. network: a from 1.00 to 4.00 ms."
    )


@pytest.mark.parametrize("rows", [{}, {"a": []}, {"a": [("x", 2.0, 1.0)]}, {"a": [("x", -1.0, 1.0)]}])
def test_what_cannot_be_drawn(rows):
    """Nothing, and steps that end before they begin, are refused."""
    with pytest.raises(ValueError, match=r"draw\.schedule: give each step its begin and its end"):
        draw.schedule(rows)

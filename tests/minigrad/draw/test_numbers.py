"""Pictures of numbers of few bits."""

import numpy as np
import pytest

from minigrad import draw


def test_bits_has_a_box_for_each():
    """A format with 5 and 10 bits has 16 boxes, and its words count them."""
    picture = draw.bits({"float16": (5, 10)})
    assert picture.svg.count("<rect") == 1 + 16
    assert repr(picture) == "Bits of numbers: float16: 1 bit of sign, 5 of exponent, 10 of fraction."
    with pytest.raises(ValueError, match=r"draw\.bits: no format"):
        draw.bits({})


def test_magnitudes_counts_what_lies_outside():
    """Of four numbers that are not 0, one is below the range and one above."""
    picture = draw.magnitudes({"g": np.array([0.0, 2.0**-30, -1.0, 2.0, 1e6])}, 2.0**-24, 65504.0, "sizes")
    assert "g: 25.0% below the range, 25.0% above it" in repr(picture)
    with pytest.raises(ValueError, match=r"draw\.magnitudes: there is nothing to draw"):
        draw.magnitudes({"g": [0.0]}, 2.0**-24, 65504.0)

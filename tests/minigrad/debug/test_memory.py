"""The addresses of elements, by which detectors know them."""

import numpy as np
import pytest

from minigrad.debug.memory import addresses

MEMORY = np.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize(
    "view",
    [
        MEMORY,
        MEMORY.T,
        MEMORY[::-1, 1::2],
        MEMORY[2:3, 3].reshape(()),
        MEMORY[1:2],
        MEMORY[:0],
        np.broadcast_to(MEMORY[0], (3, 6)),
    ],
    ids=["whole", "transposed", "reversed", "one element", "one row", "empty", "stretched"],
)
def test_an_address_is_where_the_element_lies(view):
    """Views of the same layout at different places have addresses of their own, and a single element has one too."""
    found = addresses(view)
    assert isinstance(found, np.ndarray) and found.shape == view.shape and found.dtype == np.int64
    places = (found - MEMORY.ctypes.data) // MEMORY.itemsize
    assert MEMORY.ravel()[places].tolist() == view.tolist()


def test_what_is_kept_of_a_layout_is_not_handed_out():
    """A change of the addresses that were returned changes those of no other array."""
    addresses(MEMORY)[:] = 0
    assert addresses(MEMORY)[0, 0] == MEMORY.ctypes.data

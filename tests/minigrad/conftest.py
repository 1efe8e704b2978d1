"""What the library's tests share: the two engines, the specification and its quick twin."""

import pytest

from minigrad import fast
from minigrad.autodiff import is_grad_enabled


@pytest.fixture(params=["specification", "fast"])
def engine(request):
    """Run a test with the methods of `Scalar` as they are written, and again with their quick twins."""
    if request.param == "specification":
        fast.disable()
    yield request.param
    fast.enable()


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """No test leaves recording switched off."""
    yield
    assert is_grad_enabled()

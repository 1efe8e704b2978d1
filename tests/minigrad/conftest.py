"""What the library's tests share: the two engines, the specification and its quick twin, and the library as it was."""

import pytest

from minigrad import Scalar, autodiff, derivatives, functions, mlp, module, operators
from minigrad.autodiff import is_grad_enabled
from minigrad.exercises import installing
from minigrad.machine import overrides


@pytest.fixture(params=["specification", "fast"])
def engine(request):
    """Run a test with the methods of `Scalar` as they are written, and again with their quick twins."""
    if request.param == "specification":
        overrides.use_twins(False)
    yield request.param
    overrides.use_twins(True)


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """No test leaves recording switched off."""
    yield
    assert is_grad_enabled()


_MODULES = (autodiff, derivatives, functions, mlp, module, operators)


def _library():
    """Return every name of the library's modules and classes, with the object that stands there."""
    owners = [
        *_MODULES,
        *(v for m in _MODULES for v in vars(m).values() if isinstance(v, type)),
        Scalar,
    ]
    return {(id(o), name): value for o in owners for name, value in vars(o).items() if name != "__doc__"}


@pytest.fixture
def library_as_it_was():
    """After each test the library is what it was, object by object."""
    before = _library()
    yield
    for installation in reversed(list(installing._installed)):
        installation.undo()
    after = _library()
    assert {key for key in before.keys() | after.keys() if before.get(key) is not after.get(key)} == set()
    assert Scalar.__mul__.__module__ == "minigrad.quick.scalar"

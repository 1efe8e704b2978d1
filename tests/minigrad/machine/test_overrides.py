"""The registry of twins: quick forms that take a place, and give it back."""

import numpy as np
import pytest

import minigrad
from minigrad import Scalar, exercises
from minigrad.backward import steps, walk
from minigrad.errors import ExerciseNotDone, FunctionError
from minigrad.machine import overrides


class Base:
    """A class with a method to be inherited."""

    def inherited(self):
        """Return the name of the specification."""
        return "specified"


class Place(Base):
    """A class whose methods have twins."""

    def own(self):
        """Return the name of the specification."""
        return "specified"


@pytest.fixture
def registry(monkeypatch):
    """A registry of its own, which forgets what a test declares."""
    monkeypatch.setattr(overrides, "_twins", [])
    return overrides


def test_a_twin_takes_a_place_and_gives_it_back(registry):
    """In a class, where its method is inherited too, and in a table; only for the modules that it bypasses."""
    table = {"kept": "specified"}
    registry.twin(Place, "own", lambda self: "quick", unless=("operators",))
    registry.twin(Place, "inherited", lambda self: "quick", unless=("operators", "autodiff"))
    registry.twin(table, "kept", "quick", unless=("operators",))
    registry.twin(table, "new", "quick", unless=("autodiff",))

    def seen():
        return Place().own(), Place().inherited(), table.get("kept"), table.get("new")

    assert seen() == ("quick", "quick", "quick", "quick")
    with exercises.install({"operators.add": lambda a, b: a + b}):
        assert seen() == ("specified", "specified", "specified", "quick")
    assert seen() == ("quick", "quick", "quick", "quick")
    registry.use_twins(False)
    try:
        assert seen() == ("specified", "specified", "specified", None)
        assert "inherited" not in vars(Place)
    finally:
        registry.use_twins(True)


def test_a_twin_that_is_left_out_takes_no_place(registry, monkeypatch):
    """An edition leaves out the body of a twin that gives an answer away: the specification stays."""

    def cut():
        raise ExerciseNotDone("autodiff.backpropagate")

    listed = frozenset({f"{cut.__module__}.{cut.__qualname__}"})
    monkeypatch.setattr(registry, "cut_names", lambda: listed)
    table = {"back": "specified"}
    registry.twin(table, "back", cut, unless=())
    assert table == {"back": "specified"}


@pytest.mark.parametrize("is_left_out", [False, True])
def test_what_stands_there_may_be_the_quick_form(registry, monkeypatch, is_left_out):
    """A specification that is handed over takes the place of what stands there, for good where that is left out."""

    def own():
        return "quick"

    place = type("Place", (), {"form": staticmethod(own)})
    listed = frozenset({f"{own.__module__}.{own.__qualname__}"} if is_left_out else ())
    monkeypatch.setattr(registry, "cut_names", lambda: listed)
    registry.twin(place, "form", staticmethod(own), specified=staticmethod(lambda: "written"), unless=("operators",))
    assert place.form() == ("written" if is_left_out else "quick")
    with exercises.install({"operators.add": lambda a, b: a + b}):
        assert place.form() == "written"


def test_the_library_has_one_registry():
    """The twins of Scalar, of rules and of the backward pass of tensors are all declared there."""
    places = [each.owner for each in overrides._twins]
    assert any(owner is Scalar for owner in places)
    assert any(owner is steps.rules for owner in places)
    assert any(owner is walk.ways for owner in places)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((3, 1, 2, 4), (2, 4, 3)), ((3,), (3, 4))])
def test_the_rule_of_a_product_and_its_twin_give_the_same_gradients(shapes):
    """The library's rule, its quick twin, and a rule that is installed, with a recorded way back and without."""
    generator = np.random.default_rng(1)
    factors = [generator.normal(size=shape) for shape in shapes]
    weights = generator.normal(size=(factors[0] @ factors[1]).shape)

    def gradients(recorded):
        a, b = (minigrad.tensor(x, requires_grad=True) for x in factors)
        (a @ b).backward(minigrad.tensor(weights), create_graph=recorded)
        found = [a.grad.numpy(), b.grad.numpy()] if not recorded else [a.grad.detach().numpy()]
        if recorded:
            slope, b.grad = a.grad, None
            slope.sum().backward()
            found.append(b.grad.numpy())
        return found

    def asked(a, b, d_output):
        calls.append(d_output)
        return d_output @ b.mT, a.mT @ d_output

    calls = []
    for recorded in (False, True):
        quick = gradients(recorded)
        overrides.use_twins(False)
        try:
            specified = gradients(recorded)
        finally:
            overrides.use_twins(True)
        with exercises.install({"tensor_functions.matmul_back": asked}):
            installed = gradients(recorded)
        for one, two, three in zip(quick, specified, installed, strict=True):
            assert np.allclose(one, two)
            assert np.allclose(one, three)
    assert calls


def test_a_rule_of_a_product_that_returns_one_gradient_is_told():
    """Two factors have two gradients."""
    with exercises.install({"tensor_functions.matmul_back": lambda a, b, d_output: d_output}):
        a = minigrad.ones(2, 2).requires_grad_()
        with pytest.raises(FunctionError, match="matmul_back returned Tensor: return the gradient of a and"):
            (a @ a).sum().backward()

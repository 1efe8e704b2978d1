"""A gradient has its input's shape: what a rule may return instead, and what is refused."""

import numpy as np
import pytest

import minigrad
from minigrad import Function, engine, exercises, tensor_functions
from minigrad.backward import forward_mode
from minigrad.errors import FunctionError

WALKS = ["arrays", "tensors", "specification"]


def transposing(rule):
    """Return a function that transposes a matrix, with a backward of one's own."""

    class Transposed(Function):
        """Transpose."""

        @staticmethod
        def forward(ctx, a):
            """Exchange the axes."""
            return a.permute(1, 0)

        @staticmethod
        def backward(ctx, d_output):
            """Ask the rule that is tried."""
            return rule(d_output)

    return Transposed


def gradient(rule, x, upstream, walk):
    """Return what a leaf gets by one of the engine's walks."""
    leaf = minigrad.tensor(x).requires_grad_()
    answers = {"engine.unbroadcast": engine.unbroadcast} if walk == "specification" else {}
    result = transposing(rule).apply(leaf)
    if not answers:
        result.backward(minigrad.tensor(upstream), create_graph=walk == "tensors")
    else:
        with exercises.install(answers):
            result.backward(minigrad.tensor(upstream))
    return leaf.grad.detach().numpy()


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize(
    "rule", [lambda d: d, lambda d: d.sum(0), lambda d: d.permute(1, 0)[:, :2]], ids=["same", "row", "part"]
)
def test_another_shape_is_refused(rule, walk):
    """A gradient of the wrong shape is no gradient, even if it has as many elements; the error names both shapes."""
    x = np.zeros((2, 3))
    with pytest.raises(FunctionError, match=r"a gradient of shape \(.*\) to an input of shape \(2, 3\)"):
        gradient(rule, x, np.arange(6.0).reshape(3, 2), walk)


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (1, 1)])
def test_shapes_that_broadcast_are_made_to_fit(shape, walk):
    """Axes of size 1 are repeated, axes too many are summed over; also where there are no elements."""
    upstream = np.ones(shape[::-1])
    repeated = gradient(lambda d: d.sum().view(1, 1), np.zeros(shape), upstream, walk)
    summed = gradient(lambda d: d.permute(1, 0).expand(4, *shape), np.zeros(shape), upstream, walk)
    np.testing.assert_array_equal(repeated, np.full(shape, float(upstream.size)))
    np.testing.assert_array_equal(summed, np.full(shape, 4.0))


def test_an_expanded_tensor_without_elements_may_be_changed_in_place():
    """No two elements share memory where there are none."""
    x = minigrad.zeros(1, 3).expand(0, 3)
    x += 1.0
    assert x.shape == (0, 3)
    with pytest.raises(ValueError, match="share their memory"):
        minigrad.zeros(1, 3).expand(2, 3).add_(1.0)


class SumWithoutForwardMode:
    """A student's class: MiniTorch's two methods and no base."""

    forward = staticmethod(tensor_functions.Sum.forward)
    backward = staticmethod(tensor_functions.Sum.backward)


def test_forward_mode_of_a_students_class():
    """An answer of two methods keeps the forward-mode rule of the library's base."""
    with exercises.install({"tensor_functions.Sum": SumWithoutForwardMode}):
        x = minigrad.tensor(np.arange(6.0).reshape(2, 3)).requires_grad_()
        change = forward_mode.jvp(x.sum(dim=1), [x], [minigrad.tensor(np.arange(6.0).reshape(3, 2)).permute(1, 0)])
    assert change.tolist() == [6.0, 9.0]

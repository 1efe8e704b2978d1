"""Visible tests of View, Permute, Sum and matmul_back; those of `Max` stand beside the pooling that uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks import nn_functional
from minigrad.checks.expectation import Expectation, expect
from minigrad.checks.runner import visible
from minigrad.functions import Function
from minigrad.tensors import Tensor

__all__ = ["nn_functional"]

AXES = "06 'Axes go back where they came from'"
SUMS = "06 'A sum repeats its gradient'"
AGAIN = "06b 'A gradient that can be differentiated'"
PRODUCT = "06b 'The product of matrices'"

TABLE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
RECORDED = "what goes by way of an array or of `view_with` has no history: use d_output's own methods"
UPSTREAM = "these are slopes alone: hand on what comes from above, d_output"
METHODS = "d_output has strides of its own, and need not lie row by row: use its methods, not its storage"


@contextmanager
def refusals(hint: str) -> Iterator[None]:
    """Turn the errors for refused shapes and strides into a failed expectation with a hint."""
    try:
        yield
    except RecursionError:
        circle = (
            "a tensor's method of that name applies this very class: forward computes with what its docstring names"
        )
        raise Expectation(None, None, "forward calls itself, again and again", circle, None) from None
    except (ValueError, IndexError) as error:
        raise Expectation(error, None, f"raised {type(error).__name__}: {error}", hint, None) from error


def result(function: type[Function], x: object, **options: object) -> Any:
    """Apply a function to a leaf with the elements of an array."""
    with refusals("forward gets a tensor of any strides, and options that were checked before"):
        return function.apply(Tensor(x, requires_grad=True), **options)


def elements(found: object) -> Any:
    """Return a tensor's elements, and anything else as it is."""
    return found.tolist() if isinstance(found, Tensor) else found


def gradient(function: type[Function], x: Any, upstream: Any, hint: str, **options: Any) -> Any:
    """Return the elements of the gradient of x; axes of size 1 repeated, which the engine would do too."""
    ctx = result(function, x, **options).history.ctx
    with refusals(hint):
        found = function.backward(ctx, Tensor(upstream))
    if not isinstance(found, Tensor):
        return found
    try:
        return np.broadcast_to(found.detach().numpy(), x.shape).tolist()
    except ValueError:
        reason = f"backward gives a tensor of shape {found.shape} for an input of shape {x.shape}"
        raise Expectation(found.shape, x.shape, reason, hint, None) from None


def is_recorded(function: type[Function], x: object, upstream: object, **options: object) -> None:
    """Expect a gradient that depends on the gradient from above."""
    ctx = result(function, x, **options).history.ctx
    found = function.backward(ctx, Tensor(upstream, requires_grad=True))
    seen = "recorded" if isinstance(found, Tensor) and found.requires_grad else "a constant"
    expect(seen, "recorded", hint=RECORDED)


def writes_through(function: type[Function], **options: object) -> Any:
    """Write 9 to element [0, 1] of a table of zeros, and return the elements of its view afterwards."""
    x = Tensor(np.zeros((2, 2)))
    with refusals("forward gets options that were checked before"):
        view = function.apply(x, **options)
    x[0, 1] = 9.0
    return elements(view)


@visible("tensor_functions.Permute", section=AXES)
def shape_of_a_permuted_tensor(student: SimpleNamespace) -> None:
    """Of shape (2, 3, 4) the order (2, 0, 1) makes (4, 2, 3)."""
    seen = result(student.Permute, np.zeros((2, 3, 4)), order=(2, 0, 1))
    when = {(3, 4, 2): "axis i of the result is axis order[i] of a; this puts it where axis i goes to"}
    expect(getattr(seen, "shape", seen), (4, 2, 3), hint="axis i is axis order[i] of a", when=when)


@visible("tensor_functions.Permute", section=AXES)
def values_of_a_permuted_view(student: SimpleNamespace) -> None:
    """The first two rows of a table, read by columns."""
    wide = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])[:, :2]
    seen = elements(result(student.Permute, wide, order=(1, 0)))
    expect(seen, [[1.0, 4.0], [2.0, 5.0]], hint='the strides of a go with its axes: a.view_with("permute", *order)')


@visible("tensor_functions.Permute", section=AXES)
def permuted_shares_memory(student: SimpleNamespace) -> None:
    """Nothing is copied: what is written to the tensor shows in its permuted view."""
    seen = writes_through(student.Permute, order=(1, 0))
    expect(seen, [[0.0, 0.0], [9.0, 0.0]], hint="a view shares the storage: clone, and contiguous, may copy")


@visible("tensor_functions.Permute", section=AXES)
def gradient_of_a_transposed_table(student: SimpleNamespace) -> None:
    """The gradient of a transposed table is transposed back."""
    upstream = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])
    hint = "permute d_output by the inverse of the order"
    seen = gradient(student.Permute, TABLE * 0.0, upstream, hint, order=(1, 0))
    when = {
        ((1.0, 4.0, 2.0), (5.0, 3.0, 6.0)): (
            "the shape is right, the places are not: a's strides say nothing about how d_output lies in its storage"
        )
    }
    expect(seen, TABLE.tolist(), hint=hint, when=when)


@visible("tensor_functions.Permute", section=AXES)
def gradient_of_three_axes(student: SimpleNamespace) -> None:
    """An order that is not its own inverse is undone."""
    upstream = np.arange(8.0).reshape(2, 2, 2)
    hint = "the inverse of (1, 2, 0) is (2, 0, 1): at place order[i] it has i"
    seen = gradient(student.Permute, np.zeros((2, 2, 2)), upstream, hint, order=(1, 2, 0))
    when = {
        _nested(upstream): "these elements stay where they were; they belong to the axes of the result",
        _nested(upstream.transpose(1, 2, 0)): "this permutes by the order once more instead of undoing it",
        _nested(upstream.transpose(0, 2, 1)): "the order read backwards is not its inverse",
    }
    expect(seen, upstream.transpose(2, 0, 1).tolist(), hint=hint, when=when)


@visible("tensor_functions.Permute", section=AXES)
def gradient_of_four_axes(student: SimpleNamespace) -> None:
    """Exchanging the first two of four axes is undone by exchanging them again."""
    upstream = np.arange(16.0).reshape(2, 2, 2, 2)
    seen = gradient(student.Permute, np.zeros((2, 2, 2, 2)), upstream, "four axes", order=(1, 0, 2, 3))
    hint = "the inverse of (1, 0, 2, 3) is (1, 0, 2, 3): at place order[i] it has i"
    when = {
        _nested(upstream): "these elements stay where they were; they belong to the axes of the result",
        _nested(upstream.transpose(3, 2, 0, 1)): "the order read backwards is not its inverse",
    }
    expect(seen, upstream.transpose(1, 0, 2, 3).tolist(), hint=hint, when=when)


@visible("tensor_functions.Permute", section=AXES)
def gradient_that_is_permuted(student: SimpleNamespace) -> None:
    """The gradient's elements may lie column by column in memory."""
    seen = gradient(student.Permute, np.zeros((3, 2)), TABLE.copy(order="F"), METHODS, order=(1, 0))
    expect(seen, TABLE.T.tolist(), hint=METHODS)


@visible("tensor_functions.Permute", section=AGAIN)
def recorded_gradient_of_permute(student: SimpleNamespace) -> None:
    """The gradient itself can be differentiated."""
    is_recorded(student.Permute, np.zeros((3, 2)), TABLE.copy(), order=(1, 0))


def _nested(x: Any) -> Any:
    """An array as tuples of tuples, which can be a key."""
    return tuple(map(_nested, x)) if x.ndim else float(x)


@visible("tensor_functions.Sum", section=SUMS)
def values_of_a_sum(student: SimpleNamespace) -> None:
    """The sums of the rows are 6 and 15, those of the columns 5, 7 and 9."""
    seen = [elements(result(student.Sum, TABLE.copy(), dim=dim)) for dim in ((1,), (0,))]
    when = {(21.0, 21.0): "everything is added up: hand dim on"}
    expect(seen, [[6.0, 15.0], [5.0, 7.0, 9.0]], hint='a.reduce_with("add", dim, keepdim) adds up', when=when)


@visible("tensor_functions.Sum", section=SUMS)
def sum_over_two_axes(student: SimpleNamespace) -> None:
    """dim may have several axes."""
    seen = elements(result(student.Sum, TABLE.copy(), dim=(0, 1)))
    expect(seen, 21.0, hint="hand the whole of dim on, not only its first axis")


@visible("tensor_functions.Sum", section=SUMS)
def sum_that_keeps_its_axis(student: SimpleNamespace) -> None:
    """With keepdim the axis stays, with size 1."""
    seen = elements(result(student.Sum, TABLE.copy(), dim=(1,), keepdim=True))
    expect(seen, [[6.0], [15.0]], hint="hand keepdim on")


@visible("tensor_functions.Sum", section=SUMS)
def gradient_of_row_sums(student: SimpleNamespace) -> None:
    """Every element of a row gets the gradient of the row's sum."""
    hint = "give d_output the axis back that forward has dropped, with size 1, then repeat it along that axis"
    seen = gradient(student.Sum, np.zeros((2, 2)), np.array([3.0, 5.0]), hint, dim=(1,))
    when = {
        ((3.0, 5.0), (3.0, 5.0)): "repeated down instead of to the right: put the axis back in its own place first",
        ((1.0, 1.0), (1.0, 1.0)): UPSTREAM,
        ((1.5, 1.5), (2.5, 2.5)): "a sum moves as much as its element does: nothing is divided, as it is for a mean",
    }
    expect(seen, [[3.0, 3.0], [5.0, 5.0]], hint=hint, when=when)


@visible("tensor_functions.Sum", section=SUMS)
def gradient_with_a_kept_axis(student: SimpleNamespace) -> None:
    """With keepdim, d_output has the axis already."""
    hint = "with keepdim no axis is missing from d_output: do not put it back again"
    seen = gradient(student.Sum, np.zeros((2, 2)), np.array([[3.0], [5.0]]), hint, dim=(1,), keepdim=True)
    expect(seen, [[3.0, 3.0], [5.0, 5.0]], hint=hint)


@visible("tensor_functions.Sum", section=SUMS)
def gradient_of_two_axes(student: SimpleNamespace) -> None:
    """Two axes that were dropped both come back where they were."""
    hint = "an axis put in before another one moves that one to the right: begin with the first axis"
    seen = gradient(student.Sum, np.zeros((2, 2, 2)), np.array([3.0, 5.0]), hint, dim=(0, 1))
    expect(seen, [[[3.0, 5.0], [3.0, 5.0]], [[3.0, 5.0], [3.0, 5.0]]], hint=hint)


@visible("tensor_functions.Sum", section=SUMS)
def gradient_of_a_sum_in_another_order(student: SimpleNamespace) -> None:
    """The gradient's elements may lie column by column in memory."""
    seen = gradient(student.Sum, np.zeros((2, 1, 3)), TABLE.copy(order="F"), METHODS, dim=(1,))
    expect(seen, TABLE[:, None].tolist(), hint=METHODS)


@visible("tensor_functions.Sum", section=SUMS)
def two_sums(student: SimpleNamespace) -> None:
    """Two sums keep what they saved apart."""
    hint = "keep values in ctx: the class is shared by all sums"
    first = result(student.Sum, np.zeros((2, 2)), dim=(1,)).history.ctx
    result(student.Sum, np.zeros((3, 2)), dim=(0,))
    with refusals(hint):
        expect(elements(student.Sum.backward(first, Tensor(np.array([3.0, 5.0]))))[1][0], 5.0, hint=hint)


@visible("tensor_functions.Sum", section=AGAIN)
def recorded_gradient_of_a_sum(student: SimpleNamespace) -> None:
    """The gradient itself can be differentiated."""
    is_recorded(student.Sum, np.zeros((2, 3)), np.array([3.0, 5.0]), dim=(1,))


def gradients(student: SimpleNamespace, a: Any, b: Any, d_output: Any, hint: str) -> Any:
    """Return the two gradients of a product as lists; those of a broadcast factor in its own shape."""
    tensors = [Tensor(np.array(x, dtype="float64")) for x in (a, b, d_output)]
    try:
        with refusals(hint):
            found = student.matmul_back(*tensors)
    except AttributeError as error:
        raise Expectation(error, None, f"raised {type(error).__name__}: {error}", hint, None) from error
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise Expectation(found, None, "return two gradients, that of a and that of b", hint, None)
    pairs = zip(found, tensors, strict=False)
    return [_own(gradient, x) if isinstance(gradient, Tensor) else gradient for gradient, x in pairs]


def _own(gradient: Tensor, x: Tensor) -> Any:
    """Sum a gradient to the shape of its factor over the batch that the factor was broadcast over."""
    found = gradient.detach().numpy()
    while found.ndim > x.ndim:
        found = found.sum(0)
    batch = zip(found.shape[:-2], x.shape, strict=False)
    stretched = tuple(axis for axis, (one, other) in enumerate(batch) if other == 1 != one)
    return found.sum(stretched, keepdims=True).tolist()


@visible("tensor_functions.matmul_back", section=PRODUCT)
def gradient_of_a_row_times_a_column(student: SimpleNamespace) -> None:
    """The product of the row [2, 3] and the column [5, 7] is one number; each element moves it by its partner."""
    hint = "the gradient of a has a's shape, (1, 2): it is (1, 1) by (1, 2), so b must be transposed"
    seen = gradients(student, [[2, 3]], [[5], [7]], [[10]], hint)
    when = {
        (((5.0, 7.0),), ((2.0,), (3.0,))): UPSTREAM,
        (((5.0, 7.0),), ((20.0,), (30.0,))): UPSTREAM,
        (((20.0, 30.0),), ((50.0,), (70.0,))): "each factor moves the product by the *other* one",
        (((50.0, 70.0),), ((20.0, 30.0),)): "the gradient of b lies on its side: it has the shape of b, (2, 1)",
    }
    expect(seen, [[[50.0, 70.0]], [[20.0], [30.0]]], hint=hint, when=when)


@visible("tensor_functions.matmul_back", section=PRODUCT)
def gradients_of_square_matrices(student: SimpleNamespace) -> None:
    """Where all shapes are equal, only the sum over the second index of both says what is transposed."""
    hint = "row i of the gradient of a: the elements of row i of d_output, each times *its column* of b, added up"
    seen = gradients(student, [[1, 2], [0, 1]], [[1, 0], [3, 1]], [[10, 20], [30, 40]], hint)
    right_a, right_b = ((10.0, 50.0), (30.0, 130.0)), ((10.0, 20.0), (50.0, 80.0))
    plain_a, plain_b = ((70.0, 20.0), (150.0, 40.0)), ((70.0, 100.0), (30.0, 40.0))
    when = {
        (plain_a, plain_b): "the other factor goes in transposed",
        (right_a, plain_b): "a goes in transposed, for the gradient of b",
        (plain_a, right_b): "b goes in transposed, for the gradient of a",
        (right_b, right_a): "these are the two gradients the other way round: that of a comes first",
        (
            ((100.0, 140.0), (30.0, 40.0)),
            ((50.0, 20.0), (110.0, 40.0)),
        ): "d_output changes sides: the product of matrices depends on which factor stands on the left",
    }
    expect(seen, [[[10.0, 50.0], [30.0, 130.0]], [[10.0, 20.0], [50.0, 80.0]]], hint=hint, when=when)


@visible("tensor_functions.matmul_back", section=PRODUCT)
def gradients_of_a_batch(student: SimpleNamespace) -> None:
    """Two products at once: each has its own gradients, at its own place."""
    hint = "only the last two axes change places, and nothing is summed: x.mT does that, and x.T reverses all axes"
    seen = gradients(student, [[[1, 2]], [[3, 4]]], [[[5], [6]], [[7], [8]]], [[[1]], [[10]]], hint)
    expect(seen, [[[[5.0, 6.0]], [[70.0, 80.0]]], [[[1.0], [2.0]], [[30.0], [40.0]]]], hint=hint)


@visible("tensor_functions.matmul_back", section=PRODUCT)
def gradient_of_a_matrix_for_the_whole_batch(student: SimpleNamespace) -> None:
    """A matrix that multiplies two others gets what both products ask for, added up."""
    hint = "one product for each entry of the batch; the sum over the batch is the engine's duty"
    seen = gradients(student, [[[1, 2]], [[3, 4]]], [[5], [6]], [[[1]], [[10]]], hint)
    expect(seen, [[[[5.0, 6.0]], [[50.0, 60.0]]], [[31.0], [42.0]]], hint=hint)


@visible("tensor_functions.matmul_back", section=AGAIN)
def recorded_gradients_of_a_product(student: SimpleNamespace) -> None:
    """The gradients themselves can be differentiated."""
    a, b = (Tensor(TABLE[:, part].copy(), requires_grad=True) for part in (slice(2), slice(1, 3)))
    with refusals(RECORDED):
        found = student.matmul_back(a, b, Tensor(np.ones((2, 2))))
    seen = ["recorded" if isinstance(x, Tensor) and x.requires_grad else "a constant" for x in found]
    expect(seen, ["recorded", "recorded"], hint=RECORDED)

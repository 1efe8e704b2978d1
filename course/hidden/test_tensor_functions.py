"""Hidden tests of Sum and Permute: what tensors apply for sum and permute.

Gradients that come from above are all different, so that a gradient which is right only where they are equal does not
pass; axes differ in size unless a mistake shows only where they are equal.
"""

import functools

import numpy as np
import pytest

from autograder import expect, pictures

sum_ = functools.partial(pytest.mark.exercise, "tensor_functions.Sum")
permute = functools.partial(pytest.mark.exercise, "tensor_functions.Permute")

SUM_BACKWARD = "tensor_functions.Sum: 'every element moves the sum that it went into one for one.'"
INVERSE = "tensor_functions.Permute: 'so the axes of d_output are to be permuted by the inverse of the order'"
SHARED = "tensor_functions.Permute: 'which shares its storage'"
RECORDED = (
    "compute the gradient with d_output's own methods: they are recorded, and the gradient can be differentiated again"
)


def mixed(shape, seed):
    """Numbers without any order in them."""
    return np.random.default_rng(seed).normal(size=shape)


def gradients(upstream, came, wanted):
    """A picture of a gradient that came, below the one from above."""
    above = pictures.array("the gradient of the result", upstream)
    return pictures.together(above, pictures.array("the gradient that came", came, wanted, came=True))


# --- Sum ----------------------------------------------------------------------------------------------------


def sums(mg, x, dim, keepdim):
    """Probe: the shape of a sum, and its elements."""
    found = mg.tensor(x).sum(dim=tuple(dim), keepdim=keepdim)
    return [list(found.shape), found.tolist()]


def gradient_of_sum(mg, x, dim, keepdim, upstream):
    """Probe: the gradient of a tensor whose sums get the gradient upstream."""
    a = mg.tensor(x).requires_grad_()
    found = a.sum(dim=tuple(dim), keepdim=keepdim)
    try:
        found.backward(mg.tensor(upstream))
    except (ValueError, IndexError, mg.errors.FunctionError) as error:
        return f"{type(error).__name__}: {error}"
    return a.grad.tolist()


@sum_(group="forward", because="tensor_functions.Sum: 'The axes to sum over, counted from 0'")
def test_sum_along_one_axis(student):
    """Only the axis that is given is summed over, also where there is nothing to add up."""
    x = mixed((2, 3), 1)
    expect(
        [student(sums, x, [1], False), student(sums, x, [0], False), student(sums, np.zeros((0, 2)), [0], False)],
        [[[2], x.sum(1).tolist()], [[3], x.sum(0).tolist()], [[2], [0.0, 0.0]]],
        hint="hand dim on to reduce_with",
        misconception="everything-summed",
    )


@sum_(group="forward", because="tensor_functions.Sum: 'Add up the elements along axes'")
def test_sum_along_several_axes(student):
    """Every axis in dim is summed over."""
    x = mixed((2, 3, 4), 2)
    expect(
        [student(sums, x, dim, False) for dim in ([0, 2], [0, 1, 2])],
        [[[3], x.sum((0, 2)).tolist()], [[], float(x.sum())]],
        hint="dim may have several axes: reduce_with takes them all",
        misconception="first-axis-only",
    )


@sum_(group="forward", because="tensor_functions.Sum: 'Whether these axes stay, with size 1.'")
def test_sum_keeps_axes(student):
    """With keepdim the axes stay, with size 1."""
    x = mixed((2, 3, 4), 3)
    expect(
        student(sums, x, [1], True),
        [[2, 1, 4], x.sum(1, keepdims=True).tolist()],
        hint="hand keepdim on to reduce_with",
        misconception="keepdim-ignored",
    )


@sum_(group="backward", because=SUM_BACKWARD)
def test_sum_gradient_is_repeated(student):
    """In a sum of each row, every element of a row gets the row's gradient."""
    seen = student(gradient_of_sum, np.array([[1.0, 2.0], [3.0, 4.0]]), [1], False, np.array([3.0, 5.0]))
    expect(
        seen,
        [[3.0, 3.0], [5.0, 5.0]],
        hint="each element gets the gradient of the sum that it went into",
        example="a.sum(dim=1) of [[1, 2], [3, 4]]",
        picture=lambda: gradients([3.0, 5.0], seen, [[3.0, 3.0], [5.0, 5.0]]),
        misconception="wrong-axis-repeated",
        when={
            ((3.0, 5.0), (3.0, 5.0)): (
                "wrong-axis-repeated",
                "repeated down instead of to the right: first give the axis of dim back, with size 1 and in its place",
            ),
            ((1.0, 1.0), (1.0, 1.0)): ("upstream-forgotten", "multiply by what comes from above: d_output"),
            ((1.5, 1.5), (2.5, 2.5)): ("divided-as-for-a-mean", "a sum moves as much as its element does"),
        },
    )


@sum_(group="backward", because="tensor_functions.Sum: 'Where forward has dropped these axes'")
def test_sum_gradient_with_kept_axes(student):
    """Where the axes were kept, d_output has them already."""
    upstream = mixed((2, 1, 4), 4)
    expect(
        student(gradient_of_sum, mixed((2, 3, 4), 5), [1], True, upstream),
        np.broadcast_to(upstream, (2, 3, 4)).tolist(),
        hint="with keepdim no axis is missing from d_output",
        misconception="kept-axis-added-again",
    )


@sum_(group="backward", because="tensor_functions.Sum: 'they must first come back in their old places, with size 1.'")
def test_sum_gradient_of_several_axes(student):
    """Several axes that were dropped all come back where they were."""
    x, upstream = mixed((2, 2, 2), 6), mixed((2,), 7)
    wanted = [np.broadcast_to(np.expand_dims(upstream, dim), x.shape).tolist() for dim in ([0, 1], [0, 2], [1, 2])]
    expect(
        [student(gradient_of_sum, x, dim, False, upstream) for dim in ([0, 1], [0, 2], [1, 2])],
        wanted,
        hint="an axis put in before another one moves that one to the right: begin with the first axis, or write the shape down",
        misconception="axes-put-back-from-the-last",
    )


@sum_(group="backward", because="tensor_functions.Sum: 'Where forward has dropped these axes'")
def test_sum_gradient_with_strides_of_its_own(student):
    """The gradient may be a permuted view, an expanded one, and without elements."""

    def observe(mg, x, upstream):
        a = mg.tensor(x).requires_grad_()
        none = mg.tensor(x[:, :0]).requires_grad_()
        try:
            a.sum(dim=0).permute(1, 0).backward(mg.tensor(upstream))
            found, a.grad = a.grad.tolist(), None
            a.sum(dim=2).sum(dim=1).backward(mg.tensor(upstream[:2, 0].copy()))
            none.sum(dim=2).sum().backward()
        except ValueError as error:
            return f"{type(error).__name__}: {error}"
        return [found, a.grad.tolist(), list(none.grad.shape)]

    upstream = mixed((4, 3), 8)
    wanted = [[upstream.T.tolist()] * 2, np.broadcast_to(upstream[:2, 0, None, None], (2, 3, 4)).tolist(), [2, 0, 4]]
    expect(
        student(observe, mixed((2, 3, 4), 9), upstream),
        wanted,
        hint="d_output has strides of its own: use its methods, not its storage",
        example="a.sum(dim=0).permute(1, 0), a.sum(dim=2).sum(dim=1) and the sum of a tensor without elements",
        misconception="storage-read-in-order",
    )


@sum_(group="backward", because="tensor_functions.Sum: 'What forward saved: ctx.saved_values, a tuple.'")
def test_sums_do_not_mix(student):
    """Two sums keep what they saved apart."""

    def observe(mg, x):
        a, b = mg.tensor(x).requires_grad_(), mg.tensor(x).requires_grad_()
        first, second = a.sum(dim=0), b.sum(dim=1)
        try:
            first.backward(mg.tensor(x[0] * 2.0))
            second.backward(mg.tensor(x[:, 0] * 3.0))
        except (ValueError, mg.errors.FunctionError) as error:
            return f"{type(error).__name__}: {error}"
        return [a.grad.tolist(), b.grad.tolist()]

    x = np.array([[1.0, 10.0], [100.0, 1000.0]])
    expect(
        student(observe, x),
        [[[2.0, 20.0], [2.0, 20.0]], [[3.0, 3.0], [300.0, 300.0]]],
        hint="keep values in ctx: the class is shared by all sums",
        example="a.sum(dim=0), then b.sum(dim=1), both of [[1, 10], [100, 1000]]: the gradients of a and b",
        misconception="saved-outside-ctx",
    )


@sum_(
    group="higher",
    because="tensor_functions.Sum: 'These methods are recorded where the gradient is to be differentiated again'",
)
def test_sum_gradient_can_be_differentiated(student):
    """The gradient of a square of a sum changes with its elements."""

    def observe(mg, x, upstream, weights):
        a = mg.tensor(x).requires_grad_()
        totals = a.sum(dim=1)
        (totals * totals).backward(mg.tensor(upstream), create_graph=True)
        first, a.grad = a.grad, None
        if not first.requires_grad:
            return "a constant"
        first.backward(mg.tensor(weights))
        return a.grad.tolist()

    upstream, weights = mixed((2,), 10), mixed((2, 3), 11)
    wanted = np.repeat(2.0 * upstream[:, None] * weights.sum(1, keepdims=True), 3, 1)
    expect(
        student(observe, mixed((2, 3), 12), upstream, weights),
        wanted.tolist(),
        hint=RECORDED,
        example="totals = a.sum(dim=1); (totals * totals).backward(..., create_graph=True); then a.grad.backward(...)",
        misconception="cut-off-the-graph",
    )


# --- Permute ------------------------------------------------------------------------------------------------


def permuted(mg, x, order):
    """Probe: the shape of a permuted tensor, and its elements."""
    found = mg.tensor(x).permute(*order)
    return [list(found.shape), found.tolist()]


def gradient_of_permuted(mg, x, order, upstream):
    """Probe: the gradient of a tensor whose permuted view gets the gradient upstream."""
    a = mg.tensor(x).requires_grad_()
    try:
        a.permute(*order).backward(mg.tensor(upstream))
    except (ValueError, IndexError, mg.errors.FunctionError) as error:
        return f"{type(error).__name__}: {error}"
    return a.grad.tolist()


@permute(group="forward", because="tensor_functions.Permute: 'Return a view of a whose axis i is axis order[i] of a'")
def test_permute_takes_axes_from_the_order(student):
    """Axis i of the result is axis order[i]; also of tensors without axes and without elements."""
    x = mixed((2, 3, 4), 21)
    expect(
        [student(permuted, x, [2, 0, 1]), student(permuted, np.array(5.0), []), student(permuted, x[:0], [1, 2, 0])],
        [[[4, 2, 3], x.transpose(2, 0, 1).tolist()], [[], 5.0], [[3, 4, 0], np.zeros((3, 4, 0)).tolist()]],
        hint="order says for each axis of the result where it comes from, not for each axis of a where it goes",
        misconception="order-inverted",
    )


@permute(group="forward", because="tensor_functions.Permute: 'Nothing is copied.'")
def test_permute_copies_nothing(student):
    """What is written to a tensor shows in its permuted view."""

    def observe(mg, x):
        a = mg.tensor(x)
        found = a.permute(1, 0)
        a[0, 1] = 7.0
        return found.tolist()

    expect(
        student(observe, np.zeros((2, 2))),
        [[0.0, 0.0], [7.0, 0.0]],
        hint="a view shares the storage: neither contiguous nor clone belongs here",
        example="view = a.permute(1, 0); a[0, 1] = 7; then view",
        misconception="copied",
    )


@permute(group="forward", because=SHARED)
def test_permute_of_a_view(student):
    """A part of a tensor, and a view that is permuted already, are permuted as they look."""

    def observe(mg, x):
        a = mg.tensor(x)
        return [a[1:, 1:].permute(1, 0).tolist(), a.permute(1, 0).permute(1, 0).tolist()]

    x = mixed((3, 4), 22)
    expect(
        student(observe, x),
        [x[1:, 1:].T.tolist(), x.tolist()],
        hint="the strides of a go with its axes; view_with knows them, and where the first element stands",
        example="a[1:, 1:].permute(1, 0) and a.permute(1, 0).permute(1, 0), of a tensor of shape (3, 4)",
        misconception="strides-made-anew",
    )


@permute(group="backward", because="tensor_functions.Permute: 'those of a say nothing about them.'")
def test_permute_gradient_has_its_own_strides(student):
    """The gradient of a transposed matrix is transposed, and nothing is known of how it lies in memory."""
    upstream = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    seen = student(gradient_of_permuted, mixed((2, 3), 23), [1, 0], upstream)
    expect(
        seen,
        [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]],
        hint="permute d_output by its own strides; a's shape and strides describe another storage",
        example="a.permute(1, 0), where a has shape (2, 3)",
        picture=lambda: gradients(upstream, seen, upstream.T),
        misconception="strides-of-the-input",
    )


@permute(group="backward", because=INVERSE)
def test_permute_gradient_is_permuted_back(student):
    """An order of three axes that is not its own inverse is undone."""
    x, upstream = mixed((2, 2, 2), 24), np.arange(1.0, 9.0).reshape(2, 2, 2)
    seen = student(gradient_of_permuted, x, [1, 2, 0], upstream)
    expect(
        seen,
        upstream.transpose(2, 0, 1).tolist(),
        hint="element (i, j, k) of d_output goes back to where it came from: permute by the inverse of the order",
        example="a.permute(1, 2, 0), where a has shape (2, 2, 2)",
        picture=lambda: gradients(upstream, seen, upstream.transpose(2, 0, 1)),
        misconception="order-applied-again",
        when={
            (((1.0, 2.0), (3.0, 4.0)), ((5.0, 6.0), (7.0, 8.0))): (
                "gradient-not-permuted",
                "these are the elements of d_output as they came: they belong to the axes of the result, not of a",
            ),
        },
    )


@permute(group="backward", because=INVERSE)
def test_permute_gradient_of_any_rank(student):
    """Tensors of none, one and four axes get their gradients as well."""
    cases = [((2, 2, 2, 2), [1, 0, 2, 3]), ((3,), [0]), ((), []), ((2, 0, 3), [2, 0, 1])]
    asked = []
    for shape, order in cases:
        upstream = mixed([shape[axis] for axis in order], 25)
        asked.append((shape, order, upstream, np.transpose(upstream, np.argsort(order).astype(int)).tolist()))
    expect(
        [student(gradient_of_permuted, np.ones(shape), order, upstream) for shape, order, upstream, _ in asked],
        [wanted for *_, wanted in asked],
        hint="the inverse of an order is not the order read backwards: axis i went to the place where order has i",
        misconception="order-read-backwards",
    )


@permute(group="backward", because="tensor_functions.Permute: 'in its shape and with a storage and strides of its own'")
def test_permute_gradient_that_is_a_view(student):
    """The gradient may itself be a permuted or an expanded view."""

    def observe(mg, x, upstream):
        a = mg.tensor(x).requires_grad_()
        try:
            a.permute(2, 0, 1).permute(1, 2, 0).backward(mg.tensor(upstream))
            found, a.grad = [a.grad.tolist()], None
            (a.permute(2, 0, 1).sum(dim=1) * mg.tensor(upstream[0, :, :].T.copy())).sum().backward()
        except ValueError as error:
            return f"{type(error).__name__}: {error}"
        return [*found, a.grad.tolist()]

    upstream = mixed((2, 3, 4), 26)
    expect(
        student(observe, mixed((2, 3, 4), 27), upstream),
        [upstream.tolist(), [upstream[0].tolist()] * 2],
        hint="d_output need not lie row by row in its storage: use its methods",
        example="a.permute(2, 0, 1).permute(1, 2, 0), and a.permute(2, 0, 1).sum(dim=1), where a has shape (2, 3, 4)",
        misconception="gradient-taken-for-contiguous",
    )


@permute(
    group="higher",
    because="tensor_functions.Permute: 'is recorded where the gradient is to be differentiated again; `view_with` is not.'",
)
def test_permute_gradient_can_be_differentiated(student):
    """The gradient of a square of a permuted tensor changes with its elements."""

    def observe(mg, x, upstream, weights):
        a = mg.tensor(x).requires_grad_()
        moved = a.permute(2, 0, 1)
        (moved * moved).backward(mg.tensor(upstream), create_graph=True)
        first, a.grad = a.grad, None
        if not first.requires_grad:
            return "a constant"
        try:
            first.backward(mg.tensor(weights))
        except (ValueError, mg.errors.FunctionError) as error:
            return f"{type(error).__name__}: {error}"
        return a.grad.tolist()

    upstream, weights = mixed((4, 2, 3), 28), mixed((2, 3, 4), 29)
    expect(
        student(observe, mixed((2, 3, 4), 30), upstream, weights),
        (2.0 * upstream.transpose(1, 2, 0) * weights).tolist(),
        hint=RECORDED,
        example="m = a.permute(2, 0, 1); (m * m).backward(..., create_graph=True); then a.grad.backward(...)",
        misconception="cut-off-the-graph",
    )

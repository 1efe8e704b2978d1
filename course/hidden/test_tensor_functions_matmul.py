"""Hidden tests of matmul_back: the gradients of a matrix product, which every product of tensors asks for.

Gradients that come from above are all different. Sizes are all different too, unless a mistake shows only where they
are equal: in square matrices no shape says which factor is to be transposed.
"""

import functools

import numpy as np
import pytest

from autograder import expect

rule = functools.partial(pytest.mark.exercise, "tensor_functions.matmul_back")

PRODUCT = "tensor_functions.matmul_back: 'Each of them is a product of two matrices again'"
BATCH = "tensor_functions.matmul_back: 'Axes in front of the last two are a batch, one product for each entry'"
BROADCAST = (
    "tensor_functions.matmul_back: 'Where a or b has fewer of them, or a size of 1, it was broadcast over the batch.'"
)


def mixed(shape, seed):
    """Numbers without any order in them."""
    return np.random.default_rng(seed).normal(size=shape)


def through_a_product(mg, a, b, upstream):
    """Probe: the gradients of the factors of a product that gets the gradient upstream."""
    factors = [mg.tensor(x).requires_grad_() for x in (a, b)]
    try:
        (factors[0] @ factors[1]).backward(mg.tensor(upstream))
    except (ValueError, IndexError, AttributeError, mg.errors.FunctionError) as error:
        return f"{type(error).__name__}: {error}"
    return [x.grad.tolist() for x in factors]


def right(a, b, upstream):
    """The gradients by the definition: each element times each of the elements that it meets."""
    d_a = np.einsum("...im,...km->...ik", upstream, np.broadcast_to(b, (*upstream.shape[:-2], *b.shape[-2:])))
    d_b = np.einsum("...ik,...im->...km", np.broadcast_to(a, (*upstream.shape[:-2], *a.shape[-2:])), upstream)
    return [summed(d_a, a.shape), summed(d_b, b.shape)]


def summed(gradient, shape):
    """Sum a gradient over the axes along which a factor of that shape was repeated."""
    gradient = gradient.sum(tuple(range(gradient.ndim - len(shape))))
    return gradient.sum(tuple(i for i, n in enumerate(shape) if n != gradient.shape[i]), keepdims=True).tolist()


@rule(group="values", because=PRODUCT)
def test_gradients_of_two_numbers(student):
    """Matrices of one element are numbers: each moves the product as fast as the other one is large."""
    expect(
        student(through_a_product, np.array([[2.0]]), np.array([[3.0]]), np.array([[10.0]])),
        [[[30.0]], [[20.0]]],
        hint="the slope of a product is the other factor",
        misconception="own-factor",
    )


@rule(group="values", because=PRODUCT)
def test_gradient_of_a_matrix_times_itself(student):
    """A matrix that is both factors gets both gradients, and in each of them the other factor is transposed."""

    def observe(mg, a, upstream):
        a = mg.tensor(a).requires_grad_()
        (a @ a).backward(mg.tensor(upstream))
        return a.grad.tolist()

    a, upstream = mixed((3, 3), 21), mixed((3, 3), 22)
    expect(
        student(observe, a, upstream),
        (upstream @ a.T + a.T @ upstream).tolist(),
        hint="the sum runs over the second index of d_output and of b: b is transposed; and a, for the gradient of b",
        misconception="other-factor-not-transposed",
    )


@rule(group="values", because=PRODUCT)
def test_gradients_of_a_product(student):
    """With three different sizes, each gradient has its factor's shape."""
    a, b, upstream = mixed((2, 3), 1), mixed((3, 4), 2), mixed((2, 4), 3)
    expect(
        student(through_a_product, a, b, upstream),
        right(a, b, upstream),
        hint="write down the three shapes: which products have the shape of a, and of b?",
        misconception="gradient-of-b-transposed",
    )


@rule(group="values", because=PRODUCT)
def test_gradients_of_square_matrices(student):
    """Where all sizes are equal, only the formula says which factor is transposed, and on which side it stands."""
    a, b, upstream = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [3.0, 1.0]]), mixed((2, 2), 4)

    def told(gradient_of_a, gradient_of_b):
        return tuple(map(tuple, gradient_of_a.tolist())), tuple(map(tuple, gradient_of_b.tolist()))

    expect(
        student(through_a_product, a, b, upstream),
        right(a, b, upstream),
        hint="the sum runs over the second index of d_output and of b; for the gradient of b, over the first of a and d_output",
        misconception="factors-in-the-wrong-order",
        when={
            told(b.T @ upstream, upstream @ a.T): (
                "factors-in-the-wrong-order",
                "d_output changes sides: it must stand to the left of b transposed, and to the right of a transposed",
            ),
            told(a.T @ upstream, upstream @ b.T): ("gradients-exchanged", "the gradient of a comes first"),
        },
    )


@rule(group="values", because="tensor_functions.matmul_back: 'd_output: The gradient of the output'")
def test_gradients_take_what_comes_from_above(student):
    """Every element's slope is multiplied by the gradient of the output that it moves."""
    a, b, upstream = np.array([[2.0, 3.0]]), np.array([[5.0], [7.0]]), np.array([[10.0]])
    expect(
        student(through_a_product, a, b, upstream),
        [[[50.0, 70.0]], [[20.0], [30.0]]],
        hint="multiply d_output by the other factor",
        misconception="upstream-forgotten",
    )


@rule(group="batches", because=BATCH)
def test_gradients_of_a_batch(student):
    """Each entry of the batch has gradients of its own."""
    a, b, upstream = mixed((2, 2, 2), 5), mixed((2, 2, 2), 6), mixed((2, 2, 2), 7)
    expect(
        student(through_a_product, a, b, upstream),
        right(a, b, upstream),
        hint="exchange the last two axes, x.mT, and leave the axes of the batch in front",
        misconception="first-two-axes-exchanged",
    )


@rule(group="batches", because=BATCH)
def test_gradients_of_a_batch_with_two_axes(student):
    """A batch may have several axes, which keep their order."""
    a, b, upstream = mixed((2, 3, 1, 2), 8), mixed((2, 3, 2, 4), 9), mixed((2, 3, 1, 4), 10)
    expect(
        student(through_a_product, a, b, upstream),
        right(a, b, upstream),
        hint="x.mT exchanges the last two axes; x.T reverses all of them",
        misconception="all-axes-reversed",
    )


@rule(group="batches", because=BROADCAST)
def test_gradients_of_a_broadcast_factor(student):
    """A factor that serves the whole batch gets the sum over it; a factor with a batch of its own gets no sum."""
    a, b, upstream = mixed((3, 2, 2), 11), mixed((2, 2), 12), mixed((3, 2, 2), 13)
    c, d, above = mixed((3, 1, 2, 4), 14), mixed((2, 4, 3), 15), mixed((3, 2, 2, 3), 16)
    expect(
        [student(through_a_product, a, b, upstream), student(through_a_product, c, d, above)],
        [right(a, b, upstream), right(c, d, above)],
        hint="one product for each entry of the batch; the engine sums where a factor was repeated",
        misconception="batch-always-summed",
    )


@rule(group="higher", because="tensor_functions.matmul_back: 'what goes by way of an array is not.'")
def test_gradients_of_a_product_can_be_differentiated(student):
    """The gradient of a changes with b, and that of b with a."""

    def observe(mg, a, b, weights):
        a, b = (mg.tensor(x).requires_grad_() for x in (a, b))
        (a @ b).sum().backward(create_graph=True)
        first, a.grad, b.grad = a.grad, None, None
        if not first.requires_grad:
            return "a constant"
        first.backward(mg.tensor(weights))
        return b.grad.tolist()

    weights = mixed((2, 3), 18)
    expect(
        student(observe, mixed((2, 3), 19), mixed((3, 4), 20), weights),
        (weights.T @ np.ones((2, 4))).tolist(),
        hint="compute with the tensors' own methods: they are recorded",
        misconception="cut-off-the-graph",
    )

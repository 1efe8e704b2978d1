"""Attacks by answers that do no work: each would earn a group of points whose tests ask about errors or corners alone.

`autograder verify` tries what a machine can write of this kind (`proof.hollow`); these were thought of by people.
"""

from __future__ import annotations

from textwrap import dedent

from autograder.proof.attack.model import Attack


def _idle(name: str, tries: str, exercise: str, text: str) -> Attack:
    return Attack(f"idle-{name}", tries, lambda _: {}, exercise=exercise, text=dedent(text).strip())


_BROADCAST, _BLOCK = "tensor_data.shape_broadcast", "language.block"
_JACOBIANS, _DROPOUT = "functional.jacfwd", "nn.functional.dropout"

IDLE: tuple[Attack, ...] = (
    _idle(
        "refuses-all",
        "all shapes are refused, the wrong ones among them",
        _BROADCAST,
        """
        from minigrad.errors import IndexingError
        def shape_broadcast(shape1, shape2):
            raise IndexingError("no")
        """,
    ),
    _idle(
        "refuses-what-differs",
        "shapes that differ are refused, and of equal ones the first is returned",
        _BROADCAST,
        """
        from minigrad.errors import IndexingError
        def shape_broadcast(shape1, shape2):
            if shape1 != shape2:
                raise IndexingError("no")
            return tuple(shape1)
        """,
    ),
    _idle(
        "refuses-but-ones",
        "shapes are refused unless the first one holds a 1, and the second one is returned",
        _BROADCAST,
        """
        from minigrad.errors import IndexingError
        def shape_broadcast(shape1, shape2):
            if 1 not in shape1:
                raise IndexingError("no")
            return tuple(shape2)
        """,
    ),
    _idle(
        "empty-fold",
        "a kernel that does nothing leaves the start value, the fold of an axis of size 0",
        "tensor_ops.tensor_reduce",
        "def tensor_reduce(fn):\n    return lambda *arguments: None",
    ),
    _idle(
        "empty-parallel-fold",
        "the same kernel, compiled",
        "fast_ops.tensor_reduce",
        """
        def tensor_reduce(fn):
            def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
                for i in prange(len(out)):
                    pass
            return njit(_reduce, parallel=True)
        """,
    ),
    _idle(
        "zeros",
        "a product of 0 everywhere, which it is where there is nothing to multiply",
        "fast_ops._tensor_matrix_multiply",
        """
        def _tensor_matrix_multiply(
            out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
        ):
            for i in prange(len(out)):
                out[i] = 0.0
        """,
    ),
    _idle(
        "start",
        "reduce always returns what it starts from, the fold of an empty list",
        "operators.higher_order",
        "def reduce(fn, start):\n    return lambda values: start\nmap = zipWith = reduce",
    ),
    _idle(
        "norm-bias",
        "a block adds the bias of its second norm, so that this norm makes a difference and the first does not",
        _BLOCK,
        'def block(x, p, heads, cache=None):\n    return x + p["norm2"]["bias"]',
    ),
    _idle(
        "biases",
        "a block adds the biases of its halves, the first one twice where the second has weights",
        _BLOCK,
        """
        def block(x, p, heads, cache=None):
            first, second = p["mix"]["bias"], p["down"]["bias"]
            return x + first + second + first * p["down"]["weight"].sum()
        """,
    ),
    _idle(
        "passes",
        "the functions are run as often as they are to be, and their derivatives are thrown away",
        _JACOBIANS,
        """
        def jacfwd(f):
            return lambda x: [dual.jvp(f, (x,), (each,)) for each in unit_vectors(x)]
        def jacrev(f):
            return lambda x: vjp(f, x)
        """,
    ),
    _idle(
        "drops-all",
        "everything is dropped, as it is to be where the probability is 1",
        _DROPOUT,
        "def dropout(input, p=0.5, training=True):\n    return input * 0.0",
    ),
    _idle(
        "mask",
        "the mask is returned instead of the input, of which nothing is left where the probability is 1",
        _DROPOUT,
        """
        def dropout(input, p=0.5, training=True):
            return (creation.rand(*input.shape) >= p).to(input.dtype)
        """,
    ),
)

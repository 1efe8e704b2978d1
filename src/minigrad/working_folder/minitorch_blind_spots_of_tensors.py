"""Mistakes in tensors and their loops that pass MiniTorch's own tests; see `minitorch_blind_spots`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from minigrad.working_folder.probing import Probe, unlike


def _left_aligned(answer: Mapping[str, Any]) -> bool:
    import numpy as np

    index = np.zeros(1, dtype=np.int32)
    answer["broadcast_index"](np.array([0, 2]), np.array([2, 3]), np.array([3]), index)
    return int(index[0]) == 0


def _permuted_wrongly(answer: Mapping[str, Any]) -> bool:
    """Hand back a gradient whose elements all differ, and which does not lie row by row."""
    import numpy as np

    from minigrad.tensor_functions import Permute
    from minigrad.tensors import Tensor

    order, values = (1, 2, 0), np.arange(24.0).reshape(3, 4, 2)
    upstream = Tensor(np.asfortranarray(values))
    ctx = Permute.apply(Tensor(np.zeros((2, 3, 4)), requires_grad=True), order=order).history.ctx
    found = np.asarray(Permute.backward(ctx, upstream).detach().numpy())
    return found.shape == (2, 3, 4) and not np.array_equal(found, values.transpose(2, 0, 1))


def _numbered(*shape: int) -> Any:
    import numpy as np

    from minigrad.tensor_data import TensorData

    return TensorData.of(np.arange(float(np.prod(shape))).reshape(shape))


def _permuted_copy(permute: Callable[..., Any]) -> bool:
    import numpy as np

    data = _numbered(2, 3)
    storage = data._storage
    found = permute(data, 1, 0)
    is_right = [float(found.get((i, j))) for i in range(3) for j in range(2)] == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    return is_right and not np.shares_memory(storage, found._storage)


def _index_of(function: Callable[..., Any], *args: Any, room: int, stale: int = 0) -> list[int]:
    import numpy as np

    out = np.full(room, stale, dtype=np.int64)
    function(*[np.array(each) if isinstance(each, tuple) else each for each in args], out)
    return [int(each) for each in out]


def _kernel(make: Callable[..., Any], function: Callable[..., float], out: Any, *rest: Any) -> Any:
    """Run a kernel, in Python, on arrays of any strides; a number is an axis."""
    from minigrad.compiling.reaching import bare
    from minigrad.tensor_data import TensorData

    arguments: list[Any] = []
    for each in (out, *rest):
        arguments += [each] if isinstance(each, int) else TensorData.of(each).tuple()
    bare(make(function))(*arguments)
    return out.tolist()


def _table(*rows: list[Any]) -> Any:
    import numpy as np

    return np.array(rows)


def _turned(*shape: int) -> Any:
    import numpy as np

    return np.zeros(shape[::-1]).T


def _ten(x: float) -> float:
    return 10.0 * x


def _less(x: float, y: float) -> float:
    return x - y


def _half(x: float, y: float) -> float:
    return x / 2.0 + y


_LYING = "MiniTorch's tests give every kernel a result that lies row by row."
_RANKS = "MiniTorch's tests broadcast shapes with the same number of axes only."
_SUMS = "MiniTorch's tests fold with sums and products alone, whose order and sides make no difference."


def _maps(student: Any) -> bool:
    return bool(_kernel(student.tensor_map, _ten, _table([0.0, 0.0]), _table([1.0, 2.0])) == [[10.0, 20.0]])


def _zips(student: Any) -> bool:
    found = _kernel(student.tensor_zip, _less, _table([0.0, 0.0]), _table([5.0, 7.0]), _table([1.0, 4.0]))
    return bool(found == [[4.0, 3.0]])


def _sums(student: Any) -> bool:
    found = _kernel(student.tensor_reduce, lambda x, y: x + y, _table([0.0]), _table([1.0, 2.0]), 1)
    return bool(found == [[3.0]])


def _kernels(module: str) -> tuple[Probe, ...]:
    """Return what both modules of loops have in common."""
    return (
        Probe(
            f"{module}-map-ordinal",
            f"{module}.tensor_map",
            f"the number of an element is taken for its position in the result. {_LYING}",
            unlike(
                [[10.0, 20.0], [30.0, 40.0]],
                lambda s: _kernel(s.tensor_map, _ten, _turned(2, 2), _table([1.0, 2.0], [3.0, 4.0])),
                _maps,
            ),
        ),
        Probe(
            f"{module}-map-ranks",
            f"{module}.tensor_map",
            f"an input with fewer axes than the result is read wrongly. {_RANKS}",
            unlike(
                [[10.0, 20.0, 30.0], [10.0, 20.0, 30.0]],
                lambda s: _kernel(s.tensor_map, _ten, _table([0.0] * 3, [0.0] * 3), _table([1.0, 2.0, 3.0])[0]),
                _maps,
            ),
        ),
        Probe(
            f"{module}-reduce-fold",
            f"{module}.tensor_reduce",
            f"another fold than a sum is wrong: its start, its order or the sides of fn. {_SUMS}",
            unlike(
                [[5.25]],
                lambda s: _kernel(s.tensor_reduce, _half, _table([8.0]), _table([1.0, 2.0, 3.0]), 1),
                _sums,
            ),
        ),
        Probe(
            f"{module}-reduce-ordinal",
            f"{module}.tensor_reduce",
            f"the number of an element is taken for its position in the result. {_LYING}",
            unlike(
                [[[3.0], [7.0]], [[11.0], [15.0]]],
                lambda s: _kernel(
                    s.tensor_reduce,
                    lambda x, y: x + y,
                    _turned(2, 2, 1),
                    _table([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]),
                    2,
                ),
                _sums,
            ),
        ),
    )


_ZIPS = (
    Probe(
        "tensor_ops-zip-ordinal",
        "tensor_ops.tensor_zip",
        f"the number of an element is taken for its position in the result. {_LYING}",
        unlike(
            [[9.0, 18.0], [27.0, 36.0]],
            lambda s: _kernel(
                s.tensor_zip,
                _less,
                _turned(2, 2),
                _table([10.0, 20.0], [30.0, 40.0]),
                _table([1.0, 2.0], [3.0, 4.0]),
            ),
            _zips,
        ),
    ),
    Probe(
        "tensor_ops-zip-ranks",
        "tensor_ops.tensor_zip",
        f"an input with fewer axes than the other is read wrongly. {_RANKS}",
        unlike(
            [[9.0, 18.0], [29.0, 38.0]],
            lambda s: _kernel(
                s.tensor_zip,
                _less,
                _table([0.0, 0.0], [0.0, 0.0]),
                _table([10.0, 20.0], [30.0, 40.0]),
                _table([1.0, 2.0])[0],
            ),
            _zips,
        ),
    ),
)

_VALUES = "MiniTorch's tests compare values alone."
_PARALLEL = f"a loop is not parallel, or two of its iterations meet. {_VALUES}"
_TITLED = (
    ("fast_ops.tensor_map", "Its loops run in parallel, and no two iterations meet.", _PARALLEL),
    ("fast_ops.tensor_reduce", "The loop over out runs in parallel, and no two iterations meet.", _PARALLEL),
    (
        "fast_ops._tensor_matrix_multiply",
        "A loop around the sums runs in parallel, and no two iterations meet.",
        _PARALLEL,
    ),
    (
        "cuda_ops._sum_practice",
        "Each thread reads global memory once; the rest happens in shared memory, in pairs.",
        f"the sum is not folded in shared memory. {_VALUES}",
    ),
)

_ROWS = (
    "x counts rows, as in MiniTorch's own tasks, so that neighbours in x are a row apart: row and column have to be "
    f"turned round. {_VALUES}"
)

TENSORS = (
    *(Probe(f"{id}-values-alone", id, sentence, title=title) for id, title, sentence in _TITLED),
    Probe(
        "cuda_ops._tensor_matrix_multiply-x-counts-rows",
        "cuda_ops._tensor_matrix_multiply",
        _ROWS,
        title="Neighbours in x touch elements side by side, in float32 matrices of 8 x 8 and 8 x 16, "
        "and in both tiles.",
    ),
    Probe(
        "to_index-float",
        "tensor_data.to_index",
        "positions are divided as floats, which are exact up to 2**53 only. MiniTorch's tensors are small.",
        unlike(
            [2**30 - 1, 2**30 - 1],
            lambda s: _index_of(s.to_index, 2**60 - 1, (2**30, 2**30), room=2),
            lambda s: _index_of(s.to_index, 5, (2, 3), room=2) == [1, 2],
        ),
    ),
    Probe(
        "to_index-room",
        "tensor_data.to_index",
        "in a longer buffer the index does not stand at the front. Of MiniTorch's tests only those on a GPU use one.",
        unlike(
            [1, 2],
            lambda s: _index_of(s.to_index, 5, (2, 3), room=4)[:2],
            lambda s: _index_of(s.to_index, 5, (2, 3), room=2) == [1, 2],
            raising=True,
        ),
    ),
    Probe(
        "broadcast-stale",
        "tensor_data.broadcast_index",
        "along an axis of size 1 the buffer keeps what it held before. MiniTorch's tests begin with zeros.",
        unlike(
            [0, 1],
            lambda s: _index_of(s.broadcast_index, (2, 1), (3, 2), (1, 2), room=2, stale=9),
            lambda s: _index_of(s.broadcast_index, (2, 1), (3, 2), (1, 2), room=2) == [0, 1],
        ),
    ),
    Probe(
        "permute-copies",
        "tensor_data.permute",
        "the elements are copied, where MiniTorch asks for the same storage. Its tests look at positions alone.",
        lambda answer: _permuted_copy(answer["permute"]),
    ),
    Probe(
        "permute-inverted",
        "tensor_data.permute",
        "axis i goes to place order[i], instead of coming from there. MiniTorch's test turns the order round, which "
        "undoes itself.",
        unlike(
            (4, 2, 3),
            lambda s: tuple(_numbered(2, 3, 4).permute(2, 0, 1).shape),
            lambda s: tuple(_numbered(2, 3, 4).permute(2, 1, 0).shape) == (4, 3, 2),
        ),
    ),
    *_kernels("tensor_ops"),
    *_ZIPS,
    *_kernels("fast_ops"),
    Probe(
        "broadcast-left-aligned",
        "tensor_data.broadcast_index",
        "shapes are aligned at their first axes instead of their last. MiniTorch's tests pass all the same.",
        _left_aligned,
    ),
    Probe(
        "permute-backward",
        "tensor_functions.Permute",
        "the gradient of permute has the right shape and wrong elements. grad_check goes backward from out.sum(), so "
        "that the gradient from above is all ones, and any order of ones is right.",
        _permuted_wrongly,
    ),
)

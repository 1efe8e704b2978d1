"""The loops over tensors, against NumPy on random layouts: broadcast, permuted, without elements, without axes."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad import fast_ops, tensor_data, tensor_ops
from minigrad.compiling import interpreted


def ints(values):
    return np.array(values, dtype=np.int64)


def parts(x):
    """Storage from the first element on, shape and strides of an array."""
    width = x.itemsize
    reach = sum((n - 1) * s // width for n, s in zip(x.shape, x.strides, strict=True)) + 1 if x.size else 0
    storage = np.lib.stride_tricks.as_strided(x, (reach,), (width,))
    return storage, ints(x.shape), ints([s // width for s in x.strides])


@st.composite
def layouts(draw, shape):
    """An array that broadcasts to a shape, with some order of its axes in memory."""
    fewer = draw(st.integers(0, len(shape)))
    own = [1 if draw(st.booleans()) else n for n in shape[fewer:]]
    order = draw(st.permutations(range(len(own))))
    numbers = np.arange(1.0, 1.0 + np.prod([own[k] for k in order], dtype=int))
    return numbers.reshape([own[k] for k in order]).transpose(np.argsort(order).astype(int))


@st.composite
def outputs(draw, shape):
    """An array without gaps, filled with -77, with some order of its axes in memory."""
    order = draw(st.permutations(range(len(shape))))
    return np.full([shape[k] for k in order], -77.0).transpose(np.argsort(order).astype(int))


SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)
MODULES = [tensor_ops, fast_ops]


@pytest.mark.parametrize("module", MODULES)
@given(data=st.data())
def test_map_is_fn_of_every_element(module, data):
    """Map gives fn of the broadcast input, in any layout of input and output."""
    shape = data.draw(SHAPES)
    x, out = data.draw(layouts(shape)), data.draw(outputs(shape))
    interpreted(module.tensor_map(lambda v: 10.0 * v + 1.0))(*parts(out), *parts(x))
    assert out.tolist() == (np.broadcast_to(x, shape) * 10.0 + 1.0).tolist()


@pytest.mark.parametrize("module", MODULES)
@given(data=st.data())
def test_zip_is_fn_of_every_pair(module, data):
    """Zip gives fn(a, b), in this order, of the broadcast inputs, in any layout of all three."""
    shape = data.draw(SHAPES)
    a, b, out = data.draw(layouts(shape)), data.draw(layouts(shape)), data.draw(outputs(shape))
    interpreted(module.tensor_zip(lambda x, y: x - 100.0 * y))(*parts(out), *parts(a), *parts(b))
    assert out.tolist() == np.broadcast_to(a - 100.0 * b, shape).tolist()


@pytest.mark.parametrize("module", MODULES)
@given(data=st.data())
def test_reduce_folds_from_the_start_value(module, data):
    """Reduce folds an axis from the first element to the last into what out holds, in any layout."""
    shape = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple))
    dim = data.draw(st.integers(0, len(shape) - 1))
    a = data.draw(layouts(shape))
    a = np.broadcast_to(a, shape)  # strides of 0 among others
    out = data.draw(outputs((*shape[:dim], 1, *shape[dim + 1 :])))
    out[...] = 8.0
    interpreted(module.tensor_reduce(lambda result, v: result / 2.0 + v))(*parts(out), *parts(a), dim)
    wanted = np.full(out.shape, 8.0)
    for element in np.split(a, shape[dim], axis=dim) if shape[dim] else []:
        wanted = wanted / 2.0 + element
    assert out.tolist() == wanted.tolist()


MATRICES = [
    ((2, 3), (3, 2)),
    ((2, 2, 3), (3, 2)),
    ((2, 3), (2, 3, 2)),
    ((2, 1, 2, 3), (3, 3, 2)),
    ((1, 2, 3), (2, 1, 3, 1)),
    ((2, 0), (0, 3)),
    ((0, 2, 3), (0, 3, 2)),
]


@pytest.mark.parametrize(("a", "b"), MATRICES)
@given(data=st.data())
def test_matrix_multiply_broadcasts_its_batches(a, b, data):
    """The specification multiplies matrices of any rank, with batches that broadcast, into any layout."""
    x, y = (np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape) for shape in (a, b))
    x = np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)
    out = data.draw(outputs((x @ y).shape))
    tensor_ops.tensor_matrix_multiply(*parts(out), *parts(x), *parts(y))
    assert out.tolist() == (x @ y).tolist()


@pytest.mark.parametrize(("n", "k", "m"), list(itertools.product((0, 1, 3), repeat=3)))
def test_the_parallel_product_is_the_same(n, k, m):
    """The teaching kernel for matrices gives NumPy's product, with one matrix of a or b for the whole batch."""
    rng = np.random.default_rng(0)
    for rows, columns in ((2, 2), (1, 2), (2, 1), (0, 0)):
        a = rng.integers(-9, 9, (rows, k, n)).astype(float).transpose(0, 2, 1)
        b = rng.integers(-9, 9, (columns, k, m)).astype(float)
        out = np.full((max(rows, columns) if rows else 0, m, n), -77.0).transpose(0, 2, 1)
        fast_ops._tensor_matrix_multiply(*parts(out), *parts(a), *parts(b))
        assert out.tolist() == (a @ b).tolist()


def test_the_kernels_call_the_exercises_of_tensor_data(monkeypatch):
    """Indices come from `tensor_data`, through the module: an installed answer is what runs."""
    calls = []
    original = tensor_data.to_index

    def counted(ordinal, shape, out_index):
        calls.append(ordinal)
        original(ordinal, shape, out_index)

    monkeypatch.setattr(tensor_data, "to_index", counted)
    one, two = ints([1]), ints([2])
    for module in MODULES:
        calls.clear()
        module.tensor_map(abs)(np.zeros(2), two, one, np.ones(4), two, two)
        assert calls == [0, 1]
        module.tensor_reduce(max)(np.zeros(1), one, one, np.ones(4), two, two, 0)
        assert calls == [0, 1, 0]
    calls.clear()
    tensor_ops.tensor_zip(max)(np.zeros(2), two, one, np.ones(4), two, two, np.ones(1), one, one)
    assert calls == [0, 1]
    calls.clear()
    fast_ops.tensor_zip(max)(np.zeros(2), two, one, np.ones(4), two, two, np.ones(1), one, one)
    assert calls == []  # it is given, and waits for nobody's answer
    calls.clear()
    shape, strides = ints([1, 1]), ints([1, 1])
    tensor_ops.tensor_matrix_multiply(
        np.zeros(1), shape, strides, np.ones(1), shape, strides, np.ones(1), shape, strides
    )
    assert calls == [0]


def test_no_index_is_computed_where_layouts_agree(monkeypatch):
    """The parallel kernels of map and zip do without indices where all layouts are the same."""
    monkeypatch.setattr(tensor_data, "to_index", None)
    shape, strides = ints([2, 3]), ints([1, 2])
    out = np.zeros(6)
    fast_ops.tensor_map(lambda x: -x)(out, shape, strides, np.arange(6.0), shape, strides)
    assert out.tolist() == [0.0, -1.0, -2.0, -3.0, -4.0, -5.0]
    fast_ops.tensor_zip(lambda x, y: x - y)(out, shape, strides, np.ones(6), shape, strides, out.copy(), shape, strides)
    assert out.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]

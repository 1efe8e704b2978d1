"""The backends made of the four kernels: `python`, the specification, and `teaching`, the same kernels compiled."""

import math
import subprocess
import sys

import numpy as np
import pytest

import minigrad
from minigrad import exercises, fast_ops, operators, tensor_ops
from minigrad.backends import arrays, teaching
from minigrad.backends.loops import start_value
from minigrad.backends.python import PythonBackend
from minigrad.compiling import Kernel, interpreted

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


@pytest.fixture(params=["python", "teaching"])
def backend(request, monkeypatch):
    """Both backends; the kernels of the second are interpreted here, since each would take a second to compile."""
    monkeypatch.setattr(teaching, "compile_kernel", interpreted)
    with minigrad.backend("python"):  # which multiplies in plain loops only where it was asked for by name
        yield PythonBackend() if request.param == "python" else teaching.TeachingBackend()


def numbers(*shape, dtype=F64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def product_plus_two(i, j):
    return ("add", ("mul", ("in", i), ("in", j)), ("const", 2.0))


@pytest.mark.parametrize("dtype", [F32, F64])
def test_expressions_are_evaluated_with_broadcasting(backend, dtype):
    """An expression of several operators gives what NumPy gives, in the dtype asked for."""
    x, y = numbers(3, 1, 4, dtype=dtype), numbers(2, 1, dtype=dtype, seed=1)
    seen = backend.elementwise(product_plus_two(0, 1), [x, y], dtype)
    assert seen.dtype == dtype
    np.testing.assert_allclose(seen, x * y + dtype.type(2.0), rtol=1e-6 if dtype == F32 else 1e-15)


def test_results_are_new_and_row_major(backend):
    """A result shares no memory with its inputs, has no gaps, and the inputs stay."""
    x = numbers(3, 4).T
    before = x.copy()
    for seen in (
        backend.elementwise(("neg", ("in", 0)), [x], F64),
        backend.elementwise(("in", 0), [x], F64),
        backend.contiguous(x),
        backend.reduce("add", x, (), F64),
    ):
        assert seen.flags.c_contiguous
        assert seen.base is None or not np.shares_memory(seen, x)
        seen[...] = 7.0
        np.testing.assert_array_equal(x, before)


def test_comparisons_are_bools(backend):
    """A comparison gives bools where that is the dtype asked for; nan is never equal."""
    x = np.array([1.0, math.nan, 3.0])
    seen = backend.elementwise(("eq", ("in", 0), ("in", 1)), [x, x], np.dtype(bool))
    assert seen.dtype == bool
    assert seen.tolist() == [True, False, True]


def test_integers_stay_integers(backend):
    """Sums and products of int64 are exact beyond 2**53."""
    x = np.array([2**53 + 1, 3])
    seen = backend.elementwise(("add", ("in", 0), ("in", 1)), [x, np.array(2)], np.dtype(np.int64))
    assert seen.dtype == np.int64
    assert seen.tolist() == [2**53 + 3, 5]
    assert backend.reduce("add", np.array([True, True, False]), (0,), np.dtype(np.int64)).tolist() == 2


def test_a_number_may_be_an_input(backend):
    """A Python number among the inputs broadcasts like an array without axes."""
    x = numbers(2, 3)
    np.testing.assert_array_equal(backend.elementwise(("sub", ("in", 0), ("in", 1)), [x, 0.5], F64), x - 0.5)


def test_where_keeps_signed_zeros_and_infinities(backend):
    """where takes each element from one side alone, whatever stands on the other."""
    condition = np.array([True, True, False, False, True, False])
    x = np.array([-0.0, math.inf, math.nan, 1.0, math.nan, math.inf])
    y = np.array([math.nan, -math.inf, -0.0, math.inf, 1.0, 5.0])
    seen = backend.elementwise(("where", ("in", 0), ("in", 1), ("in", 2)), [condition, x, y], F64)
    np.testing.assert_array_equal(seen, np.where(condition, x, y))
    assert np.signbit(seen[[0, 2]]).all()


def test_clip_is_made_of_max_and_min(backend):
    """clip moves into an interval; nan stays nan."""
    x = np.array([-3.0, 0.5, 3.0, math.nan])
    seen = backend.elementwise(("clip", ("in", 0), ("const", -1.0), ("in", 1)), [x, 1.0], F64)
    np.testing.assert_array_equal(seen, [-1.0, 0.5, 1.0, math.nan])


def test_ieee_values_come_without_warnings(backend):
    """1 / 0, log 0, exp 1000 and overflows give what IEEE 754 says, and nothing is printed or raised."""
    x = np.array([0.0, -1.0, 1000.0], dtype=F32)
    cases = {
        ("inv", ("in", 0)): [math.inf, -1.0, 1.0 / 1000.0],
        ("log", ("in", 0)): [-math.inf, math.nan, math.log(1000.0)],
        ("exp", ("in", 0)): [1.0, math.exp(-1.0), math.inf],
        ("mul", ("const", 3e38), ("in", 0)): [0.0, -3e38, math.inf],
    }
    for expression, wanted in cases.items():
        np.testing.assert_allclose(backend.elementwise(expression, [x], F32), np.array(wanted, F32), rtol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "numpy"),
    [
        pytest.param(kernel, numpy, id=kernel)
        for kernel, numpy in (("add", np.sum), ("mul", np.prod), ("max", np.max), ("min", np.min))
    ],
)
def test_reductions_over_several_axes(backend, kernel, numpy):
    """Each reduction gives NumPy's, over any axes, of a permuted view."""
    x = numbers(2, 3, 4).transpose(2, 0, 1)
    for axes in ((0,), (1,), (0, 2), (0, 1, 2)):
        np.testing.assert_allclose(backend.reduce(kernel, x, axes, F64), numpy(x, axis=axes), rtol=1e-14)


def test_reductions_pass_nan_on(backend):
    """A nan anywhere is the maximum, as in PyTorch."""
    x = np.array([[1.0, math.nan], [math.nan, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(backend.reduce("max", x, (1,), F64), [math.nan, math.nan, 4.0])


def test_reductions_of_nothing_give_the_start(backend):
    """Without elements the start value is the result; without results there is nothing to do."""
    assert backend.reduce("mul", np.zeros((0, 2)), (0,), F64).tolist() == [1.0, 1.0]
    assert backend.reduce("add", np.zeros((2, 0)), (0,), F64).shape == (0,)
    assert backend.reduce("add", np.zeros((2, 0, 3)), (0, 1), F64).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("dtype", "lowest"), [(F32, -math.inf), (np.dtype(np.int64), -(2**63)), (np.dtype(bool), False)]
)
def test_start_of_a_maximum(dtype, lowest):
    """The maximum starts from the lowest value of its dtype."""
    assert start_value("max", dtype) == lowest


def test_unknown_reduction():
    """A kernel that has no start value is refused."""
    with pytest.raises(ValueError, match=r"no start value for 'sub'"):
        start_value("sub", F64)


@pytest.mark.parametrize(
    ("a", "b"),
    [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 1, 2, 3), (4, 3, 2)), ((0, 2, 3), (0, 3, 1)), ((2, 0), (0, 3)),
     ((3, 1, 0, 2), (1, 2, 2, 2)), ((1, 2, 3), (4, 3, 2))],
)  # fmt: skip
def test_matmul(backend, a, b):
    """Products have NumPy's values and shapes, with batches that broadcast and sizes of 0; views are fine."""
    x, y = numbers(*a), numbers(*b, seed=1)
    np.testing.assert_allclose(backend.matmul(x, y), x @ y, rtol=1e-13, atol=1e-13)
    turned = np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)
    np.testing.assert_allclose(backend.matmul(turned, y), x @ y, rtol=1e-13, atol=1e-13)


def test_one_matrix_for_a_batch_is_not_copied():
    """For the kernel a matrix that serves a whole batch is a batch of one, in the memory where it is."""
    x = numbers(1, 1, 3, 2)
    assert teaching._as_batch(x, (5, 4)).shape == (1, 3, 2)
    assert np.shares_memory(teaching._as_batch(x, (5, 4)), x)
    assert teaching._as_batch(numbers(1, 4, 3, 2), (5, 4)).shape == (20, 3, 2)


def test_matmul_keeps_the_dtype(backend):
    """float32 stays float32."""
    assert backend.matmul(numbers(2, 2, dtype=F32), numbers(2, 2, dtype=F32)).dtype == F32


def test_reversed_arrays_are_copied(backend):
    """Strides below 0 have no place in a TensorData: such an array is copied first."""
    x = np.arange(4.0)[::-1]
    assert backend.elementwise(("neg", ("in", 0)), [x], F64).tolist() == [-3.0, -2.0, -1.0, -0.0]


def test_three_inputs_are_refused():
    """An operator of three inputs that is not known to be made of others raises TypeError."""
    x = np.zeros(2)
    with pytest.raises(TypeError, match=r"nonsense has 3 inputs; kernels take one \(map\) or two \(zip\)"):
        PythonBackend().elementwise(("nonsense", ("in", 0), ("in", 0), ("in", 0)), [x], F64)


def test_installed_kernels_and_operators_are_what_runs():
    """A student's kernel, and a student's operator, are used from the moment they are installed."""
    original = tensor_ops.tensor_map

    def doubled(fn):
        return original(lambda x: 2.0 * fn(x))

    x = np.array([1.0, 2.0])
    with exercises.install({"tensor_ops.tensor_map": doubled, "operators.neg": lambda x: x + 100.0}):
        assert PythonBackend().elementwise(("neg", ("in", 0)), [x], F64).tolist() == [202.0, 204.0]
    assert PythonBackend().elementwise(("neg", ("in", 0)), [x], F64).tolist() == [-1.0, -2.0]
    assert operators.neg(1.0) == -1.0


@pytest.mark.full("every kernel is compiled anew", share=24)
def test_the_teaching_backend_compiles():
    """Map, zip, reduce and matmul of `fast_ops` run compiled, are made once for each operator, and are right."""
    backend = teaching.TeachingBackend()
    x = numbers(3, 4).T
    made = [
        backend.map_kernel(operators.sigmoid),
        backend.zip_kernel(operators.mul),
        backend.reduce_kernel(operators.add),
    ]
    again = [
        backend.map_kernel(operators.sigmoid),
        backend.zip_kernel(operators.mul),
        backend.reduce_kernel(operators.add),
    ]
    assert all(isinstance(kernel, Kernel) for kernel in made)
    assert all(one is other for one, other in zip(made, again, strict=True))
    expression = ("sigmoid", ("mul", ("in", 0), ("in", 1)))
    seen = backend.elementwise(expression, [x, np.array([2.0, 3.0, 4.0])], F64)
    np.testing.assert_allclose(seen, 1.0 / (1.0 + np.exp(-x * [2.0, 3.0, 4.0])), rtol=1e-14)
    np.testing.assert_allclose(backend.reduce("add", x, (0,), F64), x.sum(0), rtol=1e-14)
    np.testing.assert_allclose(backend.matmul(x, x.T), x @ x.T, rtol=1e-14)


@pytest.mark.full("every kernel is compiled anew", share=24)
def test_the_teaching_backend_runs_installed_kernels():
    """While a student's parallel kernel is installed, that is what the backend compiles and runs."""

    def answer(fn):
        def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
            for i in fast_ops.prange(len(out)):
                out[i] = 1000.0 + fn(in_storage[i])

        return _map

    backend = teaching.TeachingBackend()
    x = np.array([1.0, 2.0])
    with exercises.install({"fast_ops.tensor_map": answer}):
        assert backend.elementwise(("neg", ("in", 0)), [x], F64).tolist() == [999.0, 998.0]
    assert backend.elementwise(("neg", ("in", 0)), [x], F64).tolist() == [-1.0, -2.0]


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (2, 0), (0, 2), (1,), (2, 3)])
def test_axes_that_run_backwards(shape):
    """Also one of a single element, or of none, whose stride NumPy leaves negative in an array that lies in order."""
    x = np.arange(float(np.prod(shape))).reshape(shape)[tuple([slice(None, None, -1)] * len(shape))]
    with minigrad.backend("python"):
        np.testing.assert_array_equal(arrays.elementwise("add", x, x), x + x)
        np.testing.assert_array_equal(arrays.reduce("add", x, (0,)), x.sum(0))


READABLE = {
    "tensor_data": ("shape_broadcast", "to_index", "broadcast_index", "index_to_position"),
    "tensor_ops": ("tensor_zip", "tensor_reduce"),
    "operators": ("add", "mul"),
}


def test_the_readable_way_runs_what_is_installed():
    """In the product of four numbers, summed, and its gradient each answer has its part."""
    called = set()

    def watched(name, original):
        def run(*args):
            called.add(name)
            return original(*args)

        return run

    answers = {f"{m}.{name}": getattr(getattr(minigrad, m), name) for m, names in READABLE.items() for name in names}
    with minigrad.backend("python"):
        a, b = (minigrad.tensor([0.1, 0.4, 0.7, 1.0], requires_grad=True) for _ in range(2))
        with exercises.install({name: watched(name, original) for name, original in answers.items()}):
            (a * b).sum().backward()
    assert called == set(answers)


COUNTED = """
import sys
import minigrad

calls = 0

def note(frame, event, _):
    global calls
    calls += event == "call" and frame.f_code.co_filename.startswith(minigrad.__path__[0])

with minigrad.backend("python"):
    a, b = (minigrad.tensor([0.1, 0.4, 0.7, 1.0], requires_grad=True) for _ in range(2))
    (a * b).sum().backward()  # what is kept from one pass to the next is kept now
    a.grad = b.grad = None
    sys.setprofile(note)
    (a * b).sum().backward()
    sys.setprofile(None)
print(calls)
"""


def test_the_readable_way_is_short():
    """The product of four numbers, summed, and its gradient take at most 400 calls.

    They are counted in a process of its own: once a leaf was changed in place, the engine asks whether others were.
    """
    done = subprocess.run([sys.executable, "-c", COUNTED], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) <= 400

"""The choice of a backend, and what `minigrad doctor` says of it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import minigrad as mg
from minigrad import (
    backends,
    exercises,
    fast_ops,
    from_numpy,
    functions,
    operators,
    tensor_data,
    tensor_functions,
    tensor_ops,
)
from minigrad.backends import arrays, numpy_forms
from minigrad.backends.numba import threads
from minigrad.cli import app
from minigrad.errors import ExerciseNotDone
from minigrad.machine import overrides


def in_new_process(code, **environment):
    """Run code in a Python of its own, and return what it printed, errors included."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    return done.stdout + done.stderr


def test_a_backend_is_chosen_for_a_block_or_for_good():
    """backend(name) holds from now on; as a context manager, until the end of its block, errors included."""
    assert backends.chosen() == "numba"
    with mg.backend("python"):
        assert backends.chosen() == "python"
        assert not backends.is_quick()
    with pytest.raises(KeyError), mg.backend("python"):
        raise KeyError
    assert backends.chosen() == "numba"
    assert repr(mg.backend("python")) == "backend 'python'"
    try:
        assert backends.chosen() == "python"
    finally:
        mg.backend("numba")


def test_there_are_three_backends():
    """Another name is refused, and so is one in the environment."""
    with pytest.raises(ValueError, match="there is no 'tpu'; the backends are 'python', 'numba', 'cuda'"):
        mg.backend("tpu")
    assert "MINIGRAD_BACKEND is 'tpu'" in in_new_process("import minigrad as m; m.ones(1)", MINIGRAD_BACKEND="tpu")
    code = "import minigrad as m; m.ones(1); print(m.backends.chosen(), m.backends.is_quick())"
    assert in_new_process(code, MINIGRAD_BACKEND="python") == "python False\n"


def test_new_tensors_are_made_on_the_chosen_device():
    """Under backend("cuda") tensors are made on the device, and come back by name."""
    with mg.backend("cuda"):
        x = mg.ones(2, requires_grad=True)
    assert x.device == "cuda"
    (x * x).sum().backward()
    assert x.grad.device == "cuda"
    assert x.grad.cpu().tolist() == [2.0, 2.0]


def test_small_tensors_never_import_numba():
    """A network's worth of small operations, backward included, works without Numba."""
    code = """
import sys, minigrad as m
x = m.randn(10, 4, requires_grad=True)
(x @ x.T).softmax(1).log().sum().backward()
x.sigmoid().max(1).values.sum().backward()
print("numba" in sys.modules)
"""
    assert in_new_process(code) == "False\n"


def test_the_simulator_is_minigrads_own():
    """Without a device kernels run without numba.cuda, before or after which a program may import minigrad."""
    if backends.cuda() is None or os.path.exists("/dev/nvidia0"):
        pytest.skip("an NVIDIA device is attached: nothing is simulated")
    start = "import os, sys; os.environ.pop('NUMBA_ENABLE_CUDASIM', None); was = {*os.environ}; "
    end = "import minigrad as m; print(m.ones(2).to('cuda').exp().device, 'numba.cuda' in sys.modules); "
    end += "print({*os.environ} - was)"
    assert in_new_process(start + end) == "cuda False\nset()\n"
    assert in_new_process(f"{start}from numba import cuda; {end}") == "cuda True\nset()\n"


def test_large_and_small_results_agree_on_all_backends():
    """The same computation gives the same numbers by NumPy, by compiled loops and by the readable ones."""
    x = np.random.default_rng(0).normal(size=(70, 80))
    results = []
    for large in (arrays.LARGE, 1):
        before = arrays.LARGE, arrays.LARGE_AND_DEAR
        arrays.LARGE = arrays.LARGE_AND_DEAR = large
        try:
            results.append((mg.tensor(x).exp().sum(0) * 2.0).numpy())
        finally:
            arrays.LARGE, arrays.LARGE_AND_DEAR = before
    with mg.backend("python"):
        results.append((mg.tensor(x).exp().sum(0) * 2.0).numpy())
    assert np.allclose(results[0], results[1], rtol=1e-14)
    assert np.allclose(results[0], results[2], rtol=1e-14)


def test_a_mask_of_a_large_tensor_is_a_loop(monkeypatch):
    """The condition's type does not decide who chooses, and both choose the same: forward and backward."""
    monkeypatch.setattr(arrays, "LARGE", 1)
    monkeypatch.setattr(arrays, "LARGE_AND_DEAR", 1)
    monkeypatch.setattr(numpy_forms, "evaluate", lambda *_: pytest.fail("NumPy chose"))
    mask = np.triu(np.ones((3, 4), bool))
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    leaf = mg.tensor(x, requires_grad=True)
    found = leaf.masked_fill(mg.tensor(mask), -np.inf)
    np.testing.assert_array_equal(found.detach().numpy(), np.where(mask, np.float32(-np.inf), x))
    assert found.dtype == np.float32
    found.backward(mg.tensor(x))
    np.testing.assert_array_equal(leaf.grad.numpy(), np.where(mask, np.float32(0.0), x))


def test_the_quick_way_stands_aside_for_a_students_functions():
    """While a student's index functions are installed, tensors go through them."""
    calls = []

    def index_to_position(index, strides):
        calls.append(1)
        return sum(int(i) * int(s) for i, s in zip(index, strides, strict=False))

    assert backends.is_quick()
    with exercises.install({"tensor_data.index_to_position": index_to_position}):
        assert not backends.is_quick()
        assert (mg.ones(2, 2) + mg.ones(2)).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert calls
    assert backends.is_quick()
    assert tensor_data.index_to_position is not index_to_position


def _left_out(name):
    def cut(*parts):
        raise ExerciseNotDone(f"fast_ops.{name}")

    return cut


@pytest.mark.full("kernels are compiled in a process of their own", share=24)
@pytest.mark.parametrize("name", ["tensor_map", "tensor_reduce", "_tensor_matrix_multiply"])
def test_plain_loops_serve_for_a_compiled_kernel_that_is_left_out(monkeypatch, name):
    """While a student's kernels are compiled, one that is not written, and not in the edition, costs only speed."""
    kernels = {"tensor_map", "tensor_reduce", "_tensor_matrix_multiply"} - {name}
    others = {f"fast_ops.{each}": getattr(fast_ops, each) for each in kernels}
    cut = _left_out(name)
    monkeypatch.setattr(fast_ops, name, cut)
    monkeypatch.setattr(overrides, "cut_names", lambda: {f"{__name__}.{cut.__qualname__}"})
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    with exercises.install(others):
        assert (-x + x @ x).sum(0).tolist() == [18.0, 26.0]


def test_numpy_multiplies_where_the_product_in_plain_loops_is_left_out(monkeypatch):
    """It shows what a later exercise asks for, and no exercise asks for it."""
    monkeypatch.setattr(tensor_ops, "tensor_matrix_multiply", _left_out("_tensor_matrix_multiply"))
    x = np.arange(12.0).reshape(3, 2, 2)
    with mg.backend("python"):
        assert np.array_equal(arrays.matmul(x, x[0]), x @ x[0])


def test_a_students_operators_leave_products_as_quick_as_they_were(monkeypatch):
    """Plain loops multiply only where their backend was chosen: a product calls no operator."""
    monkeypatch.setattr(tensor_ops, "tensor_matrix_multiply", _left_out("tensor_map"))
    x = np.arange(12.0).reshape(3, 2, 2)
    with exercises.install({"operators.add": lambda x, y: x + y}):
        assert backends.current(x).name == "python"
        assert np.array_equal(arrays.matmul(x, x[0]), x @ x[0])
        with mg.backend("python"), pytest.raises(ExerciseNotDone):
            arrays.matmul(x, x[0])


def test_a_backend_that_is_asked_for_is_the_one_that_computes():
    """Compiled kernels of a student's serve by themselves, but not where plain loops were chosen."""
    with exercises.install({"fast_ops.tensor_map": fast_ops.tensor_map}):
        assert backends.current(np.ones(1)).name == "numba"
        with mg.backend("python"):
            assert backends.current(np.ones(1)).name == "python"


def test_doctor_names_what_is_used():
    """`minigrad doctor` names the backend with its rule, threads, kept kernels and what became of CUDA."""
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0
    for word in ("numba", "MINIGRAD_BACKEND", "NumPy", "threads", "cuda", "pool", "torch"):
        assert word in shown.output


@pytest.mark.parametrize("form", [None, operators.Form(line="{0} * {0} * {0}", is_dear=True)])
def test_an_operator_says_itself_how_it_is_computed(monkeypatch, form):
    """A new operator needs its kernel and its rule; no backend knows it by name, and its form is its own."""

    class Cube(functions.Elementwise):
        kernel = "cube"

        @staticmethod
        def backward(ctx, d_output):
            (a,) = ctx.saved_values
            return d_output * (3.0 * a * a)

    monkeypatch.setattr(operators, "cube", lambda x: x * x * x, raising=False)
    if form is not None:
        monkeypatch.setitem(operators.FORMS, "cube", form)
    for backend, size in (("python", 5), ("numba", 5), ("numba", 40_000)):
        values = np.linspace(-2.0, 2.0, size)
        with mg.backend(backend):
            x = mg.tensor(values, requires_grad=True)
            y = Cube.apply(x)
            y.sum().backward()
        assert np.allclose(y.detach().numpy(), values**3)
        assert np.allclose(x.grad.numpy(), 3.0 * values**2)


def test_every_form_names_what_there_is():
    """Each form belongs to an operator, names a function of NumPy's or of `numpy_forms`, and folds from a start."""
    for name, form in operators.FORMS.items():
        assert callable(getattr(operators, name))
        assert not form.numpy or callable(numpy_forms.FORMS[name])
        assert (form.start is None) == (not form.fold)


@pytest.mark.parametrize("shape", [(40, 50), (8, 5, 50), (2000,)])
@pytest.mark.parametrize("rest", [(), (3,), (2, 70), (0,)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("grain", [1, 1 << 20])
def test_rows_are_added_where_they_belong(monkeypatch, shape, rest, dtype, grain):
    """Every row comes to its place, in NumPy's order; a place that is named often gets all of them."""
    monkeypatch.setattr(threads, "GRAIN", grain)
    monkeypatch.setattr(threads, "thread_count", lambda: 2)  # where there is one, it takes both parts
    rng = np.random.default_rng(0)
    places, rows = rng.integers(-9, 9, shape), (100 * rng.normal(size=(*shape, *rest))).astype(dtype)
    found, wanted = np.ones((9, *rest), dtype), np.ones((9, *rest), dtype)
    arrays.add_rows(found, places, rows)
    np.add.at(wanted, places, rows)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("places", [np.arange(100, dtype=np.int8)[::-1], np.zeros((2, 50), np.uint8)])
def test_rows_and_places_in_any_layout_are_added(places):
    """Numbers of every integer type, and rows that do not lie one behind the other."""
    rows = np.random.default_rng(0).normal(size=(60, *places.shape)).T.swapaxes(0, places.ndim - 1)
    found, wanted = np.zeros((300, 60)), np.zeros((300, 60))
    arrays.add_rows(found, places, rows)
    np.add.at(wanted, places, rows)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("axis", "added"), [(0, [(40,)]), (1, [])])
def test_index_add_adds_rows(monkeypatch, axis, added):
    """Along the first axis `index_add` adds whole rows, along another one single numbers."""
    calls = []
    taken = arrays.add_rows
    monkeypatch.setattr(arrays, "add_rows", lambda *given: calls.append(given[1].shape) or taken(*given))
    rng = np.random.default_rng(0)
    places, rows = rng.integers(0, 5, 40), rng.normal(size=(40, 3))
    wanted = np.zeros((5, 3))
    np.add.at(wanted, places, rows)
    source, wanted = np.moveaxis(rows, 0, axis).copy(), np.moveaxis(wanted, 0, axis)
    found = mg.zeros(*wanted.shape, dtype=mg.float64).index_add(axis, mg.tensor(places), mg.tensor(source))
    np.testing.assert_allclose(found.numpy(), wanted)
    assert calls == added


@pytest.mark.parametrize(
    ("shape", "key"),
    [
        ((5, 3), (np.broadcast_to(np.array([[4], [0]]), (2, 3)), np.array([[2, 1, 0]]))),  # columns in another order
        ((5, 3), (np.arange(2)[:, None], np.arange(2)[:, None])),  # a diagonal: places like columns in order
        ((5, 3), (np.broadcast_to(np.array([[1], [0]]), (2, 2)), np.arange(2)[None])),  # not every column
        ((5, 3), (np.ones((5, 3), bool),)),  # a mask
        ((5,), (np.array(2),)),  # one place, without an axis
        ((5, 3), np.array(2)),
    ],
)
def test_a_key_that_selects_no_rows_is_taken_as_it_is(shape, key):
    """The values come to the places that NumPy's indexing names."""
    wanted = np.zeros(shape)
    values = np.random.default_rng(0).normal(size=wanted[key].shape)
    np.add.at(wanted, key, values)
    found = tensor_functions.IndexAdd.apply(mg.tensor(values), shape=shape, key=key)
    np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize("count", [2, 2000])
def test_places_that_are_repeated_select_no_rows(count):
    """A column that is repeated looks like a row with one number."""
    x = mg.zeros(5, 1, requires_grad=True)
    rows, values = np.arange(count)[:, None] % 5, np.arange(count * 7, dtype=np.float32).reshape(count, 7)
    x[mg.tensor(rows).expand(count, 7), mg.tensor([[0]])].backward(mg.tensor(values))
    wanted = np.zeros((5, 1), np.float32)
    np.add.at(wanted, (np.broadcast_to(rows, (count, 7)), np.array([[0]])), values)
    np.testing.assert_array_equal(x.grad.numpy(), wanted)
    with pytest.raises(ValueError, match="broadcast"):
        arrays.add_rows(np.zeros((5, 3)), np.zeros(2000, int), np.zeros((2000, 4)))


@pytest.mark.parametrize("shape", [(5, 0), (5, 3, 0), (5, 0, 3), (0, 4)])
def test_rows_without_elements_are_added(shape):
    """Nothing is added to nothing."""
    index = mg.tensor([0, 2]) if shape[0] else mg.zeros(0, dtype=mg.int64)
    found = mg.zeros(*shape).index_add(0, index, mg.ones(len(index), *shape[1:]))
    assert found.shape == shape


@pytest.mark.parametrize("is_writeable", [True, False])
def test_an_expanded_array_has_an_array_as_its_base(is_writeable):
    """Else nobody could tell whose memory it is; and it may be written to where the array may."""
    x = np.arange(6.0).reshape(2, 3)
    x.flags.writeable = is_writeable
    for each in (x, x.T, x[:, ::2], x[::-1]):
        wide = arrays.expand(each, (4, *each.shape))
        assert isinstance(wide.base, np.ndarray) and np.may_share_memory(wide, x)
        assert wide.flags.writeable == is_writeable
        np.testing.assert_array_equal(wide, np.broadcast_to(each, wide.shape))


def test_rows_for_no_place_are_refused():
    """A place beyond the end is an error, and not another place."""
    with pytest.raises(IndexError):
        arrays.add_rows(np.zeros((3, 4)), np.full(2000, 3), np.ones((2000, 4)))


@pytest.mark.parametrize("size", [2, 5_000, 100_000])
def test_constants_that_are_equal_are_told_apart(size):
    """0.0 and -0.0 are equal, as are 2, 2.0 and True; what is kept for one of them serves no other."""
    x = np.ones(size)
    for sign in (1.0, -1.0, 1.0):
        product = arrays.evaluate(("mul", ("in", 0), ("const", sign * 0.0)), [x])
        assert np.copysign(1.0, product[0]) == np.copysign(1.0, product[-1]) == sign
    types = [numpy_forms.evaluate(("mul", ("in", 0), ("const", two)), [np.arange(size)]).dtype for two in (2.0, 2)]
    assert types == [np.float64, np.int64]


def test_an_array_of_one_field_may_have_any_stride_along_one_element():
    """A stride along an axis of size 1 is no step, whatever it is."""
    x = np.zeros(1, [("a", "u1"), ("b", "f8", (40_000,))])["b"]
    assert (from_numpy(x) + 1.0).sum().item() == 40_000.0

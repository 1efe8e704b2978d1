"""The visible checks of kernels, of softmax and of indices say what is wrong, in lines of the student's own."""

import linecache

import pytest
from visible import COURSE, names_above

from autograder.building.slicing import slice_exercise
from autograder.course.answers import wrong_answers
from autograder.course.loading import DEFAULT_COURSE
from minigrad.checks import cuda_ops, run
from minigrad.checks.runner import _tests_of


def check(id, text):
    """Run the visible checks on a text, which error messages can find as they find a notebook's cell."""
    namespace = names_above(COURSE.exercise(id))
    text = f"from __future__ import annotations\n{text}"
    name = f"<cell of {id} {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    return run(id, namespace)


def changed(id, right, slip):
    """Run the checks on the right answer with a slip in it."""
    answer = slice_exercise(COURSE, id).reference_cell
    assert right in answer
    return check(id, answer.replace(right, slip))


def failures(report):
    """The checks that fail."""
    return [result for result in report.results if not result.passed]


@pytest.mark.parametrize(
    ("id", "mistake"),
    [
        ("tensor_ops.tensor_reduce", "arguments-swapped"),
        ("tensor_ops.tensor_reduce", "folded-from-the-end"),
        ("fast_ops.tensor_reduce", "folded-from-the-end"),
        ("fast_ops.tensor_reduce", "start-taken-for-zero"),
    ],
)
def test_a_fold_in_another_order_fails_one_check(id, mistake):
    """Strides and compiling are checked with a sum, which no order of the fold changes."""
    failed = failures(check(id, wrong_answers(DEFAULT_COURSE, id)[mistake]))
    assert len(failed) == 1
    assert "result / 2 + element" in failed[0].title


MAX_POOL = "tensor_functions.Max.apply(rows, dim=4)"
AMAX = "amax(dim, keepdim=True)"
SLIPS = [
    (
        "fast_ops._tensor_matrix_multiply",
        "b_strides[0] if b_shape[0] > 1 else 0",
        "0",
        "b's first matrix came twice",
    ),
    ("nn.functional.softmax", "sum(dim, keepdim=True)", "sum(dim)", "keepdim=True"),
    ("nn.functional.softmax", AMAX, "amax(dim)", "keepdim=True"),
    ("nn.functional.softmax", AMAX, "max(dim, keepdim=True)", "take its `.values`"),
    ("nn.functional.logsoftmax", "sum(dim, keepdim=True)", "sum(dim)", "keepdim=True"),
    ("nn.functional.logsoftmax", AMAX, "max(dim, keepdim=True)", "take its `.values`"),
    ("nn.functional.max_pool2d", MAX_POOL, "rows.max(4)", "take its `.values`"),
    ("cuda_ops.tensor_map", "if i < out_size", "if True", "compare the thread's number with out_size"),
    ("cuda_ops.tensor_map", "if i < out_size", "if i <= out_size", "compare the thread's number with out_size"),
    ("cuda_ops.tensor_map", "numba.int32", "numba.float64", "index buffers hold whole numbers"),
    ("tensor_ops.tensor_map", ", dtype=np.int64", "", "np.zeros and np.empty make floats"),
    ("fast_ops.tensor_reduce", ", dtype=np.int64", "", "np.zeros and np.empty make floats"),
    ("tensor_data.to_index", "rest // shape", "rest / shape", "`//` stays with whole numbers"),
]


@pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=16)
@pytest.mark.parametrize(("id", "right", "slip", "words"), SLIPS)
def test_the_hint_fits_the_slip(id, right, slip, words):
    """The first check that fails says so, or the second where a value comes before."""
    found = failures(changed(id, right, slip))
    assert any(words in result.hint for result in found[:2]), found


def test_an_index_that_is_a_float_is_no_race():
    """The check of parallel loops names the line, and does not speak of iterations that meet."""
    found = failures(changed("fast_ops.tensor_reduce", ", dtype=np.int64", ""))
    assert not any("must be its own" in result.hint for result in found), found
    assert any(result.reason.startswith("an index is no whole number: `") for result in found), found


def test_maximum_with_its_places_is_right():
    """What the hint on pairs recommends passes."""
    assert changed("nn.functional.max_pool2d", MAX_POOL, "rows.max(4).values").passed
    assert changed("nn.functional.softmax", AMAX, "max(dim, keepdim=True).values").passed


@pytest.mark.parametrize("id", ["nn.functional.softmax", "nn.functional.logsoftmax"])
def test_a_forgotten_keepdim_is_found(id):
    """The answer that is known to be wrong this way fails, with the hint."""
    report = check(id, wrong_answers(DEFAULT_COURSE, id)["keepdim-forgotten"])
    assert any("keepdim=True keeps it" in result.hint for result in failures(report)), str(report)


def test_a_thread_without_an_element_is_no_race():
    """The thread is named with its number, and nobody speaks of owners of elements."""
    reasons = " ".join(
        result.reason for result in failures(changed("cuda_ops.tensor_map", "if i < out_size", "if True"))
    )
    assert "thread 2 of block 1 has the number 6 in the grid and out_size is 6, but it touches out[0]" in reasons
    assert "owner" not in reasons


def test_two_threads_of_one_element_are_a_race():
    """Where no thread is left over, the collision is what is said."""
    report = changed("cuda_ops.tensor_map", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x", "cuda.threadIdx.x")
    assert "two threads write the same element" in failures(report)[0].hint
    assert "out_size" not in failures(report)[0].reason


@pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=16)
@pytest.mark.parametrize(
    ("id", "right", "slip"),
    [
        ("cuda_ops.tensor_map", "fn(in_storage[position])", "1.0 + fn(in_storage[position])"),
        ("cuda_ops._sum_practice", "out[cuda.blockIdx.x] = cache[0]", "out[cuda.blockIdx.x] = cache[1]"),
        ("cuda_ops._pool_practice", "out[i] = window", "out[i] = 2.0 * window"),
        ("cuda_ops._scan_practice", "out[i] = running", "out[i] = 2.0 * running"),
    ],
)
def test_what_is_wrong_in_python_is_not_launched(id, right, slip):
    """The last check does not say that values were right in Python."""
    last = changed(id, right, slip).results[-1]
    assert last.reason.startswith("not launched, since it goes wrong in Python: "), last
    assert "values were right" not in last.hint


@pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=16)
@pytest.mark.parametrize(
    ("id", "mistake"),
    [
        ("cuda_ops._sum_practice", "syncthreads-in-branch"),
        ("cuda_ops._sum_practice", "syncthreads-under-the-guard"),
        ("cuda_ops.tensor_reduce", "syncthreads-in-branch"),
        ("cuda_ops._pool_practice", "syncthreads-under-the-guard"),
        ("cuda_ops._scan_practice", "syncthreads-in-branch"),
    ],
)
def test_a_barrier_in_a_branch_fails_the_check_of_waiting(id, mistake):
    """As in grading, where the values and the reads of memory keep their points; nothing goes to a device."""
    report = check(id, wrong_answers(DEFAULT_COURSE, id)[mistake])
    waits, launched = failures(report)
    assert waits.title.startswith("All threads of a block wait for each other")
    assert "waits at line" in waits.reason and "must be reached by all threads of a block" in waits.hint
    assert launched.reason.startswith("not launched, since it goes wrong in Python: ")


def test_a_kernel_without_end_is_waited_for_once():
    """The threads that are watched are stopped after many steps, and no further check is run."""
    report = changed(
        "cuda_ops.tensor_map", "        if i < out_size", "        while i >= 0:\n            i += 0\n        if True"
    )
    (result,) = report.results
    assert result.reason.startswith("still running")
    assert "does not come to its end" in result.hint
    assert result.hint.endswith("The checks after this one were not run.")


def test_the_title_says_whether_something_was_compiled():
    """On a device it compiles; the simulator runs Python."""
    assert cuda_ops._device_title(False) == "It compiles, and gives the same on the device."
    assert "nothing is compiled" in cuda_ops._device_title(True)
    last, _ = _tests_of("cuda_ops.tensor_map")[-1]
    assert last.__doc__ in (cuda_ops.ON_DEVICE, cuda_ops.IN_SIMULATOR)


@pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=4)
def test_numbas_source_is_not_the_students():
    """What compiled code raises quotes no line, or one that stands in the answer."""
    quick = "len(out_shape) == len(in_shape) and (out_shape == in_shape).all() and (out_strides == in_strides).all()"
    report = changed("fast_ops.tensor_map", quick, "out_shape == in_shape")
    for result in failures(report):
        _, is_quoted, line = result.reason.partition("in your line ")
        assert not is_quoted or line == "`if out_shape == in_shape:`", result
    assert len(failures(report)) == 4


def test_the_signature_of_a_kernel_is_shown():
    """A kernel inside that takes too few arguments, under whatever name, is told the right ones."""
    report = check("tensor_ops.tensor_map", "def tensor_map(fn):\n    def mine(out):\n        pass\n    return mine\n")
    assert "`_map(out, out_shape, out_strides, in_storage, in_shape, in_strides)`" in report.results[0].hint
    report = check("mlp.Linear", "class Linear(Module):\n    def __init__(self, n):\n        super().__init__()\n")
    assert "`Linear.__init__(self, in_size, out_size, rng)`" in report.results[0].hint


@pytest.mark.parametrize("returned", ["()", "None"])
def test_an_index_that_is_not_written(returned):
    """Every check with an axis fails, none of them speaks of a division."""
    report = check("tensor_data.to_index", f"def to_index(ordinal, shape, out_index):\n    return {returned}\n")
    assert len(failures(report)) == 6
    assert not any("`/`" in result.hint for result in failures(report))

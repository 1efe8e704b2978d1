"""Compiling a student's kernel: helpers come along, nothing is stale, and refusals are said in one or two sentences."""

import cProfile
import functools
import linecache
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from numba import njit, prange

from minigrad import compiling, operators, tensor_data
from minigrad.compiling import compile_kernel, interpreted, reaching
from minigrad.errors import ExerciseNotDone, KernelError, MinigradError
from minigrad.machine import overrides


@pytest.fixture(autouse=True)
def in_parallel():
    """Every test begins and ends with the switch on."""
    yield
    compiling.set_parallel(True)


def exp(x):
    return math.exp(x)


def sigmoid(x):
    if x >= 0:
        return 1.0 / (1.0 + exp(-x))
    return exp(x) / (1.0 + exp(x))


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def ones(n=3):
    return np.ones(n)


# --- helpers ------------------------------------------------------------------------------------------------


def test_helpers_are_compiled_along():
    """A helper that calls another plain function of its module, as sigmoid calls exp, needs no decorator."""

    def kernel(out):
        for i in range(len(out)):
            out[i] = sigmoid(out[i])

    out = np.array([0.0, 800.0, -800.0])
    compile_kernel(kernel)(out)
    assert out.tolist() == [0.5, 1.0, 0.0]
    assert not hasattr(sigmoid, "py_func")  # the original is left alone


def test_helpers_in_closures_and_modules():
    """Helpers are found in the closure, and in modules that the kernel looks into."""

    def maker(fn):
        def kernel(out, shape):
            index = np.empty(len(shape), dtype=np.int64)
            for i in range(len(out)):
                tensor_data.to_index(i, shape, index)
                out[i] = fn(float(index[1]))

        return kernel

    out = np.zeros(4)
    compile_kernel(maker(lambda x: sigmoid(10.0 * x)))(out, np.array([2, 2]))
    np.testing.assert_allclose(out, [0.5, 1.0 / (1.0 + math.exp(-10.0))] * 2)


def test_compiled_helpers_are_taken_as_they_were_written():
    """A helper that the student compiled, and whose own helper is plain, works as well; so does a compiled kernel."""
    compiled = njit(inline="always")(sigmoid)

    def kernel(out):
        for i in prange(len(out)):
            out[i] = compiled(out[i])

    out = np.zeros(3)
    compile_kernel(njit(parallel=True)(kernel))(out)
    assert out.tolist() == [0.5] * 3


@pytest.mark.parametrize(
    ("operator", "inputs", "wanted"),
    [
        (operators.inv, (0.0,), math.inf),
        (operators.log, (0.0,), -math.inf),
        (operators.log, (-1.0,), math.nan),
        (operators.exp, (1000.0,), math.inf),
        (operators.div, (-1.0, 0.0), -math.inf),
        (operators.pow, (-8.0, 0.5), math.nan),
        (operators.sqrt, (-1.0,), math.nan),
        (operators.inv_back, (0.0, 1.0), -math.inf),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_operators_follow_ieee(operator, inputs, wanted):
    """An operator whose wrapper catches Python's errors is compiled without it, and gives the same values."""

    def of_one(out, inputs):
        out[0] = operator(inputs[0])

    def of_two(out, inputs):
        out[0] = operator(inputs[0], inputs[1])

    out = np.zeros(1)
    compile_kernel(of_one if len(inputs) == 1 else of_two, parallel=False)(out, np.array(inputs))
    np.testing.assert_array_equal(out, [wanted])
    np.testing.assert_array_equal(operator(*inputs), wanted)


def test_a_kernel_divides_as_ieee_says():
    """In the kernel itself, too, 1 / 0 is infinity and 0 / 0 is nan, and nothing is raised."""

    def kernel(out, x):
        out[0], out[1] = 1.0 / x, x / x

    out = np.zeros(2)
    compile_kernel(kernel)(out, 0.0)
    np.testing.assert_array_equal(out, [math.inf, math.nan])


def test_functions_that_call_each_other():
    """Helpers may call themselves and one another."""

    def kernel(n):
        return even(n)

    assert [reached.__name__ for reached in reaching.reached(kernel)] == ["kernel", "even", "odd"]
    assert [interpreted(kernel)(n) for n in (0, 1, 4)] == [True, False, True]


# --- nothing is stale ---------------------------------------------------------------------------------------


def test_the_same_kernel_is_compiled_once():
    """Two functions made by the same code, with the same helpers and constants, are one kernel."""

    def maker(fn, factor):
        def kernel(out):
            out[0] = factor * fn(2.0)

        return kernel

    one = compile_kernel(maker(sigmoid, 2.0))
    assert compile_kernel(maker(sigmoid, 2.0)) is one
    assert compile_kernel(maker(sigmoid, 3.0)) is not one
    assert compile_kernel(maker(exp, 2.0)) is not one
    assert compile_kernel(maker(sigmoid, 2.0), parallel=False) is not one
    assert compile_kernel(one) is one


def test_a_profiler_changes_nothing():
    """Under a profiler a kernel is still the same kernel: Numba, which alters the code that it runs, has a copy."""

    def kernel(out):
        out[0] = sigmoid(out[0])

    one = compile_kernel(kernel)
    profile = cProfile.Profile()
    profile.enable()
    one(np.ones(1))
    one(np.ones(1))
    profile.disable()
    assert compile_kernel(kernel) is one


def test_a_changed_helper_is_seen():
    """A helper written anew under the same name is what the next call compiles, also at the second remove."""
    scope = {}
    exec(
        "def helper(x): return inner(x)\ndef inner(x): return x + 1.0\ndef kernel(out): out[0] = helper(out[0])", scope
    )
    out = np.zeros(1)
    compile_kernel(scope["kernel"])(out)
    assert out.tolist() == [1.0]
    exec("def inner(x): return x + 10.0", scope)
    compile_kernel(scope["kernel"])(out)
    assert out.tolist() == [11.0]
    scope["helper"] = operators.neg
    compile_kernel(scope["kernel"])(out)
    assert out.tolist() == [-11.0]


def test_constants_are_told_apart():
    """A changed global number or array, 0.0 and -0.0, 1 and 1.0 give kernels of their own; nan is itself."""
    scope = {"np": np}
    exec("def kernel(out): out[0] = constant\ndef reader(out): out[0] = table[0]", scope)

    def compiled(value):
        scope["constant"] = value
        return compile_kernel(scope["kernel"])

    kernels = [compiled(value) for value in (1, 1.0, True, 0.0, -0.0, math.nan)]
    assert len(set(map(id, kernels))) == 6
    assert compiled(float("nan")) is kernels[-1]
    scope["table"] = np.array([1.0])
    first = compile_kernel(scope["reader"])
    scope["table"][0] = 2.0
    assert compile_kernel(scope["reader"]) is not first


def test_what_is_installed_is_what_is_compiled():
    """An answer installed for `tensor_data.to_index` is compiled into the next kernel."""
    from minigrad import exercises

    def kernel(out, shape):
        tensor_data.to_index(5, shape, out)

    def answer(ordinal, shape, out_index):
        out_index[0] = 100 + ordinal

    before, during, after, shape = (np.array([7, 7]) for _ in range(4))
    compile_kernel(kernel)(before, shape)
    with exercises.install({"tensor_data.to_index": answer}):
        compile_kernel(kernel)(during, shape)
    compile_kernel(kernel)(after, shape)
    assert (before.tolist(), during.tolist(), after.tolist()) == ([0, 5], [105, 7], [0, 5])


# --- parallel, or not ---------------------------------------------------------------------------------------


def loop(out):
    for i in prange(len(out)):
        out[i] = i


def is_parallel(kernel):
    return bool(kernel.dispatcher.targetoptions.get("parallel"))


def test_one_switch_for_all_kernels():
    """set_parallel(False) reaches kernels that are compiled already, and results stay."""
    kernel, out = compile_kernel(loop), np.zeros(4)
    kernel(out)
    assert is_parallel(kernel)
    assert compiling.is_parallel()
    compiling.set_parallel(False)
    assert not is_parallel(kernel)
    assert not compiling.is_parallel()
    again = np.zeros(4)
    kernel(again)
    assert again.tolist() == out.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_who_decides_on_parallel():
    """A plain function runs in parallel unless the caller says no; a compiled one only if it was made so."""
    assert is_parallel(compile_kernel(loop))
    assert not is_parallel(compile_kernel(loop, parallel=False))
    assert is_parallel(compile_kernel(njit(parallel=True)(loop)))
    assert not is_parallel(compile_kernel(njit(loop)))
    assert compile_kernel(njit(parallel=True, fastmath=True)(loop)).dispatcher.targetoptions["fastmath"] is True


def test_the_environment_switches_it_off(root):
    """MINIGRAD_PARALLEL=0 runs every kernel on one thread."""
    code = "from minigrad import compiling; print(compiling.is_parallel())"
    for value, wanted in (("0", "False"), ("1", "True")):
        env = {"MINIGRAD_PARALLEL": value, "PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin"}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == wanted


def test_no_advice_from_the_compiler(recwarn):
    """A kernel without anything to run in parallel is compiled in silence."""
    compile_kernel(lambda out: out[0])(np.ones(1))
    assert not recwarn.list


# --- in Python ----------------------------------------------------------------------------------------------


def test_interpreted_functions_reach_no_compiled_code():
    """interpreted() takes the Python functions behind compiled ones, in closures and globals, and checks bounds."""
    seen = []

    def noting(x):
        seen.append(x)
        return 2.0 * x

    compiled = njit(noting)  # numba could not compile this one

    def kernel(out):
        for i in prange(4):
            out[i] = compiled(out[i])

    with pytest.raises(IndexError):
        interpreted(njit(parallel=True)(kernel))(np.array([1.0, 2.0, 3.0]))
    assert seen == [1.0, 2.0, 3.0]
    assert interpreted(compile_kernel(loop)).__code__ == loop.__code__


@pytest.mark.parametrize("use", [compile_kernel, interpreted])
@pytest.mark.parametrize(
    "value", [None, 3.0, math.exp, functools.partial(exp, 1.0)], ids=["none", "number", "c", "partial"]
)
def test_what_is_no_function(use, value):
    """What is no Python function is refused, with the question whether a return is missing."""
    with pytest.raises(TypeError, match=r"a kernel is a function, not .*: is a `return` missing where it is made\?"):
        use(value)


# --- refusals -----------------------------------------------------------------------------------------------


class Thing:
    """A class of the user's, which means nothing to Numba."""


thing = Thing()


def uses_thing(out):
    out[0] = len(thing.__doc__)


def uses_nothing(out):
    out[0] = missing_name + 1.0  # noqa: F821


def changes_the_loop_variable(out):
    for i in prange(len(out)):
        i = i + 1
        out[i - 1] = 0.0


def two_types(out):
    result = 1.0
    for _ in range(3):
        result = out
    return result


def no_attribute(out):
    return out.unknown


def tuple_of_list(out):
    index = [0] * 2
    return tuple(index)


def stores_none(out):
    out[0] = None


def indexes_by_string(out):
    return out["a"]


def makes_a_class(out):
    class Inner:
        pass

    return Inner


def catches_one_error(out):
    try:
        out[0] = 1.0 / out[1]
    except ZeroDivisionError:
        out[0] = 0.0


def too_many(out):
    return exp(out[0], 1.0)


def wrong_helper(out):
    return no_attribute(out)


def wrong_use_of_the_library(out):
    return tensor_data.index_to_position(3, 4)


REFUSALS = [
    (uses_thing, "`thing` is a Thing, which compiled code cannot use", "out[0] = len(thing.__doc__)"),
    (uses_nothing, "the name `missing_name` is not defined", "out[0] = missing_name + 1.0  # noqa: F821"),
    (changes_the_loop_variable, "the variable of a `prange` loop must not be changed", "i = i + 1"),
    (two_types, "`result` is a float on one way and an array of float64 on another", ""),
    (no_attribute, "an array of float64 has no `unknown` in compiled code", "return out.unknown"),
    (tuple_of_list, "compiled code has no `tuple` of a list", "return tuple(index)"),
    (stores_none, "None cannot be an element of an array of float64", "out[0] = None"),
    (indexes_by_string, "an array of float64 cannot be indexed by a string", 'return out["a"]'),
    (makes_a_class, "a class cannot be made in compiled code", "class Inner:"),
    (catches_one_error, "only `except Exception:` is possible", "except ZeroDivisionError:"),
    (too_many, "a function that takes (x) is called with other arguments", "return exp(out[0], 1.0)"),
    (wrong_helper, "an array of float64 has no `unknown` in compiled code", "return out.unknown"),
    (wrong_use_of_the_library, "compiled code has no `len` of an int", "return tensor_data.index_to_position(3, 4)"),
]


@pytest.mark.parametrize(("kernel", "reason", "line"), REFUSALS, ids=[kernel.__name__ for kernel, _, _ in REFUSALS])
def test_a_refusal_names_reason_and_line(kernel, reason, line):
    """What the compiler refuses is one KernelError: the reason in plain words, and the line, the user's own."""
    with pytest.raises(KernelError) as caught:
        compile_kernel(kernel)(np.ones(3))
    message = str(caught.value)
    assert message.startswith(f"{kernel.__name__} cannot be compiled: ")
    assert reason in message
    assert re.search(rf"; the line is `{re.escape(line)}.*` \(test_compiling\.py, line \d+\)$", message)
    assert "\n" not in message
    assert len(message) < 400
    assert caught.value.__suppress_context__
    assert isinstance(caught.value, MinigradError)


def test_what_the_compiler_said_is_kept():
    """The compiler's own words are there for whoever wants them."""
    with pytest.raises(KernelError) as caught:
        compile_kernel(no_attribute)(np.ones(3))
    assert "Unknown attribute 'unknown'" in caught.value.original


@pytest.mark.filterwarnings("ignore:Assigning a code object of non-matching type")  # Numba's own, on Python 3.14
def test_unknown_reasons_are_the_compilers_first_line():
    """A reason that has no plain words here is given as the compiler's first line."""

    def kernel(out):
        return sum(x for x in out)

    with pytest.raises(
        KernelError, match=r"kernel cannot be compiled: The use of yield in a closure is unsupported; the "
    ):
        compile_kernel(kernel)(np.ones(3))


def test_a_compiler_without_words():
    """An error of the compiler without a message is said to be one."""

    def kernel(out):
        return functools.reduce(max, [out[0], out[1]], 0.0)

    with pytest.raises(KernelError, match=r"it uses something that the compiler stumbles over without a word"):
        compile_kernel(kernel)(np.ones(3))


def test_arguments_that_no_kernel_takes():
    """An argument of an unknown type is refused like anything else."""
    with pytest.raises(KernelError, match=r"loop cannot be compiled: compiled code knows no value of type .*Thing"):
        compile_kernel(loop)(thing)


@pytest.mark.parametrize("name", ["/tmp/ipykernel_1/42.py", "<cell 3>"])
def test_a_cell_is_called_a_cell(name):
    """In a notebook the file of a cell means nothing: its line is named as one of the cell."""
    source = "def kernel(out):\n    return out.unknown\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {}
    exec(compile(source, name, "exec"), scope)
    with pytest.raises(KernelError, match=r"the line is `return out.unknown` \(line 2 of its cell\)$"):
        compile_kernel(scope["kernel"])(np.ones(1))


def test_errors_of_the_kernel_itself_pass_through():
    """An exception that the compiled kernel raises is its own."""

    def kernel(out):
        if out[0] > 0.0:
            raise ValueError("positive")

    with pytest.raises(ValueError, match="positive"):
        compile_kernel(kernel)(np.ones(1))


def test_what_an_edition_leaves_out_is_not_compiled(monkeypatch):
    """A kernel that calls a function whose body is cut names the exercise that is to be done."""

    def helper(x):
        from minigrad.errors import ExerciseNotDone

        raise ExerciseNotDone("tensor_data.to_index")

    def kernel(out):
        out[0] = helper(out[0])

    monkeypatch.setattr(overrides, "cut_names", lambda: {f"{__name__}.{helper.__qualname__}"})
    with pytest.raises(ExerciseNotDone, match=r"^tensor_data\.to_index is not written yet"):
        compile_kernel(kernel)

"""What the race detector for prange loops says, what it follows, and what it refuses."""

import ast
import json
import linecache
import math

import debug_prange_kernels as kernels
import numpy as np
import pytest
from debug_prange_kernels import (
    MAP_ARGUMENTS,
    _a,
    _b,
    _store,
    add_to_element,
    add_to_slice,
    compiled,
    fill,
    layout,
    map_with_hoisted_buffers,
    matmul,
    neighbour,
    reductions,
    shifted_views,
    x8,
)

from minigrad.debug import races
from minigrad.debug.loops import plan
from minigrad.debug.memory import READ, WRITE, Memory
from minigrad.emulator.text import tree_of
from minigrad.machine._numba import numba

prange = numba.prange

# --- what a finding says --------------------------------------------------------------------------------------


def line_with(text):
    return next(i for i, line in enumerate(linecache.getlines(kernels.__file__), start=1) if line.strip() == text)


def test_a_finding_names_element_iterations_and_lines():
    """A finding names the element, both iterations, the line in the helper, the loop's line and the hoisted buffer."""
    report = races(map_with_hoisted_buffers(lambda v: 2.0 * v), *MAP_ARGUMENTS)
    race = next(race for race in report.races if race.array == "out_index" and race.kind == "write-write")
    assert race.index in {(0,), (1,)}
    assert {race.first, race.second} == {0, 1}
    assert race.line == race.other_line == line_with("out_index[k] = rest % shape[k]")
    assert race.loop_line == line_with("to_index(i, out_shape, out_index)")
    assert race.source == "out_index[k] = rest % shape[k]"
    assert race.function == "to_index"
    assert race.count == 2
    made = line_with("out_index = np.empty(len(out_shape), np.int32)")
    assert f"made before the loop (line {made})" in race.message
    assert f"line {race.line}, in to_index: {race.source}  (reached from line {race.loop_line})" in str(report)
    assert "<code>line" in report._repr_html_()


def test_findings_as_plain_data():
    """Meetings are the findings in JSON's own types: what, where, who came first and second, what each does."""
    report = races(map_with_hoisted_buffers(lambda v: 2.0 * v), *MAP_ARGUMENTS)
    meetings = report.meetings()
    assert json.loads(json.dumps(meetings)) == meetings and len(meetings) == len(report.races) > 1
    found = next(each for each in meetings if each["array"] == "out_index" and each["kind"] == "write-write")
    assert found["index"] in ([0], [1]) and {found["first"], found["second"]} == {"0", "1"}
    assert found["acts"] == ["writes", "writes"]
    for race in (race for race in report.races if race.kind == "read-write"):
        writer = race.first if race.acts == ("writes", "reads") else race.second
        assert f"is written by iteration {writer} and read" in race.message


def test_overlapping_arguments_are_one_element():
    """Arguments that share memory collide, and the finding says what each of them calls the element."""
    (race,) = races(shifted_views, _store[:-1], _store[1:]).races
    assert "out[1]" in race.message and "x[0]" in race.message


def test_a_finding_says_how_to_add_up():
    """Where all iterations add to the same elements, the finding shows the form that Numba reduces."""
    assert "let the whole line be `y += ...`" in races(add_to_slice, x8).races[0].message


@pytest.mark.parametrize(
    ("statement", "kinds"),
    [
        ("np.add(a, 1.0, out=a)", {"write-write", "read-write"}),
        ("np.add(b, 1.0, out=a)", {"write-write"}),
        ("np.add.at(a, [0, 1], 1.0)", {"write-write", "read-write"}),
        ("a.fill(i)", {"write-write"}),
        ("a.sort()", {"write-write"}),
        ("view = a[:2]; view += 1.0", {"write-write", "read-write"}),
        ("a[[0, 1]] = i", {"write-write"}),
        ("a[i] = a[[0, 1]].max()", {"read-write"}),
        ("a[i] = a[a > 3.0][0]", {"read-write"}),
        ("a[i] = np.dot(a, b)", {"read-write"}),
        ("a[i] = sum(a)", {"read-write"}),
        ("a[i] = a.mean()", {"read-write"}),
        ("a[i] = np.array(a)[0]", {"read-write"}),
        ("a[i] = max(v for v in a)", {"read-write"}),
        ("a[i] = float(1.0 in a)", {"read-write"}),
        ("a[i] = (a @ b) + (-a)[0]", {"read-write"}),
        ("a.reshape(2, 4)[:, 1:3].T[0] = i", {"write-write"}),
        ("a[i] = len(a) + a.size + a.shape[0] + np.zeros_like(a)[0]", set()),
        ("a[i : i + 1] = b[i]", set()),
        ("a[-1 - i] = b.sum()", set()),
    ],
)
def test_whole_arrays_are_followed(statement, kinds):
    """Slices, masks, methods and functions of NumPy read and write the elements that they concern, and no others."""
    text = f"def kernel(a, b):\n    for i in prange(8):\n        {statement}\n"
    assert races(compiled(text), np.arange(8.0), x8).kinds == kinds


def test_the_second_run_has_another_order():
    """The first run takes the iterations as they come, the second shuffles them; a seed gives one order."""
    seen = []

    def note(i):
        seen.append(i)

    def kernel(n):
        for i in prange(n):
            note(i)

    orders = []
    for seed in (0, 0, 1):
        seen.clear()
        races(kernel, 20, seed=seed)
        assert seen[:20] == list(range(20)) and sorted(seen[20:]) == list(range(20))
        orders.append(seen[20:])
    assert orders[0] == orders[1] != orders[2] and orders[0] != list(range(20))


def test_memory_remembers_two_readers():
    """A write collides with another agent's read even if its own agent was the first to read."""
    found = []
    memory = Memory(lambda address, kind, access, other_kind, other: found.append((access[0], other[0])))
    for agent, kind in ((0, READ), (1, READ), (0, WRITE)):
        memory.access(64, kind, (agent, None, None))
    assert found == [(0, 1)]


def test_the_arguments_stay_as_they_are():
    """The caller's arrays are not changed; the report has the arguments after a run in order."""
    out = np.zeros(8)
    report = races(neighbour, out, x8)
    assert not out.any()
    assert report.args[0].tolist() == np.cumsum(x8).tolist()
    assert type(report.args[0]) is np.ndarray


def test_the_result_of_reductions_is_kept():
    """What the first run returns is in the report, as plain values."""
    total, product, largest, rows, positive = races(reductions, x8, np.ones((8, 2))).result
    assert (total, largest, positive) == (28.0, 7.0, 22.0)
    assert product == math.factorial(8)
    assert rows.tolist() == [8.0, 8.0] and type(rows) is np.ndarray


def test_traffic_counts_accesses_in_parallel_loops():
    """A matmul with an accumulator writes each element of the output once, and reads it never."""
    report = races(matmul, *layout(np.zeros((2, 3, 5))), *layout(_a), *layout(_b))
    assert (report.traffic["out"].reads, report.traffic["out"].writes) == (0, 30)
    assert report.traffic["a"].reads == 30 * 4
    assert len(report.traffic["out"].writers) > 1
    assert report.traffic["a"].writers == set()


def test_only_the_outermost_loop_is_parallel():
    """A prange inside another one is an ordinary loop, in a helper too."""
    report = races(matmul, *layout(np.zeros((2, 3, 5))), *layout(_a), *layout(_b))
    assert [(loop.iterations, loop.function) for loop in report.loops] == [(2, "matmul")]

    def outer(out, x):
        for _ in prange(1):
            fill(out, x)

    report = races(outer, np.zeros(8), x8)
    assert not report
    assert [(loop.iterations, loop.function) for loop in report.loops] == [(1, "outer")]


def test_a_kernel_without_prange_is_said_to_be_sequential():
    """A kernel without a prange loop has no finding; the report says that nothing is parallel."""

    def plain(out, x):
        for i in range(len(x)):
            out[0] += x[i]

    report = races(plain, np.zeros(1), x8)
    assert not report and report.loops == ()
    assert "nothing is parallel" in str(report)


def test_one_iteration_races_with_nobody():
    """A loop with a single iteration, or none, cannot have a race."""
    assert not races(add_to_element, np.zeros(2), np.ones(1))
    assert not races(add_to_element, np.zeros(2), np.ones(0))


def test_an_index_outside_an_array_is_a_finding():
    """An index beyond the end is found in shared and in private arrays; a negative one inside is as in Numba."""

    def beyond(out, x):
        for i in prange(len(x)):
            out[i] = x[i + 1]

    def beyond_private(out, x):
        for i in prange(len(x)):
            buffer = np.zeros(2)
            buffer[i] = x[i]
            out[i] = buffer[0]

    def from_the_end(out, x):
        for i in prange(len(x)):
            out[i] = x[i - 1]

    (race,) = races(beyond, np.zeros(8), x8).races
    assert race.kind == "out of bounds" and "x[8]" in race.message and race.source == "out[i] = x[i + 1]"
    assert {race.kind for race in races(beyond_private, np.zeros(8), x8).races} == {"out of bounds"}
    assert not races(from_the_end, np.zeros(8), x8)


def test_a_loop_without_end_is_stopped():
    """A kernel that does not end is stopped after its steps, with the line where it was."""

    def forever(x):
        for i in prange(len(x)):
            while x[i] < 100.0:
                pass

    def huge(x):
        for i in prange(10**12):
            x[0] = i

    def silent(x):
        for i in prange(len(x)):
            for _ in range(i, 10**12):
                pass

    assert races(silent, x8, steps=5_000).kinds == {"endless"}
    (race,) = races(forever, x8, steps=5_000).races
    assert (race.kind == "endless" and "5,000 steps" in race.message and "while" in race.source) or race.line
    assert races(huge, x8, steps=5_000).kinds == {"endless"}


def test_the_error_of_a_kernel_passes_through():
    """An error in the student's code arrives as it is, at the student's own line."""

    def broken(x):
        for i in prange(len(x)):
            x[i] = undefined_name  # noqa: F821

    with pytest.raises(NameError, match="undefined_name") as caught:
        races(broken, x8)
    frames = [entry for entry in caught.traceback if str(entry.path) == __file__]
    assert str(frames[-1].statement).strip().startswith("x[i] = undefined_name")


def test_an_error_that_comes_of_a_race_does_not_hide_it():
    """A kernel that fails only when its iterations change places has a race, which is reported; one in order raises."""

    def chained(out, x):
        for i in prange(len(x)):
            if i == 0:
                value = 1.0
            value = value * x[i]
            out[i] = value

    def checked(out, x):
        for i in prange(1, len(x)):
            assert out[i - 1] == i - 1
            out[i] = i

    assert races(chained, np.zeros(8), x8).kinds == {"carried"}
    assert races(checked, np.zeros(8), x8).kinds == {"read-write"}

    def unbound(out):
        for i in prange(len(out)):
            out[i] = value  # noqa: F821
            value = 1.0  # noqa: F841

    with pytest.raises(UnboundLocalError, match="'value' is read before it has a value"):
        races(unbound, np.zeros(8))


def test_an_array_that_a_helper_hands_on_is_the_same_array():
    """Arrays that pass through asarray, reshape, slices, functions of NumPy and helpers stay what they are."""

    def view_of(x):
        return np.asarray(np.reshape(x, (2, 4)).T)[1:]

    def through(x):
        seen = view_of(x)
        for i in prange(4):
            seen[0, 0] = i

    (race,) = races(through, np.arange(8.0)).races
    assert (race.array, race.index) == ("x", (1,))


def test_lambdas_of_one_line_are_told_apart():
    """Of several lambdas on one line, each is known by its place."""
    fill, keep = (lambda out, k: out.fill(k)), (lambda out, k: out[k])

    def filling(out):
        for i in prange(len(out)):
            fill(out, i)

    def keeping(out):
        for i in prange(len(out)):
            keep(out, i)

    assert races(filling, np.zeros(3)).kinds == {"write-write"}
    assert not races(keeping, np.zeros(3))
    assert tree_of(fill).body.col_offset < tree_of(keep).body.col_offset


def test_without_source_text_one_sentence_says_so():
    """A kernel made by exec has no source text, which one sentence says; what is no function is refused."""
    namespace = {"prange": prange}
    exec("def kernel(x):\n    for i in prange(len(x)):\n        x[0] = i", namespace)
    with pytest.raises(ValueError, match="source text is not known"):
        races(namespace["kernel"], x8)
    with pytest.raises(TypeError, match="races takes a kernel"):
        races(3, x8)


def test_arithmetic_does_not_warn_or_raise_as_python_does():
    """Overflow and domain errors of math give infinity and nan, as in compiled code, and nothing warns."""

    def overflow(out, x):
        for i in prange(len(x)):
            out[i] = math.exp(x[i] * 1e6) + np.exp(x[i] * 1e6) + math.log(-x[i])

    def mean_of_nothing(out, x):
        for i in prange(len(x)):
            out[i] = np.mean(x[:0]) + x[i] / out[i]

    assert not races(overflow, np.zeros(8), x8)
    assert not races(mean_of_nothing, np.zeros(8), x8)


def test_hoisted_scratch_that_is_only_read_is_no_race():
    """Reading one element in all iterations is no race."""

    def table(out, x):
        factors = np.array([1.0, 2.0, 3.0])
        for i in prange(len(x)):
            out[i] = x[i] * factors[i % 3] * factors.sum() * len(factors) * x.T[0]

    assert not races(table, np.zeros(8), x8)


@pytest.mark.parametrize(
    ("body", "reduced"),
    [
        ("v += x[i]", True),
        ("v -= x[i]", True),
        ("v /= x[i]", True),
        ("v = v * x[i]", True),
        ("v = max(x[i], v)", True),
        ("for j in range(3):\n        v += x[j]", True),
        ("if x[i] > 1:\n        v += x[i]\n    else:\n        v += 1", True),
        ("if x[i] > 1:\n        v += x[i]\n    else:\n        v -= 1", False),
        ("v //= x[i]", False),
        ("v = x[i] + v", False),
        ("v = x[i] - v", False),
        ("v += x[i]\n    v += 1", False),
        ("v = v + x[i] + 1", False),
        ("v += v * x[i]", False),
        ("v = max(v, x[i], 3)", False),
        ("v += x[i]\n    y[i] = v", False),
    ],
)
def test_reductions_are_those_that_numba_accepts(body, reduced):
    """The forms that Numba 0.68 reduces are known as reductions, and those that it refuses are not."""
    (loop,) = ast.parse(f"for i in prange(n):\n    {body}").body
    assert ("v" in plan(loop).reduced) is reduced

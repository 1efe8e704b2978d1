"""Marks for kernels that are watched: plain code reads nothing unseen, and one mistake costs its own points."""

import difflib
import itertools
from textwrap import dedent

import numpy as np
import pytest
from places import ROOT

from autograder.course.answers import variants, wrong_answers
from autograder.judging import plain_code
from minigrad.debug.arrays import Recorded
from minigrad.debug.memory import Root

COURSE = ROOT / "course"
SUM, POOL, TILES = "cuda_ops._sum_practice", "cuda_ops._pool_practice", "cuda_ops._tensor_matrix_multiply"
SCAN = "cuda_ops._scan_practice"


class Noted:
    """A watcher that remembers which elements were touched."""

    def __init__(self):
        self.touched = set()

    def touch(self, root, address, kind):
        self.touched.add((address - root.address) // 8)

    def touch_many(self, root, found, kind):
        for address in np.ravel(found).tolist():
            self.touch(root, address, kind)

    def outside(self, *given):
        return True

    def adopt(self, value, name=""):
        return value


USES = {
    "itself": lambda a, thing: thing,
    "with the array": lambda a, thing: thing(a),
    "with it twice": lambda a, thing: thing(a, a),
    "with a number and it": lambda a, thing: thing(1, a),
    "with it and a number": lambda a, thing: thing(a, 1),
    "with a shape": lambda a, thing: thing(a, (4, 1)),
    "with it in a list": lambda a, thing: thing([a]),
    "with three": lambda a, thing: thing(a > 2, a, a),
    "with a pattern": lambda a, thing: thing("i->", a),
    "as a method": lambda a, thing: thing(),
    "as a method with a number": lambda a, thing: thing(1),
    "as a method with a type": lambda a, thing: thing(np.int64),
    "as a function of each": lambda a, thing: thing(float, a),
}


def told(value):
    """The text of what a use gives: iterators and arrays are looked into."""
    if isinstance(value, Recorded):
        return f"array of {value._raw.shape}"  # its elements count when they are read
    if isinstance(value, np.ndarray | list | tuple):
        return str([told(each) for each in value]) if value is not None and np.ndim(value) else str(value)
    if hasattr(value, "__next__"):
        return str([told(each) for _, each in zip(range(9), value, strict=False)])
    text = str(value)
    return "" if " at 0x" in text else text


def seen_by(thing_of, use, change):
    """What a use of an array tells, and which elements counted as touched; None where it cannot be used so."""
    raw = np.array([1.0, 2.0, 3.0, 4.0])
    if change is not None:
        raw[change] += 0.25
    noted = Noted()
    array = Recorded(raw, Root(raw, "a"), noted)
    try:
        found = use(array, thing_of(array))
        text = told(found)
    except Exception:
        return None
    parts = found if isinstance(found, tuple | list) else [found]
    leaks = any(isinstance(each, np.ndarray) and np.may_share_memory(each, raw) for each in parts)
    return text, noted.touched, leaks


def things():
    """Everything that plain code may name, with a way to get at it for an array."""
    owners = {"of arrays": lambda a: a, "of NumPy": lambda a: np}
    for name in sorted(plain_code._ATTRIBUTES - {"empty", "empty_like"}):  # fresh memory, which a witness fills
        for where, owner in owners.items():
            yield f".{name} {where}", lambda a, owner=owner, name=name: getattr(owner(a), name)
    modules = [__import__(name) for name in ("math", "operator", "functools", "itertools")]
    for module, name in itertools.product(modules, sorted(plain_code._ATTRIBUTES)):
        if hasattr(module, name):
            yield f"{module.__name__}.{name}", lambda a, module=module, name=name: getattr(module, name)
    builtins = vars(__import__("builtins"))
    for name in sorted(plain_code.BUILTINS - {"print"}):
        yield name, lambda a, name=name: builtins[name]


def test_nothing_that_plain_code_may_name_reads_an_array_unseen():
    """Every attribute, function and builtin: if what it gives depends on an element, that element counts as touched."""
    used = 0
    for (name, thing), (how, use) in itertools.product(things(), USES.items()):
        before = seen_by(thing, use, None)
        if before is None:
            continue
        used += 1
        assert not before[2], f"{name}, {how}, hands out memory"
        for k in range(4):
            after = seen_by(thing, use, k)
            if after is not None and after[0] != before[0]:
                assert k in after[1] and k in before[1], f"{name}, {how}, reads element {k} unseen"
    assert used > 500


def groups(graded):
    return {group.name: group.earned for group in graded.groups}


def causes(graded):
    return {verdict.misconception for verdict in graded.verdicts if verdict.confirmed}


@pytest.mark.full("a kernel is compiled, or run in the simulator of a GPU, for each", share=24)
@pytest.mark.parametrize(
    ("exercise", "misconception", "lost"),
    [
        (SUM, "syncthreads-in-branch", {"waiting"}),
        (SUM, "syncthreads-under-the-guard", {"waiting"}),
        (SUM, "all-threads-write", {"memory"}),
        (SUM, "every-block-the-first", {"values"}),
        (SUM, "places-left-unwritten", {"values"}),
        (POOL, "syncthreads-under-the-guard", {"waiting"}),
        (POOL, "neighbours-of-another-block-forgotten", {"values"}),
        (POOL, "no-guard", {"values"}),
        (SCAN, "syncthreads-in-branch", {"waiting"}),
        (SCAN, "total-overwritten-too-early", {"waiting"}),
        ("cuda_ops.tensor_reduce", "syncthreads-in-branch", {"waiting"}),
        ("cuda_ops.tensor_reduce", "starts-at-zero", {"values"}),
        ("tensor_ops.tensor_reduce", "start-value-ignored", {"values"}),
        ("tensor_ops.tensor_reduce", "start-taken-for-zero", {"values"}),
        ("fast_ops.tensor_reduce", "start-value-ignored", {"values"}),
    ],
)
def test_one_mistake_costs_its_own_points(grade, exercise, misconception, lost):
    """A mistake loses the groups that are about it, and is named."""
    graded = grade(exercise, wrong_answers(COURSE, exercise)[misconception])
    assert {name for name, earned in groups(graded).items() if not earned} == lost
    assert causes(graded) == {misconception}


NO_SHARED_MEMORY = """
def _tensor_matrix_multiply(
    out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
):
    i = cuda.blockIdx.x * BLOCK_DIM + cuda.threadIdx.x
    j = cuda.blockIdx.y * BLOCK_DIM + cuda.threadIdx.y
    z = cuda.blockIdx.z
    if i < out_shape[1] and j < out_shape[2]:
        at = z * out_strides[0] + i * out_strides[1] + j * out_strides[2]
        for k in range(a_shape[2]):
            p = z * a_strides[0] + i * a_strides[1] + k * a_strides[2]
            out[at] += a_storage[p] * b_storage[z * b_strides[0] + k * b_strides[1] + j * b_strides[2]]
"""


FLOAT_INDEX = """
def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        for i in prange(len(out)):
            index = np.zeros(len(out_shape))
            to_index(i, out_shape, index)
            place = index_to_position(index, out_strides)
            result = out[place]
            for k in range(a_shape[reduce_dim]):
                index[reduce_dim] = k
                result = fn(result, a_storage[index_to_position(index, a_strides)])
            out[place] = result

    return _reduce
"""


def test_a_loop_that_breaks_is_not_called_idle(grade):
    """An index that is a float ends each iteration before it writes: the error is told with its line, nothing else."""
    graded = grade("fast_ops.tensor_reduce", FLOAT_INDEX)
    assert set(groups(graded).values()) == {0}
    assert causes(graded) == set()
    assert graded.failures[0].reason.startswith("IndexError: only integers")
    assert "result = out[place]" in graded.failures[0].reason


@pytest.mark.full("a kernel is compiled, or run in the simulator of a GPU, for each", share=24)
def test_no_barrier_is_missing_where_nothing_is_shared(grade):
    """A product that adds to what out held, without shared memory, is not told that a syncthreads is missing."""
    graded = grade(TILES, NO_SHARED_MEMORY)
    assert not any("sync" in cause or "tile" in cause for cause in causes(graded))
    named = {verdict.misconception for verdict in graded.failures if verdict.group == "waiting"}
    assert named == {""}


@pytest.mark.full("a kernel is compiled, or run in the simulator of a GPU, for each", share=24)
@pytest.mark.parametrize("variant", ["minitorch_manner", "tile_size", "axes_from_the_end"])
def test_a_missing_second_barrier_costs_waiting_alone(grade, variant):
    """Sums that come of it cost nothing else, whatever the size of a block is, and no hint speaks of zeros."""
    lines = variants(COURSE, TILES)[variant].splitlines()
    last = max(number for number, line in enumerate(lines) if "syncthreads" in line)
    graded = grade(TILES, "\n".join(lines[:last] + lines[last + 1 :]))
    assert {name for name, earned in groups(graded).items() if not earned} == {"waiting"}
    assert causes(graded) == {"tile-overwritten-too-early"}
    values = [verdict for verdict in graded.failures if verdict.group == "values"]
    assert {verdict.counted_in for verdict in values} == {"waiting"} and not any(each.hint for each in values)
    assert all("overwritten while other threads still read" in verdict.reason for verdict in values)


def test_no_barrier_is_missing_where_both_are_there(grade):
    """A product with both barriers in place, and wrong values, keeps the points for waiting."""
    text = BASES[TILES].replace("total = 0.0", "total = 1.0")
    graded = grade(TILES, text)
    assert groups(graded)["waiting"] > 0 and groups(graded)["values"] == 0
    assert causes(graded) == set()


def wrong(exercise, name):
    return wrong_answers(COURSE, exercise)[name].split("\n", 1)[1].strip()


BASES = {
    SUM: wrong(SUM, "steps-not-separated").replace(
        "        step = step", "        cuda.syncthreads()\n        step = step"
    ),
    POOL: wrong(POOL, "missing-syncthreads").replace(
        "    if i < size:\n        total", "    cuda.syncthreads()\n    if i < size:\n        total"
    ),
    TILES: wrong(TILES, "tile-overwritten-too-early").replace(
        "    if i < out_shape[1] and", "        cuda.syncthreads()\n    if i < out_shape[1] and"
    ),
}


def both(base, first, second):
    """A text with the changes of two others, or None where these concern the same lines."""
    lines, changes = base.split("\n"), []
    for text in (first, second):
        codes = difflib.SequenceMatcher(None, lines, other := text.split("\n"), autojunk=False).get_opcodes()
        changes += [(i, j, other[a:b]) for kind, i, j, a, b in codes if kind != "equal"]
    changes.sort()
    if any(one[1] > other[0] or one[0] == other[0] for one, other in itertools.pairwise(changes)):
        return None
    for i, j, new in reversed(changes):
        lines[i:j] = new
    return "\n".join(lines)


def pairs():
    for exercise, base in BASES.items():
        names = wrong_answers(COURSE, exercise)
        few = [
            name for name in names if len(list(difflib.ndiff(base.split("\n"), wrong(exercise, name).split("\n")))) < 60
        ]
        for first, second in itertools.combinations(few, 2):
            text = both(base, wrong(exercise, first), wrong(exercise, second))
            if text is not None:
                yield pytest.param(exercise, first, second, text, id=f"{exercise}-{first}-{second}")


@pytest.mark.full("every kernel is judged", share=12)
def test_bases_are_right(grade):
    """The answers to which mistakes are added earn all points."""
    for exercise, text in BASES.items():
        graded = grade(exercise, text)
        assert graded.full, (exercise, [verdict.reason for verdict in graded.failures])


@pytest.mark.full("mistakes in pairs, of which a few are graded every time", share=256)
@pytest.mark.parametrize(("exercise", "first", "second", "text"), list(pairs()))
def test_causes_of_two_mistakes_at_once(grade, exercise, first, second, text):
    """With two mistakes in one kernel no third one is named, and those about waiting only where waiting went wrong."""
    graded = grade(exercise, dedent(text))
    assert not graded.full
    assert causes(graded) <= {first, second}

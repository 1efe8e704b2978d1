"""500 random programs: interpreter, each pass, passes in any order, generated loops and gradients keep their values."""

import random
import warnings
from collections import Counter

import loops_in_python
import numpy as np
import pytest
from random_programs import OPS
from random_programs import Program as RandomProgram
from registry_samples import functions_of_tensors

import minigrad as mg
from minigrad.backends import guarded
from minigrad.graph import (
    expand,
    fold_last,
    fuse,
    join_placed,
    optimize,
    permute_parts,
    push_broadcasts,
    shrink_constants,
    sum_repeated,
    trace,
)
from minigrad.graph.compiled import Program
from minigrad.graph.passes import PASSES
from minigrad.transforms import grad, jvp, tree_leaves

SEEDS, CHUNK, STEPS, OUTPUTS = 500, 25, 30, 8
DTYPES = {"float64": mg.float64, "float32": mg.float32}
ROUNDING = (expand, shrink_constants, push_broadcasts, sum_repeated, join_placed, permute_parts, fold_last, fuse)
"""The passes that change results within rounding; all others keep every bit."""

chunks = pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
dtypes = pytest.mark.parametrize("dtype", DTYPES)
worst: Counter[str] = Counter()
"""The largest error of each comparison, as a share of the largest element or of 1."""


def arrays_of(results):
    return [np.asarray(y.detach().numpy() if isinstance(y, mg.Tensor) else y) for y in results]


def same_bits(found, wanted):
    for x, y in zip(found, wanted, strict=True):
        assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())


def close(what, found, wanted, tolerance):
    for x, y in zip(arrays_of(found), wanted, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x * 1.0, y * 1.0, rtol=tolerance, atol=tolerance)
        if y.dtype.kind == "f" and y.size:
            with np.errstate(all="ignore"):
                error = np.nanmax(np.abs(x - y), initial=0.0) / max(np.nanmax(np.abs(y), initial=0.0), 1.0)
            worst[what] = max(worst[what], float(error))


def check_values(seed, dtype):
    """Compare a program with its graph: interpreted, after each pass, after passes in two orders, and as loops."""
    program, rng = RandomProgram(seed, dtype=DTYPES[dtype], steps=STEPS, outputs=OUTPUTS), random.Random(seed)
    kind, tolerance = ("float32", 1e-4) if program.has_single else ("float64", 1e-9)
    given = [x.numpy() for x in program.inputs]
    with guarded.ieee():
        wanted = arrays_of(program(*program.inputs))
        graph = trace(lambda *inputs: program(*inputs), *program.inputs)
        same_bits(graph.run(*given), wanted)
        for each in (*PASSES, join_placed, permute_parts):
            same_bits(each(graph).run(*given), wanted)
        for each in ROUNDING:
            close(f"pass {kind}", each(graph).run(*given), wanted, tolerance)
        exact, every = graph, graph
        for each in rng.sample([*PASSES, *PASSES], 2 * len(PASSES)):
            exact = each(exact)
        same_bits(exact.run(*given), wanted)
        for each in rng.sample([*PASSES, *ROUNDING], len(PASSES) + len(ROUNDING)):
            every = each(every)
        close(f"passes {kind}", every.run(*given), wanted, tolerance)
        found = loops_in_python.run(Program(optimize(graph)), *given)
    close(f"loops {kind}", found, wanted, tolerance)


def derivatives_of(program):
    """Return functions for the gradient of a sum of a program's results, in all floats, and for its change."""
    places = tuple(n for n, x in enumerate(program.inputs) if x.dtype.kind == "f")

    def loss(*inputs):
        parts = [(y.double().tanh() ** 2).sum() for y in program(*inputs) if y.dtype.kind == "f"]
        return sum(parts, sum((inputs[n].double() ** 2).sum() for n in places))

    def change(*inputs):
        def moved(*floats):
            every = list(inputs)
            for place, x in zip(places, floats, strict=True):
                every[place] = x
            return loss(*every)

        floats = tuple(inputs[place] for place in places)
        return jvp(moved, floats, floats)

    return [grad(loss, places), change] if places else []


def check_gradients(seed, dtype):
    """Compare derivatives of a program with what the loops of their graph compute; return whether there are any."""
    program = RandomProgram(seed, dtype=DTYPES[dtype], steps=STEPS, outputs=OUTPUTS)
    kind, tolerance = ("float32", 1e-3) if program.has_single else ("float64", 1e-8)
    derivatives = derivatives_of(program)
    for derivative in derivatives:
        with guarded.ieee():
            wanted = arrays_of(tree_leaves(derivative(*program.inputs)))
            graph = optimize(trace(derivative, *program.inputs))
            found = loops_in_python.run(Program(graph), *[x.numpy() for x in program.inputs])
        close(f"gradients {kind}", found, wanted, tolerance)
    return bool(derivatives)


@pytest.mark.full("500 random programs of 30 operations each", share=160)
@pytest.mark.no_cover
@dtypes
@chunks
def test_values(first, dtype):
    """Interpreter and passes keep every bit, or all but rounding; the generated loops compute the same."""
    for seed in range(first, first + CHUNK):
        check_values(seed, dtype)


@pytest.mark.full("the gradients of 500 random programs", share=160)
@pytest.mark.no_cover
@dtypes
@chunks
def test_gradients(first, dtype):
    """The loops of a gradient's graph compute the gradient."""
    assert sum(check_gradients(seed, dtype) for seed in range(first, first + CHUNK)) > CHUNK // 2


@pytest.mark.full("random programs of 30 operations, and their gradients, are compiled", share=160)
@pytest.mark.parametrize("seed", range(20))
def test_compiled(seed):
    """`jit` compiles a long program and its gradient: the values are those of the function."""
    program = RandomProgram(seed, dtype=list(DTYPES.values())[seed % 2], steps=STEPS, outputs=OUTPUTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mg.jit(program)(*program.inputs)
    kind, tolerance = ("float32", 1e-4) if program.has_single else ("float64", 1e-9)
    close(f"compiled {kind}", found, arrays_of(program(*program.inputs)), tolerance)


@pytest.mark.parametrize(
    "dtype",
    [
        "float32",
        *(
            pytest.param(dtype, marks=pytest.mark.full("500 random programs are drawn once more", share=4))
            for dtype in DTYPES
            if dtype != "float32"
        ),
    ],
)
def test_every_operation_is_drawn_often(dtype):
    """Each operation stands in the programs at least 20 times, and each program has 30."""
    programs = [RandomProgram(seed, dtype=DTYPES[dtype], steps=STEPS, outputs=OUTPUTS) for seed in range(SEEDS)]
    assert {len(program.ops) for program in programs} == {STEPS}
    count = Counter(op for program in programs for op in program.ops)
    assert {op: count[op] for op in OPS if count[op] < 20} == {}


NOT_IN_GRAPHS = {"IndexPut", "ToDevice"}
"""Changes in place and moves to another device are refused in a trace."""


@pytest.mark.full("500 programs and their gradients are traced", share=40)
@pytest.mark.no_cover
def test_every_function_stands_in_many_graphs():
    """Each function of the library is an equation at least 20 times, of a program or of its derivatives."""
    count: Counter[str] = Counter()
    for seed in range(SEEDS):
        program = RandomProgram(seed, dtype=mg.float64, steps=STEPS, outputs=OUTPUTS)
        for fun in (lambda *inputs, program=program: program(*inputs), *derivatives_of(program)):
            count.update(each.op.__name__ for each in trace(fun, *program.inputs).equations)
    names = {function.__name__ for function in functions_of_tensors()} - NOT_IN_GRAPHS
    assert {name: count[name] for name in names if count[name] < 20} == {}

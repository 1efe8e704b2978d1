"""The compiler to be read, against NumPy, against every plan there is, and against `minigrad.graph`."""

import itertools

import numpy as np
import pytest

import minigrad
from minigrad import attention, draw, functional, graph, loops, program, symbols
from minigrad.tensors import Tensor

SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-40]
UNARY = (
    symbols.exp,
    symbols.tanh,
    lambda x: -x,
    lambda x: x * 1,
    lambda x: x - 0.0,
    lambda x: x + 0.0,
    lambda x: x / 1,
)
BINARY = (
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    symbols.maximum,
    lambda x, y: symbols.where(x < y, x, y),
)


def some_function(seed, steps=14):
    """Make a function of two arrays from a seed: elementwise steps, sums, views and products, some of them unused."""

    def f(x, y):
        random = np.random.default_rng(seed)
        known = [x, y, x * 0.5]
        for _ in range(steps):
            a, b = (known[i] for i in random.integers(0, len(known), 2))
            match random.integers(0, 7):
                case 0 | 1:
                    known.append(UNARY[random.integers(0, len(UNARY))](a))
                case 2 | 3 | 4:
                    known.append(BINARY[random.integers(0, len(BINARY))](a, b))
                case 5:
                    known.append(a.sum(axis=1, keepdims=True) * 0.25 + b)
                case _:
                    known.append(a.T @ b)
        return known[-1], known[-3], known[int(random.integers(0, len(known)))]

    return f


def same(seen, wanted, **tolerance):
    """Tell whether two lists of arrays agree in types and values, nan included."""
    assert len(seen) == len(wanted)
    for a, b in zip(seen, wanted, strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, **tolerance)


@pytest.mark.parametrize("seed", range(40))
def test_a_program_computes_what_the_function_computes(seed):
    """Recorded, simplified and compiled by Python, a function gives the same numbers, to the last bit."""
    f = some_function(seed)
    x, y = np.random.default_rng(seed).choice(SPECIAL, (2, 3, 3))
    with np.errstate(all="ignore"):
        wanted = f(x, y)
        traced = program.trace(f, x, y)
        small = program.simplify(traced)
        assert len(small.equations) <= len(traced.equations)
        for run in (traced.run, small.run, loops.compile_program(traced, loops.by_python)):
            for seen, right in zip(run(x, y), wanted, strict=True):
                seen, right = np.asarray(seen), np.asarray(right)
                both_nan = np.isnan(seen) & np.isnan(right)
                assert ((seen.view(np.int64) == right.view(np.int64)) | both_nan).all()


@pytest.mark.parametrize("seed", range(60))
def test_groups_can_run_in_their_order(seed):
    """Every group stands behind what it needs, holds one shape, and holds every equation once."""
    traced = program.trace(
        some_function(seed, 20), np.ones((3, 3), np.float32), np.ones((1, 3), np.float32).repeat(3, 0)
    )
    groups = loops.fuse(traced)
    done = set(traced.inputs) | {x for x, _ in traced.constants}
    for group in groups:
        assert set(group.reads()) <= done
        assert len({each.output.shape for each in group.equations}) == 1
        assert len(group.equations) == 1 or {each.kind for each in group.equations} == {"elementwise"}
        done |= {each.output for each in group.equations}
    assert sorted(map(id, traced.equations)) == sorted(id(each) for group in groups for each in group.equations)


def lowest_of_all(values):
    """Try every order in which boxes can be placed, each as low as it fits: one of them is a best plan."""
    lowest = None
    for order in itertools.permutations(values):
        placed = {}
        for x in order:
            taken = [(placed[y], placed[y] + values[y].size) for y in placed if values[y].meets(values[x])]
            tried = [0, *(end for _, end in taken)]
            placed[x] = min(p for p in tried if all(p + values[x].size <= a or b <= p for a, b in taken))
        height = loops.peak(values, placed)
        lowest = height if lowest is None else min(lowest, height)
    return lowest


@pytest.mark.parametrize("seed", range(25))
def test_a_plan_against_all_plans(seed):
    """A plan is never lower than the best one or the fullest step, at most half higher, and nothing overlaps."""
    random = np.random.default_rng(seed)
    first = random.integers(0, 5, 6)
    drawn = zip(random.integers(1, 6, 6), first, first + random.integers(0, 4, 6), strict=True)
    values = {i: loops.Lifetime(64 * int(n), int(a), int(b)) for i, (n, a, b) in enumerate(drawn)}
    places = loops.plan_memory(values)
    for x, y in itertools.combinations(values, 2):
        apart = places[x] + values[x].size <= places[y] or places[y] + values[y].size <= places[x]
        assert apart or not values[x].meets(values[y])
    fullest = max(sum(v.size for v in values.values() if v.first <= t <= v.last) for t in range(9))
    best = lowest_of_all(values)
    assert fullest <= best <= loops.peak(values, places) <= 1.5 * best


def gelu(x, tanh):
    """Return the smooth relu."""
    return 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def test_compiled_by_numba():
    """Loops of float32, float64 and bool, with broadcasting and views, compiled by Numba."""
    x = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)

    def f(x):
        e = symbols.exp(x.T - x.T.max(axis=0, keepdims=True))
        return e / e.sum(axis=0, keepdims=True), symbols.where(x < 0.1, x * 0.1, gelu(x, symbols.tanh)), x * np.pi

    traced = program.trace(f, x)
    same(loops.compile_program(traced)(x), traced.run(x), rtol=3e-6, atol=1e-7)


def test_results_of_the_graph_compiler():
    """`minigrad.graph` records the same operations for tensors, fuses them into as many loops, and gives the same."""
    x = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)

    def f(x):
        y = (x * 2.0).exp()
        return y / y.sum(1, keepdim=True)

    def g(x):
        y = symbols.exp(x * 2.0)
        return y / y.sum(axis=1, keepdims=True)

    large, small = graph.trace(f, Tensor(x)), program.trace(g, x)
    assert [each.op.__name__.lower() for each in large.equations] == [each.op for each in small.equations]
    np.testing.assert_allclose(minigrad.jit(f)(Tensor(x)).numpy(), loops.compile_program(small)(x)[0], rtol=1e-6)


def test_the_cache_of_jit():
    """Both caches record anew for another shape and another number, and only then."""
    quick, small = minigrad.jit(lambda x, n: x * n), program.jit(lambda x, n: x * n)
    for size, n in ((2, 3.0), (2, 3.0), (3, 3.0), (3, 4.0), (2, 3.0)):
        seen = quick(Tensor(np.ones(size, np.float32)), n).numpy()
        np.testing.assert_array_equal(seen, small(np.ones(size, np.float32), n))
    assert (small.hits, small.misses) == (2, 3)


WEIGHTS = np.random.default_rng(3).normal(size=(2, 3))
DIFFERENTIATED = {
    "neg": [lambda x: -x],
    "add": [lambda x, y: x + y],
    "sub": [lambda x, y: x - y],
    "mul": [lambda x, y: x * y],
    "div": [lambda x, y: x / y],
    "maximum": [symbols.maximum],
    "exp": [symbols.exp],
    "log": [lambda x: symbols.log(x * x)],
    "sqrt": [lambda x: symbols.sqrt(x * x)],
    "tanh": [symbols.tanh],
    "where": [lambda x, y: symbols.where(x < y, x * 2.0, y * y)],
    "broadcast_to": [lambda x: symbols.broadcast_to(x, (4, 2, 3)).sum(axis=0)],
    "sum": [lambda x: x.sum(axis=1, keepdims=True), lambda x: x.sum(axis=(0, -1)), lambda x: x.sum()],
    "max": [lambda x: x.max(axis=1, keepdims=True), lambda x: x.max(axis=-2), lambda x: x.max()],
    "permute": [lambda x: x.reshape(2, 3, 1).transpose(-1, 0, 1), lambda x: x.T.T],
    "reshape": [lambda x: x.reshape(3, 2).T.reshape(2, 3)],
    "matmul": [
        lambda x, y: x @ (x + y).T @ y,
        lambda x, y: x.reshape(6) @ y.reshape(6),
        lambda x, y: x @ y.sum(axis=0),
        lambda x, y: x.sum(axis=1) @ y,
        lambda x, y: symbols.broadcast_to(x, (4, 2, 3)) @ y.T,
        lambda x, y: x @ symbols.broadcast_to(y.T, (4, 3, 2)),
        lambda x, y: x.sum(axis=0) @ symbols.broadcast_to(y.T, (4, 3, 2)),
        lambda x, y: symbols.broadcast_to(x, (4, 2, 3)) @ y.sum(axis=0),
        lambda x, y: x.reshape(2, 3, 1) @ y.reshape(2, 1, 3),
    ],
}
"""Functions of tables of two rows and three columns, for each operation that has a rule."""


def test_every_operation_with_a_rule_is_differentiated_here():
    """Each operation has a rule for each operand, and an example in these tests if a rule is not None."""
    assert {name for name, op in symbols.OPS.items() if any(op.rules)} == {*DIFFERENTIATED}
    assert all(op.rules for op in symbols.OPS.values())


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (2, 1), (3,), ()])
@pytest.mark.parametrize("f", [f for functions in DIFFERENTIATED.values() for f in functions])
def test_backward_agrees_with_differences(f, shape):
    """The gradient program has the slopes that differences measure, in the inputs' shapes; compiled as well."""
    count = f.__code__.co_argcount
    random = np.random.default_rng(4)
    args = random.normal(size=(2, 3)), random.normal(size=shape)
    args = args[:count] if count == 2 else (args[1],)

    def loss(*args):
        y = f(*(symbols.broadcast_to(x, (2, 3)) for x in args))
        return (symbols.tanh(y) * (y * WEIGHTS[0, 0] + 1.0)).sum()

    traced = program.trace(loss, *args)
    whole = program.backward(traced, range(len(args)))
    assert [*whole.equations[: len(traced.equations)]] == traced.equations
    found = whole.run(*args)[1:]
    same(loops.compile_program(whole, loops.by_python)(*args)[1:], found, rtol=1e-12)
    for place, x in enumerate(args):
        assert found[place].shape == x.shape
        for at in np.ndindex(x.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [each.copy() for each in args]
                moved[place][at] += step
                ends.append(traced.run(*moved)[0])
            np.testing.assert_allclose(found[place][at], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-7)


def test_backward_agrees_with_the_lessons_grad():
    """A network's gradients are those of `functional.grad`, to the last digits, and their types are float32."""
    random = np.random.default_rng(5)
    args = [random.normal(size=size).astype(np.float32) for size in ((4, 5), (5,), (5, 1), (6, 4), (6, 1))]

    def loss(w, b, v, x, y):
        error = symbols.tanh(x @ w + b) @ v - y
        return (error * error).sum()

    def of_tensors(w, b, v, x, y):
        error = (x @ w + b).tanh() @ v - y
        return (error * error).sum()

    whole = program.backward(program.trace(loss, *args), [1, 0, 2])
    found = whole.run(*args)[1:]
    wanted = [functional.grad(of_tensors, place)(*map(Tensor, args)).numpy() for place in (1, 0, 2)]
    same(found, wanted, rtol=2e-5, atol=1e-5)


def test_equal_elements_share_a_gradient():
    """Where two are the largest each gets half, of `max` and of `maximum`."""
    x = np.array([2.0, 1.0, 2.0], np.float32)
    for f in (lambda x: x.max(), lambda x: symbols.maximum(x, 2.0).sum()):
        (found,) = program.backward(program.trace(f, x), [0]).run(x)[1:]
        assert (found.tolist(), found.dtype) == ([0.5, 0.0, 0.5], np.float32)


def test_backward_of_backward():
    """The second derivative of x^4 is 12 x^2, as a program of a program's equations."""
    cube = program.backward(program.trace(lambda x: x * x * x * x, np.zeros(())), [0])
    slope = symbols.Program(cube.inputs, cube.constants, cube.equations, cube.outputs[1:])
    assert [y.tolist() for y in program.backward(slope, [0]).run(np.array(3.0))] == [108.0, 108.0]


def test_a_program_inside_a_function():
    """A program that gets symbols is written down as a part of what is being recorded, with its constants."""
    scale = np.array([2.0, 3.0])
    inner = program.trace(lambda x: (symbols.exp(x) * scale, x.sum()), np.zeros(2))

    def outer(x):
        y, total = inner.run(x + 1.0)
        return y / total

    traced = program.trace(outer, np.zeros(2))
    assert [each.op for each in traced.equations] == ["add", "exp", "mul", "sum", "div"]
    x = np.array([0.5, -1.0])
    np.testing.assert_allclose(traced.run(x)[0], np.exp(x + 1.0) * scale / (x + 1.0).sum())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("block", [1, 3, 16, 50])
def test_attention_in_blocks(block, causal):
    """Blocks of any size give what the softmax of the library gives."""
    q, k, v = np.random.default_rng(2).normal(size=(3, 20, 4))
    scores = attention.scores_of(q, k, 0, causal)
    wanted = minigrad.nn.functional.softmax(Tensor(scores), 1).numpy() @ v
    np.testing.assert_allclose(attention.attend(q, k, v, block, causal), wanted, rtol=1e-10)


def test_random_numbers():
    """A compiled program draws as the program draws, from the same seed."""
    x = np.zeros(4)
    traced = program.trace(lambda x: symbols.rand_like(x) - symbols.rand_like(x), x)
    found = []
    for run in (traced.run, loops.compile_program(traced, loops.by_python)):
        symbols.manual_seed(3)
        found.append(run(x)[0].tolist())
    assert found[0] == found[1]
    assert 0.0 not in found[0]


def test_pictures_say_what_is_wrong():
    """Pictures of nothing are refused."""
    with pytest.raises(ValueError, match="0 values cannot be drawn"):
        draw.memory_plan({}, {})
    with pytest.raises(ValueError, match="nothing to draw"):
        draw.timeline({"eager": []})

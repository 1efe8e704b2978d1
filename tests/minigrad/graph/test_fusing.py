"""Fusing: what becomes one equation, what must not, and what the passes before it do."""

import math
import random
import re

import numpy as np
import pytest
from random_programs import OPS, Program

import minigrad as mg
from minigrad.backends import guarded
from minigrad.backends.numba import compiler
from minigrad.graph import (
    bind,
    expand,
    fold_last,
    fuse,
    fusing,
    join_placed,
    optimize,
    permute_parts,
    plan_memory,
    prepare,
    push_broadcasts,
    remove_dead,
    shrink_constants,
    sum_repeated,
    trace,
)
from minigrad.graph.passes import PASSES
from minigrad.tensor_functions import Cat, IndexAdd, Permute
from minigrad.transforms import grad, tree_map

X = mg.tensor(np.arange(12.0).reshape(4, 3) / 10.0 - 0.5)


def ops(graph):
    return [each.op.__name__ for each in graph.equations]


def inside(equation):
    return ops(equation.options["body"])


def same_bits(found, wanted):
    for x, y in zip(found, wanted, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert x.tobytes() == y.tobytes()


def test_a_chain_is_one_equation():
    """Elementwise operations, broadcasts and numbers among them, become one equation with what leaves it."""
    apart = trace(lambda x, y, b: ((x * 2.0 + b).exp(), y.tanh() * b), X, X, mg.ones(3))
    assert ops(fuse(apart)) == ["Fused", "Fused"]
    assert ops(fuse(trace(lambda x: (x.exp(), x.tanh()), X))) == ["Fused"]  # which read the same
    graph = fuse(trace(lambda x, b: (y := (x * 2.0 + b).exp(), y.tanh()), X, mg.ones(3)))
    (equation,) = graph.equations
    assert inside(equation) == ["Mul", "Add", "Exp", "Tanh"] and len(equation.outputs) == 2


def test_folds_begin_and_end_groups():
    """A softmax and a layer norm, with everything behind their sums, are one equation each."""
    for f in (
        lambda x: x.softmax(1) * 2.0,
        lambda x: mg.nn.functional.layer_norm(x, (3,)).relu(),
        lambda x: ((x - 1.0).square().mean() + 1.0).sqrt(),
    ):
        assert ops(prepare(trace(f, X))) == ["Fused"]


def test_over_another_axis_is_another_loop():
    """Two sums over different axes share no loop, nor does a column with what it is broadcast to."""
    assert ops(fuse(trace(lambda x: x.exp().sum(1).sum(0), X))) == ["Fused", "Fused"]
    graph = fuse(trace(lambda c, r: c.exp() * r, mg.zeros(4, 1), mg.zeros(1, 3)))
    assert [inside(e) for e in graph.equations] == [["Exp"], ["Mul"]]  # or a row's exp would be computed three times


def test_no_outsider_in_between():
    """A group does not need its own result by way of an equation outside."""
    graph = fuse(optimize(trace(lambda x: (y := x.exp()) + (y @ y.T) @ y, X)))
    assert ops(graph) == ["Fused", "MatMul", "MatMul", "Fused"] or "Permute" in ops(graph)
    known = set(graph.inputs)
    for each in graph.equations:
        assert set(each.uses()) <= known
        known.update(each.outputs)


def test_no_outsider_that_another_group_hides():
    """The way back may lead through a group that begins before the one it comes back to, and ends behind it."""

    def f(x, y):
        doubled = x * 2.0
        power = y.exp()
        shifted = x * 3.0 + power.sum()
        return shifted, power * (doubled @ doubled)[0, :3]

    x, y = mg.ones(4, 4), mg.ones(3)
    graph = fuse(trace(f, x, y))
    assert sorted(ops(graph)) == ["Fused", "Fused", "Fused", "MatMul"]
    same_bits(graph.run(x.numpy(), y.numpy()), [each.numpy() for each in f(x, y)])


@pytest.mark.parametrize("seed", range(12))
def test_groups_stand_in_an_order_in_which_they_can_run(seed):
    """After all joins a value goes from one group to a later one, or stays in its own."""
    program = Program(seed, steps=40, outputs=4)
    groups = fusing._Groups(optimize(trace(lambda *inputs: program(*inputs), *program.inputs)))
    groups.join_all()
    for i, sources in enumerate(groups.sources):
        for source in sources:
            one, other = groups.group[source], groups.group[i]
            assert one == other or groups.position[one] < groups.position[other]
    assert all(groups.order[groups.position[group]] == group for group in groups.group)


def test_a_long_chain_takes_no_more_time_for_each_equation():
    """To join two groups, only those between them are looked at: four times as many equations, four times the work."""

    def looked_at(length):
        def chain(x):
            for _ in range(length):
                x = (x * 1.5).sin()
            return x

        groups, seen = fusing._Groups(trace(chain, mg.ones(3))), []
        users, groups.users = groups.users, Counted(seen)
        groups.users.extend(users)
        groups.join_all()
        return len(seen)

    assert looked_at(800) < 6 * looked_at(200)


class Counted(list):
    """A list that notes what is read from it."""

    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def __getitem__(self, place):
        self.seen.append(place)
        return super().__getitem__(place)


def test_what_is_dear_is_computed_once():
    """A product, a fold or an exp that two others need is in one group, and leaves it where both are not in it."""
    graph = fuse(optimize(trace(lambda x: (y := x.exp(), y.sum(0), (y * 2.0) @ y.T), X)))
    names = [name for e in graph.equations for name in (inside(e) if "body" in e.options else [e.op.__name__])]
    assert names.count("Exp") == names.count("MatMul") == 1


def test_truth_values_and_types():
    """Comparisons and choices join a group; integers and other float types stay outside of it."""
    (one,) = fuse(trace(lambda x: mg.where((x > 0.0) & (x < 1.0), x, -x) + (x > 2.0).double(), X.double())).equations
    assert "logical" in inside(one)
    graph = fuse(trace(lambda n: (n * 2 + n, n.double() * 2.0), mg.tensor([1, 2])))
    assert ops(graph) == ["Mul", "Add", "Fused"]
    graph = fuse(trace(lambda x: (x.float() * 2.0).double() * 3.0, X.double()))
    assert [inside(e) for e in graph.equations] == [["Cast", "Mul"], ["Cast", "Mul"]]


def test_draws_keep_their_order():
    """Random numbers are drawn in the order of the function, whatever is fused around them."""

    def f(x):
        a = mg.randn(4, 3)
        b = mg.rand(4, 3)
        return b.exp() * x + 1.0, a * x

    mg.manual_seed(1)
    wanted = f(X)
    mg.manual_seed(1)
    same_bits(fuse(trace(f, X)).run(X.numpy()), [y.numpy() for y in wanted])


def test_broadcasts_are_pushed_down():
    """What was expanded is computed before, unless the type of a number without axes would win then."""
    graph = push_broadcasts(trace(lambda b, x: b.expand(4, 3).exp() * x, mg.ones(3), X))
    assert [v.shape for e in graph.equations if e.op.__name__ == "Exp" for v in e.outputs] == [(3,)]
    number = mg.tensor(1.5, dtype=mg.float64)
    wide = trace(lambda s, x: s.expand(4, 3) * x, number, X.float())
    found = push_broadcasts(wide)
    assert found.outputs[0].dtype == np.float64
    same_bits(found.run(number.numpy(), X.float().numpy()), wide.run(number.numpy(), X.float().numpy()))


def test_constants_shrink():
    """A constant that is the same everywhere keeps one number; -0.0 and 0.0 are not the same."""
    ones, signs = mg.ones(50), mg.tensor([0.0, -0.0] * 25)
    graph = shrink_constants(trace(lambda x: x * ones + signs, mg.zeros(50)))
    assert [array.size for _, array in graph.constants] == [1, 50]
    same_bits(graph.run(np.full(50, -0.0, np.float32)), [np.array([0.0, -0.0] * 25, np.float32)])


def test_folds_over_leading_axes():
    """A fold over leading axes of a small array is one over trailing axes of a view; of a large one it stays."""
    for f in (lambda x: x.sum(0), lambda x: x.amax(0, keepdim=True), lambda x: x.permute(1, 0).sum(0, keepdim=True)):
        graph = fold_last(trace(f, X))
        assert graph.equations[-1].outputs[0].shape == f(X).shape
        np.testing.assert_allclose(graph.run(X.numpy())[0], f(X).numpy(), rtol=1e-6)
    assert ops(fold_last(trace(lambda x: x.sum(0), mg.zeros(300, 300)))) == ["Sum"]


@pytest.mark.parametrize("dtype", [mg.float32, mg.float64])
def test_expansions(dtype):
    """A softmax, a linear layer and losses are written as steps with the same values."""
    x, w, t = X.to(dtype), mg.tensor([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]], dtype=dtype), (X * X).to(dtype)
    functional = mg.nn.functional
    for f in (
        lambda x, w, t: x.softmax(0) * x.softmax(-1) + x.log_softmax(1),
        lambda x, w, t: functional.linear(x.unsqueeze(0), w, w[:, 0]) + functional.linear(x, w),
        lambda x, w, t: (functional.mse_loss(x, t), functional.mse_loss(x, t, reduction="none")),
        lambda x, w, t: functional.binary_cross_entropy_with_logits(x * 30.0, t, reduction="sum"),
    ):
        graph = trace(f, x, w, t)
        steps = expand(graph)
        assert len(steps.equations) > len(graph.equations)
        given = [each.numpy() for each in (x, w, t)]
        for found, wanted in zip(steps.run(*given), graph.run(*given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == mg.float32 else 1e-13, atol=1e-7)


def test_memory_is_planned():
    """Values that live at different times share memory, those that live at once do not, and results have their own."""
    graph = prepare(trace(lambda x: ((((x @ x).exp() @ x).exp() @ x).exp() @ x).exp(), mg.zeros(64, 64)))
    plan = plan_memory(graph)
    size = 64 * 64 * 4
    assert (plan.before, plan.after, plan.arena) == (8 * size, 3 * size, 2 * size)
    assert not overlaps(graph, plan)
    assert graph.outputs[0] not in plan.places


def overlaps(graph, plan):
    """Return the pairs of values that live at once and share memory."""
    made, last = {}, {}
    for n, each in enumerate(graph.equations):
        made.update((v, n) for v in each.outputs)
        last.update((v, n) for v in each.uses())
    spans = {v: (start, start + int(np.prod(v.shape)) * v.dtype.itemsize) for v, start in plan.places.items()}
    return [
        (a, b)
        for a in spans
        for b in spans
        if a is not b and made[a] < last[b] and made[b] < last[a] and spans[a][0] < spans[b][1] <= spans[a][1]
    ]


def test_two_results_do_not_take_one_place():
    """Of two results that could be written where their input lies, one is."""
    graph = prepare(trace(lambda x: ((y := x @ x) * 2.0) @ x + (y + 3.0) @ x @ x, mg.zeros(8, 8)))
    plan = plan_memory(graph)
    assert not overlaps(graph, plan) and len(set(plan.places.values())) < len(plan.places)


def lowest_peak(graph):
    """Return the bytes that live at once at the worst moment: no plan can need less."""
    made, last = {}, {}
    for n, each in enumerate(graph.equations):
        made.update((v, n) for v in each.outputs)
        last.update((v, n) for v in each.uses())
    places = plan_memory(graph).places
    sizes = {v: int(np.prod(v.shape)) * v.dtype.itemsize for v in places}
    return max(
        (sum(sizes[v] for v in places if made[v] <= n < last[v]) for n in range(len(graph.equations))), default=0
    )


@pytest.mark.parametrize("seed", range(20))
def test_plans_of_random_programs(seed):
    """No two values that live at once overlap, and the arena is not much above the bound that no plan can beat."""
    program = Program(seed, steps=30)
    graph = prepare(trace(lambda *inputs: program(*inputs), *program.inputs))
    plan = plan_memory(graph)
    assert not overlaps(graph, plan)
    assert lowest_peak(graph) <= plan.arena <= 2 * lowest_peak(graph) + 64 * len(plan.places)


def test_programs_have_all_operations():
    """The random programs of these tests use every operation of their table often."""
    used = [name for seed in range(80) for name in Program(seed).ops]
    assert min(used.count(name) for name in OPS) >= 3


def test_sums_of_what_is_repeated():
    """A sum over axes that an expansion made is a product; over the other axes it is one of the smaller value."""
    x = mg.tensor(np.arange(6.0).reshape(2, 1, 3))
    for dim, keepdim in ((0, True), ((0, 2), False), ((1, 2, 3), True), (1, False), ((0, 1, 2, 3), False), (3, True)):

        def f(x, dim=dim, keepdim=keepdim):
            return x.expand(5, 2, 4, 3).sum(dim, keepdim=keepdim)

        graph = sum_repeated(trace(f, x))
        assert ops(graph).count("Mul") == (dim != 1 and dim != 3)
        np.testing.assert_allclose(graph.run(x.numpy())[0], f(x).numpy(), rtol=1e-12)
        assert graph.outputs[0].shape == f(x).shape
    gradient = prepare(trace(grad(lambda a, b: (a * b).sum()), mg.zeros(100, 1), mg.zeros(1, 100)))
    assert max(np.prod(v.shape) for e in gradient.equations for v in e.outputs) == 100
    graph = sum_repeated(trace(lambda x: x.expand(50, 3).sum(1), mg.zeros(1, 3)))
    assert [e.operands[0].shape for e in graph.equations if e.op.__name__ == "Sum"] == [(1, 3)]


def test_rows_are_joined():
    """Where each row is added once to zeros, in any order; every bit is kept, and the sign of zero goes as before."""

    def placed(rows, *keys):
        parts = [IndexAdd.apply(x, shape=(3, 2), key=key) for x, key in zip(rows, keys, strict=True)]
        return (parts[0] + parts[1]) + parts[2]

    rows = [mg.tensor([-0.0, 1.0]), mg.tensor([math.nan, -math.inf]), mg.tensor([1e-310, -0.0])]
    for keys in (((0, ...), (1, ...), (2, ...)), ((2, ...), (0,), (1, ...))):
        graph = trace(lambda *x, keys=keys: placed(x, *keys), *rows)
        joined = join_placed(graph)
        assert ops(joined)[-1] == "Cat"
        for each in (joined, prepare(graph)):
            same_bits(each.run(*[x.numpy() for x in rows]), [placed(rows, *keys).numpy()])
    row = mg.zeros(2)
    for key, x in (
        ((1, ...), row),
        ((2, ...), mg.zeros(1)),
        ((-1, ...), row),
        ((slice(2, 3), ...), mg.zeros(1, 2)),
        ((..., 0), mg.zeros(3)),
    ):
        others = trace(lambda *rows, key=key: placed(rows, (0, ...), (1, ...), key), row, row, x)
        assert "Cat" not in ops(join_placed(others))
    again = trace(lambda x: placed((x, x, x), (0,), (1,), (2,)) + IndexAdd.apply(x, shape=(3, 2), key=(2,)), row)
    assert ops(join_placed(again))[-1] == "Add"

    for key in ((), np.array([0, 1]), (0, np.array([0, 1]))):
        rest = mg.tensor(np.zeros((3, 2))[key])
        assert "Cat" not in ops(join_placed(trace(lambda x, key=key: IndexAdd.apply(x, shape=(3, 2), key=key), rest)))
    for shape in ((1, 2), (2,), (2, 2, 2)):  # one of the two is repeated before they are added
        part = mg.rand(*shape[1:])

        def wide(x, part, shape=shape):
            return IndexAdd.apply(x, shape=(2, 2), key=(1,)) + IndexAdd.apply(part, shape=shape, key=(0, ...))

        same_bits(prepare(trace(wide, row, part)).run(row.numpy(), part.numpy()), [wide(row, part).numpy()])
        assert "Cat" not in ops(join_placed(trace(wide, row, part)))
    chain = trace(lambda x: sum((x for _ in range(5000)), x), row)
    assert join_placed(chain) == chain  # and no error of too deep a recursion

    def read_twice(x, y):
        placed = [IndexAdd.apply(row, shape=(2, 2), key=(number,)) for number, row in enumerate((x, y))]
        return placed[0] + placed[1], placed[0]

    assert "Cat" not in ops(join_placed(trace(read_twice, row, row)))
    attention = prepare(trace(grad(lambda x: (x[0] @ x[1] @ x[2]).sum()), mg.zeros(3, 4, 4)))
    assert "IndexAdd" not in ops(attention) and ops(attention).count("Cat") == 1


def test_parts_are_permuted_before_they_are_joined():
    """Only where a view copies the whole that nobody else reads; axes count from the end too."""
    x, y = mg.rand(2, 3, 4), mg.rand(2, 5, 4)

    def columns(x, y, dim=1, order=(2, 1, 0)):
        return Permute.apply(Cat.apply(x, y, dim=dim), order=order)

    for dim, order, other in ((1, (2, 1, 0), y), (-2, (-1, -2, 0), y), (0, (1, 2, 0), mg.rand(6, 3, 4))):
        graph = trace(lambda x, y, given=(dim, order): columns(x, y, *given).reshape(-1), x, other)
        permuted = remove_dead(permute_parts(graph))
        assert ops(permuted) == ["Permute", "Permute", "Cat", "View"]
        for each in (permuted, prepare(graph)):
            same_bits(each.run(x.numpy(), other.numpy()), [columns(x, other, dim, order).reshape(-1).numpy()])

    def read_twice(x, y):
        joined = mg.cat([x, y], 1)
        return joined.permute(2, 1, 0).reshape(-1), joined

    for unchanged in (columns, read_twice, lambda x, y: mg.cat([x, y], 1).reshape(-1)):
        graph = trace(unchanged, x, y)
        assert permute_parts(graph) == graph
    attention = prepare(trace(grad(lambda x: split(x).sum()), mg.zeros(2, 4, 12)))
    assert ops(attention).count("Cat") == 1 and ops(attention)[-2:] == ["Cat", "View"]


def split(x):
    """Return a product of three tensors that lie side by side in one, as attention has it."""
    q, k, v = x.reshape(2, 4, 3, 4).permute(2, 0, 1, 3)
    return q @ k.permute(0, 2, 1) @ v


PURE = (*PASSES, push_broadcasts, shrink_constants, join_placed, permute_parts, fold_last, fuse)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", [{}, {"special": True}, {"empty": True}, {"dtype": mg.float32}], ids=str)
def test_passes_in_any_order(seed, kind):
    """Each pass alone, and passes in any order, keep a random program's values; all but `fold_last` each bit."""
    program = Program(seed, **kind)
    rng = random.Random(seed)
    given = [x.numpy() for x in program.inputs]
    with guarded.ieee():
        graph = trace(lambda *inputs: program(*inputs), *program.inputs)
        wanted = [y.numpy() for y in program(*program.inputs)]
        for each in PURE:
            if each is not fold_last:
                same_bits(each(graph).run(*given), wanted)
        for _ in range(6):
            graph = rng.choice([*PURE, expand, sum_repeated])(graph)
            for found, y in zip(graph.run(*given), wanted, strict=True):
                assert (found.dtype, found.shape) == (y.dtype, y.shape)
                tolerance = 1e-4 if program.has_single else 1e-9
                np.testing.assert_allclose(found * 1.0, y * 1.0, rtol=tolerance, atol=tolerance)


def test_equal_groups_are_equal():
    """Fused graphs compare by what is in them, and fused equations are found to be common."""
    f, g = lambda x: (x * 2.0).exp(), lambda x: (x * 3.0).exp()
    assert fuse(trace(f, X)) == fuse(trace(f, X)) != fuse(trace(g, X))
    twice = fuse(trace(lambda x: (f(x) @ x.T, f(x) @ x.T), X))
    assert ops(optimize(twice)).count("Fused") == 1


def test_a_training_step_is_few_loops():
    """Forward, backward and the update of a network become a few loops between its products."""

    def loss(p, x, y):
        return mg.nn.functional.mse_loss((x @ p["a"] + p["b"]).tanh() @ p["c"], y)

    def step(p, x, y):
        return tree_map(lambda w, d: w - 0.1 * d, p, grad(loss)(p, x, y))

    p = {"a": mg.ones(3, 5), "b": mg.zeros(5), "c": mg.ones(5, 1)}
    graph = prepare(trace(step, p, X.float(), mg.ones(4, 1)))
    loops = [e for e in graph.equations if e.op.__name__ == "Fused"]
    assert len(loops) <= 7 and "Softmax" not in ops(graph)
    assert prepare(bind(trace(step, p, X.float(), mg.ones(4, 1)), *p.values())).inputs


def test_a_masked_softmax_is_done_in_vectors():
    """LLVM takes no infinity into the largest number of a row: it would compute one number at a time."""
    mask = mg.tensor(np.triu(np.ones((4, 4), bool), 1) | np.eye(4, dtype=bool))  # nothing is left of the first row
    masked = mg.jit(lambda x: x.masked_fill(mask, -math.inf).softmax(1))
    x = mg.tensor(np.arange(16.0).reshape(4, 4) % 5.0)
    np.testing.assert_allclose(masked(x).numpy(), masked.__wrapped__(x).numpy())
    assert np.isnan(masked(x).numpy()[0]).all()
    assert "opaque_c0 = opaque(c0)" in mg.jit.source(masked)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_opaque_lets_llvm_use_vectors(dtype, monkeypatch):
    """A largest number of what a mask leaves, in one instruction for several elements."""
    texts = []
    optimized = compiler.optimized
    monkeypatch.setattr(compiler, "optimized", lambda *args: texts.append(optimized(*args)) or texts[-1])
    monkeypatch.setattr(compiler, "_loaded", {})
    monkeypatch.setattr(compiler, "cache_directory", lambda: None)
    monkeypatch.setattr(compiler, "_told", {None})
    x = mg.tensor(np.arange(200, dtype=dtype).reshape(2, 100))
    masked = mg.jit(lambda x: mg.where(x > 50.0, x, float("-inf")).softmax(1))
    np.testing.assert_allclose(masked(x).numpy().sum(1), 1.0, rtol=1e-6)
    assert re.search(r"llvm\.vector\.reduce\.fmaximum", "".join(map(str, texts)))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, bool])
def test_a_sum_of_a_view_is_read_in_rows(dtype):
    """NumPy gives a sum of permuted axes in an order of its own; the loop behind it reads rows."""
    x = mg.tensor(np.arange(60).reshape(3, 4, 5).astype(dtype))
    scale = mg.tensor(np.arange(12.0).reshape(4, 3))
    f = mg.jit(lambda x, scale: x.permute(2, 1, 0).sum(0) * scale + 1.0)
    np.testing.assert_array_equal(f(x, scale).numpy(), f.__wrapped__(x, scale).numpy())

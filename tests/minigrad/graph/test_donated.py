"""Donated memory, and whole training steps that are compiled."""

import random

import loops_in_python
import numpy as np
import pytest
from graph_values import assert_close, tensor
from random_programs import Program as RandomProgram

import minigrad as mg
from minigrad import nn
from minigrad.backends.numba import fused, threads
from minigrad.graph import optimize, trace
from minigrad.graph.compiled import Program
from minigrad.transforms import tree_map, value_and_grad
from minigrad.transforms.checkpointing import Barrier

# --- donated memory ---------------------------------------------------------------------------------------------


def update(p, g, rate):
    return tree_map(lambda p, g: p - rate * g, p, g), tree_map(lambda p: p.sum(), p)


def test_donated_arguments_are_updated_in_place():
    """A result is written where a donated argument lies; without the donation nothing of the caller's is touched."""
    p, g, rate = {"a": tensor(4, 3), "b": tensor(5)}, {"a": tensor(4, 3), "b": tensor(5)}, mg.tensor(0.1).double()
    wanted = update(p, g, rate)
    keeping, donating = mg.jit(update), mg.jit(update, donate_argnums=0)
    before = {name: x.clone() for name, x in p.items()}
    assert_close(keeping(p, g, rate), wanted)
    assert_close(p, before)
    found = donating(p, g, rate)
    assert_close(found, wanted)
    assert all(found[0][name]._array is p[name]._array for name in p)
    assert donating.memory(p, g, rate).after < keeping.memory(p, g, rate).after < keeping.memory(p, g, rate).before


def test_donated_twice():
    """What shares memory with another argument, lies in other strides, or must not be written to, is copied first."""
    donating = mg.jit(lambda a, b: ((a + b, a - b)[0] * 2.0, (b - 1.0).exp().sum(), a @ b), donate_argnums=(0, 1))
    plain = donating.__wrapped__

    def arguments():
        x, y, locked = tensor(4, 4), tensor(4, 4), np.ones((4, 4))
        locked.flags.writeable = False
        return [(x, x), (x, x.T), (x.view(16)[:16].view(4, 4), x), (x.T, y), (mg.tensor(locked), y), (x, y)]

    for n in range(6):
        a, b = arguments()[n]
        wanted = plain(mg.tensor(a.numpy().copy()), mg.tensor(b.numpy().copy()))
        assert_close(donating(a, b), wanted)


def test_donated_views():
    """A view is copied first, for it holds the tensor that it looks at; a tensor of its own memory is not."""
    donating = mg.jit(lambda x: x * 2.0 + 1.0, donate_argnums=0)
    for _ in range(3):
        whole = tensor(4, 3)
        before = whole.clone()
        assert_close(donating(whole[1:3]), before[1:3] * 2.0 + 1.0)
        assert_close(whole, before)
    view, alone = tensor(2, 3).view(3, 2), tensor(3, 2)
    assert_close(donating(view), view * 2.0 + 1.0)
    assert donating(alone)._array is alone._array


def test_donated_and_read_again():
    """Nothing is written over what a later loop, or a later walk over the same row, still reads."""
    x = tensor(4, 4)
    first = mg.jit(lambda a, b: (a * 2.0 + 1.0, (b * 3.0).sum(0) @ b), donate_argnums=0)
    assert_close(first(x.clone(), x), first.__wrapped__(x, x))
    y = x.clone()
    assert_close(first(y, y), first.__wrapped__(x, x))
    second = mg.jit(lambda x: (x * 2.0, x - x.mean(1, keepdim=True)), donate_argnums=0)
    assert_close(second(x.clone()), second.__wrapped__(x))


@pytest.mark.parametrize("size", [3, 100_000])
def test_a_donated_number_that_many_rows_read(size):
    """A step count is no place for its successor in a loop that threads share: each reads it for its own rows."""

    def step(x, t):
        t = t + 1.0
        return x * t, (x.view(5, -1) * t).sum(1), t, t * 2.0

    x = mg.ones(size - size % 5 or 5)
    donating = mg.jit(step, donate_argnums=(0, 1))
    for _ in range(3):
        assert_close(donating(x.clone(), mg.tensor(5.0)), step(x, mg.tensor(5.0)))


def test_donated_and_read_behind_a_barrier():
    """What `checkpoint` computes again reads the same memory under another name."""
    x = tensor(4, 4)
    fun = lambda x: x * 2.0 + Barrier.apply(x, x.sum()).T  # noqa: E731
    donating = mg.jit(fun, donate_argnums=0)
    assert_close(donating(x.clone()), x * 2.0 + x.T)
    temporary = mg.jit(lambda x: fun(x @ x) @ x)
    assert_close(temporary(x), ((x @ x) * 2.0 + (x @ x).T) @ x)


def test_a_sum_over_no_axes_is_no_other_name_of_a_donated_input():
    """The sum is what the input was, though the input's memory is written over for another result."""
    x = mg.tensor(3.0)
    total, twice = mg.jit(lambda x: (x.sum(), x * 2.0), donate_argnums=0)(x)
    assert (total.item(), twice.item()) == (3.0, 6.0)


@pytest.mark.parametrize("seed", range(40))
def test_random_donations(seed, monkeypatch):
    """Results of random programs are the same with donated inputs, and no other input is changed, with shared loops."""
    monkeypatch.setattr(threads, "GRAIN", 1)
    for name, value in (("SCRATCH", 2), ("BLOCK", 2), ("STREAM_FROM", 32)):
        monkeypatch.setattr(fused, name, value)
    program, rng = RandomProgram(seed, steps=14, outputs=4), random.Random(seed)

    def fun(*inputs):
        results = program(*inputs)
        return [*results, results[0], inputs[seed % len(inputs)], inputs[0] + 1.0, inputs[-1] * 2.0]

    donated = [n for n in range(len(program.inputs)) if rng.random() < 0.7]
    given = [x.numpy().copy() for x in program.inputs]
    graph = optimize(trace(fun, *program.inputs))
    found = loops_in_python.run(Program(graph, donated), *given)
    assert_close(found, [y.numpy() for y in fun(*program.inputs)], 1e-4 if program.has_single else 1e-9)
    for n, (x, before) in enumerate(zip(given, program.inputs, strict=True)):
        assert n in donated or np.array_equal(x, before.numpy())


def test_refused_donations():
    """Donated arguments are named by their places, and static ones have no memory."""
    with pytest.raises(ValueError, match="donate_argnums names argument 3, but the function takes 3; count from 0"):
        mg.jit(update, donate_argnums=3)
    with pytest.raises(ValueError, match="argument 1 is static, so it has no memory to donate"):
        mg.jit(update, static_argnums=(1, 2), donate_argnums=1)


# --- a whole training step --------------------------------------------------------------------------------------


def network():
    mg.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 4)).to(mg.float64)
    return model, {name: p.detach() for name, p in model.named_parameters()}


def loss_of(model, p, x, y):
    return nn.functional.cross_entropy(nn.functional_call(model, p, x), y)


@pytest.mark.full("kernels are compiled for a training step", share=12)
def test_training_with_sgd():
    """Module, loss, gradients and update are one function: its losses are those of the eager optimizer."""
    model, p = network()
    x, y = tensor(6, 3), mg.tensor([0, 1, 2, 3, 0, 1])

    def step(p, x, y):
        value, slopes = value_and_grad(lambda p: loss_of(model, p, x, y))(p)
        return value, tree_map(lambda w, d: w - 0.5 * d, p, slopes)

    quick = mg.jit(step, donate_argnums=0)
    optimizer = mg.optim.SGD(model.parameters(), lr=0.5)
    p = tree_map(lambda w: w.clone(), p)
    for _ in range(8):
        found, p = quick(p, x, y)
        optimizer.zero_grad()
        wanted = loss_of(model, {}, x, y)
        wanted.backward()
        optimizer.step()
        assert found.item() == pytest.approx(wanted.item(), rel=1e-9)
    assert quick.cache_info() == (7, 1, 1)


@pytest.mark.full("another large graph is compiled", share=12)
def test_training_with_adam():
    """Adam written over trees, its step count a tensor, is the optimizer's."""
    model, p = network()
    x, y = tensor(6, 3), mg.tensor([0, 1, 2, 3, 0, 1])

    def step(p, state, x, y):
        m, v, t = state
        value, g = value_and_grad(lambda p: loss_of(model, p, x, y))(p)
        t = t + 1.0
        m = tree_map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        rate = 0.01 * (1.0 - 0.999**t).sqrt() / (1.0 - 0.9**t)
        p = tree_map(lambda w, m, v: w - rate * m / (v.sqrt() + 1e-8 * (1.0 - 0.999**t).sqrt()), p, m, v)
        return value, p, (m, v, t)

    quick = mg.jit(step, donate_argnums=(0, 1))
    optimizer = mg.optim.Adam(model.parameters(), lr=0.01)
    p = tree_map(lambda w: w.clone(), p)
    state = (tree_map(lambda w: w * 0.0, p), tree_map(lambda w: w * 0.0, p), mg.tensor(0.0, dtype=mg.float64))
    for _ in range(8):
        found, p, state = quick(p, state, x, y)
        optimizer.zero_grad()
        wanted = loss_of(model, {}, x, y)
        wanted.backward()
        optimizer.step()
        assert found.item() == pytest.approx(wanted.item(), rel=1e-8)

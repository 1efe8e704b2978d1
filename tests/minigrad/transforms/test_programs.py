"""Transforms of random programs: both modes are transposes, Jacobians agree, Hessians are symmetric, vmap is a loop."""

import re

import numpy as np
import pytest
from programs import draw, environment

import minigrad as mg
from minigrad import transforms
from minigrad.errors import BatchingError

SEEDS = range(500)
pytestmark = [
    pytest.mark.full("500 random programs of 30 operations each", share=480),
    pytest.mark.no_cover,  # three times as quick; the tests of each rule run the same lines
]


class Case:
    """A random program as a function of its leaves."""

    def __init__(self, seed):
        self.program = draw(seed)
        names = environment(mg)
        self.leaves = []
        names["leaf"] = lambda values: self.leaves.append(mg.tensor(np.array(values))) or self.leaves[-1]
        exec(self.program.body, names)
        self.ops = {step.op for step in self.program.steps}
        self.code = compile(self.program.body, f"<program {seed}>", "exec")
        self.rng = np.random.default_rng(seed)

    def f(self, *leaves):
        """The outputs for some leaves."""
        names = environment(mg)
        given = iter(leaves)
        names["leaf"] = lambda values: next(given)
        exec(self.code, names)
        return tuple(names[name] for name in self.program.outputs)

    def loss(self, *leaves):
        """One number."""
        return sum((y * y).sum() for y in self.f(*leaves)) * 1e-3

    def like(self, tensors):
        """Random tensors in the shapes of others."""
        return tuple(mg.tensor(self.rng.normal(size=x.shape)) for x in tensors)


@pytest.fixture(params=SEEDS)
def case(request):
    return Case(request.param)


def dot(xs, ys):
    return sum(float((x * y).sum()) for x, y in zip(xs, ys, strict=True))


def assert_close(found, wanted, relative=1e-9):
    for x, y in zip(found, wanted, strict=True):
        x, y = (np.array(each.detach().numpy()) for each in (x, y))
        assert x.shape == y.shape
        size = np.abs(y[np.isfinite(y)]).max(initial=0.0)  # 1 / relu(x) is infinite in some examples: in both then
        np.testing.assert_allclose(x, y, rtol=relative, atol=relative * (1e-3 + size))


def test_both_modes_are_transposes(case):
    """<c, jvp(t)> is <vjp(c), t>, and linearize gives the changes of jvp."""
    changes = case.like(case.leaves)
    outputs, pushed = transforms.jvp(case.f, case.leaves, changes)
    same, back = transforms.vjp(case.f, *case.leaves)
    cotangents = case.like(outputs)
    assert_close(outputs, same)
    assert dot(cotangents, pushed) == pytest.approx(dot(back(cotangents), changes), rel=1e-8)
    assert_close(transforms.linearize(case.f, *case.leaves)[1](*changes), pushed)
    assert all(not x.requires_grad for x in (*outputs, *pushed, *back(cotangents)))


def test_jacobians_agree(case):
    """jacfwd is jacrev, and what vjp makes of each row of an identity matrix, under vmap."""
    argnums = tuple(range(len(case.leaves)))
    forwards, backwards = (each(case.f, argnums)(*case.leaves) for each in (transforms.jacfwd, transforms.jacrev))
    for row, other in zip(forwards, backwards, strict=True):
        assert_close(row, other)
    outputs, back = transforms.vjp(case.f, *case.leaves)
    for n, row in enumerate(backwards):
        size = outputs[n].numel()
        eye = mg.eye(size, dtype=outputs[n].dtype).view(size, *outputs[n].shape)
        others = [mg.zeros_like(y) for y in outputs]
        mapped = transforms.vmap(lambda c, n=n, others=others: back((*others[:n], c, *others[n + 1 :])))(eye)
        shapes = [(*outputs[n].shape, *x.shape) for x in case.leaves]
        assert_close([d.reshape(*shape) for d, shape in zip(mapped, shapes, strict=True)], row)


def test_hessians_are_symmetric(case):
    """The blocks of second derivatives are each other's transposes, and hvp multiplies with them."""
    argnums = tuple(range(len(case.leaves)))
    blocks = transforms.hessian(case.loss, argnums)(*case.leaves)
    for i, row in enumerate(blocks):
        for j, block in enumerate(row):
            n, m = case.leaves[i].numel(), case.leaves[j].numel()
            assert_close([block.reshape(n, m)], [blocks[j][i].reshape(m, n).T], 1e-7)
    vector = case.like(case.leaves)
    wanted = []
    for x, row in zip(case.leaves, blocks, strict=True):
        parts = [block.reshape(x.numel(), -1) @ v.reshape(-1) for block, v in zip(row, vector, strict=True)]
        wanted.append(sum(parts[1:], parts[0]).reshape(x.shape))
    assert_close(transforms.hvp(case.loss, case.leaves, vector), wanted, 1e-7)


def test_vmap_is_a_loop(case):
    """Mapped along all leaves, or along the first alone, the program and its gradients are those of a loop.

    Two things are refused: a mask that selects another number of elements in each example, and, where the first leaf
    alone is mapped, an assignment of what is batched to what is not.
    """
    if "index_boolean" in case.ops:
        with pytest.raises(BatchingError, match=r"use minigrad.where\(mask"):
            transforms.vmap(case.f)(*[mg.stack([x, x]) for x in case.leaves])
        return
    examples = [tuple(x * scale for x in case.leaves) for scale in (1.0, 0.99, 1.01)]
    batch = [mg.stack(list(column)) for column in zip(*examples, strict=True)]
    argnums = tuple(range(len(case.leaves)))
    for f in (case.f, transforms.grad(case.loss, argnums)):
        wanted = [mg.stack(list(column)) for column in zip(*[f(*each) for each in examples], strict=True)]
        assert_close(transforms.vmap(f)(*batch), wanted, 1e-7)
        if re.search(r"put\(|_\(", case.program.body):
            continue
        first = [f(each[0], *case.leaves[1:]) for each in examples]
        wanted = [mg.stack(list(column)) for column in zip(*first, strict=True)]
        in_axes = (0, *[None] * (len(batch) - 1))
        assert_close(transforms.vmap(f, in_axes)(batch[0], *case.leaves[1:]), wanted, 1e-7)


def test_checkpoint_changes_nothing(case):
    """A checkpointed program has the values, gradients and second derivatives of the program."""
    kept = transforms.checkpoint(case.loss)
    vector = case.like(case.leaves)
    argnums = tuple(range(len(case.leaves)))
    assert_close(transforms.grad(kept, argnums)(*case.leaves), transforms.grad(case.loss, argnums)(*case.leaves))
    assert_close(transforms.hvp(kept, case.leaves, vector), transforms.hvp(case.loss, case.leaves, vector))

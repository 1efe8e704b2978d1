"""Random programs of all kinds of operations, and their derivatives in all modes, as graphs."""

import re

import loops_in_python
import numpy as np
import pytest
from programs import draw, environment

import minigrad as mg
from minigrad.backends import guarded
from minigrad.graph import optimize, trace
from minigrad.graph.compiled import Program
from minigrad.transforms import checkpoint, grad, hvp, jvp, tree_leaves, vmap

CHUNK = 25
IN_PLACE = re.compile(r"put\(|_\(")


class Case:
    """A random program without changes in place as a function of its leaves; see `tests/peers`."""

    def __init__(self, seed):
        self.program = draw(seed)
        self.leaves = []
        names = environment(mg)
        names["leaf"] = lambda values: self.leaves.append(mg.tensor(np.array(values))) or self.leaves[-1]
        exec(self.program.body, names)

    def f(self, *leaves):
        """The outputs for some leaves."""
        names, given = environment(mg), iter(leaves)
        names["leaf"] = lambda values: next(given)
        exec(self.program.body, names)
        return tuple(names[name] for name in self.program.outputs)

    def loss(self, *leaves):
        """One number."""
        return sum((y * y).sum() for y in self.f(*leaves)) * 1e-3

    def derivatives(self):
        """The program under each transform."""
        places = tuple(range(len(self.leaves)))
        batch = lambda x: mg.stack([x, x * 1.01])  # noqa: E731
        yield "value", self.f
        yield "gradient", grad(self.loss, places)
        yield "change", lambda *xs: jvp(self.loss, xs, [x * 0.5 for x in xs])
        yield "second", lambda *xs: hvp(self.loss, xs, [x * 0.5 for x in xs])
        yield "again", grad(checkpoint(self.loss), places)
        yield "batch", lambda *xs: vmap(self.f)(*map(batch, xs))


def check(seed):
    """Compare each graph, interpreted and as loops, with eager code; return how many there were."""
    case = Case(seed)
    if IN_PLACE.search(case.program.body) or "index_boolean" in {step.op for step in case.program.steps}:
        return 0  # changes in place and masks as keys are refused in a trace
    given = [x.numpy() for x in case.leaves]
    count = 0
    for name, fun in case.derivatives():
        with guarded.ieee():
            wanted = [y.detach().numpy() for y in tree_leaves(fun(*case.leaves))]
            graph = optimize(trace(fun, *case.leaves))
            found = graph.run(*given), loops_in_python.run(Program(graph), *given)
        for way, results in zip(("interpreted", "loops"), found, strict=True):
            for x, y in zip(results, wanted, strict=True):
                x, y = np.asarray(x), np.asarray(y)
                assert (x.dtype, x.shape) == (y.dtype, y.shape)
                size = np.abs(y[np.isfinite(y)]).max(initial=0.0)
                said = f"{name} of program {seed}, {way}"
                np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-7 * (1e-3 + size), err_msg=said)
        count += 1
    return count


@pytest.mark.full("500 random programs under transforms are traced", share=160)
@pytest.mark.no_cover
@pytest.mark.parametrize("first", range(0, 500, CHUNK))
def test_transforms_of_programs(first):
    """The graph of a program, its gradient, change, second derivative or batch computes what the transform does."""
    assert sum(check(seed) for seed in range(first, first + CHUNK)) > 0

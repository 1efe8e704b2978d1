"""Random programs: drawn from a seed, run with any library that has PyTorch's names, compared, and made shorter."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from program_draw import Draw, NoFit
from program_ops import OPS
from pytorch import torch

__all__ = ["STEPS", "Program", "Step", "difference", "draw", "environment", "shrink"]

STEPS = 30
ELEMENTS = 72  # of a value, at most
SIZE = 30.0  # of a value's elements, at most
STEEPNESS = 1e7  # of the derivatives, at most

PRELUDE = """\
import numpy as np
import minigrad as lib  # or: import torch as lib

nn = lib.nn.functional


def leaf(values):
    return lib.tensor(np.array(values), requires_grad=True)


def random(seed, *shape):
    return np.random.default_rng(seed).uniform(-2.0, 2.0, shape)


def gelu(x):
    return nn.gelu(x)


def put(x, index, value):
    x = x.clone()
    x[index] = value
    return x
"""


@dataclass(frozen=True)
class Step:
    """One line of a program: the value's name, the operation's name ("leaf" for an input) and the code."""

    name: str
    op: str
    code: str

    @property
    def arguments(self) -> set[str]:
        """The names of the values that it uses."""
        return set(re.findall(r"\bv\d+\b", self.code))


@dataclass(frozen=True)
class Program:
    """A straight line of operations.

    Attributes:
        seed: Where it was drawn from; the upstream gradients come from there too.
        steps: Its lines.
        outputs: The names of the values that are differentiated.
    """

    seed: int
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The names of its inputs."""
        return tuple(step.name for step in self.steps if step.op == "leaf")

    @property
    def body(self) -> str:
        """Its lines."""
        return "\n".join(f"{step.name} = {step.code}" for step in self.steps)

    def text(self) -> str:
        """Return a script that runs with either library and prints every derivative."""
        (outputs, leaves) = (", ".join(names) + "," for names in (self.outputs, self.leaves))
        return (
            f"{PRELUDE}\n\n{self.body}\nouts, leaves = ({outputs}), ({leaves})\n"
            f"ups = [leaf(random([{self.seed}, k], *out.shape)) for k, out in enumerate(outs)]\n"
            "grads = lib.autograd.grad(outs, leaves, ups, create_graph=True, allow_unused=True)\n"
            "firsts = [g for g in grads if g is not None and g.requires_grad]\n"
            f"more = [lib.tensor(random([{self.seed}, 99, k], *g.shape)) for k, g in enumerate(firsts)]\n"
            "print(outs, grads, lib.autograd.grad(firsts, (*leaves, *ups), more, allow_unused=True))\n"
        )

    def run(self, lib: Any) -> Results:
        """Run it: forward, backward in two ways, and backward through backward.

        Args:
            lib: torch, or a library with the same names
        """
        names = environment(lib)
        exec(compile(self.body, f"<program {self.seed}>", "exec"), names)
        outs = [names[name] for name in self.outputs]
        leaves = [names[name] for name in self.leaves]
        ups = [names["leaf"](names["random"]([self.seed, k], *out.shape)) for k, out in enumerate(outs)]
        for out, up in zip(outs, ups, strict=True):
            out.backward(up.detach().clone(), retain_graph=True)  # PyTorch may keep what it is given, and add to it
        summed = [leaf.grad for leaf in leaves]
        grads = lib.autograd.grad(outs, leaves, ups, create_graph=True, allow_unused=True)
        firsts = [grad for grad in grads if grad is not None and grad.requires_grad]
        more = [lib.tensor(np.array(names["random"]([self.seed, 99, k], *g.shape))) for k, g in enumerate(firsts)]
        inputs = [*leaves, *ups]
        seconds = lib.autograd.grad(firsts, inputs, more, allow_unused=True) if firsts else [None] * len(inputs)
        return Results(
            forward=[array(names[step.name]) for step in self.steps],
            backward=[array(grad, leaf) for grad, leaf in zip(summed, leaves, strict=True)],
            grad=[array(grad, leaf) for grad, leaf in zip(grads, leaves, strict=True)],
            double=[array(grad, x) for grad, x in zip(seconds, inputs, strict=True)],
        )


@dataclass(frozen=True)
class Results:
    """What a program computes: every value, the gradients of `backward` and of `grad`, and of the gradients."""

    forward: list[np.ndarray]
    backward: list[np.ndarray]
    grad: list[np.ndarray]
    double: list[np.ndarray]


def environment(lib: Any) -> dict[str, Any]:
    """Return the names that a program uses, for a library."""
    names: dict[str, Any] = {}
    names["lib"] = lib
    exec(PRELUDE.replace("import minigrad as lib", ""), names)
    return names


def array(x: Any, like: Any = None) -> np.ndarray:
    """Return a tensor's values; zeros like another tensor where there is none."""
    return np.zeros(tuple(like.shape)) if x is None else np.array(x.detach().clone().numpy())


# --- drawing -------------------------------------------------------------------------------------------------


def draw(seed: int) -> Program:
    """Return the program of a seed, the first one that is tame."""
    rng = random.Random(seed)
    while True:
        program = _draw(seed, rng)
        steepness = program.run(torch)
        sizes = [np.abs(x).max() for x in (*steepness.backward, *steepness.double)]
        if all(size < STEEPNESS for size in sizes):  # False for nan
            return program


def _draw(seed: int, rng: random.Random) -> Program:
    names = environment(torch)
    steps = [Step(f"v{k}", "leaf", _leaf(rng, [seed, rng.randrange(1000), k])) for k in range(rng.randint(3, 5))]
    pool = {step.name: eval(step.code, names).detach() for step in steps}
    unused = list(pool)
    end = len(steps) + STEPS
    while len(steps) < end:
        name = f"v{len(steps)}"
        op = rng.choice(list(OPS))
        try:
            code = OPS[op](Draw(rng, pool, unused))
        except NoFit:
            continue
        value = eval(code, names, pool)
        if 0 < value.numel() <= ELEMENTS and value.dim() <= 4 and value.abs().max().item() <= SIZE:
            pool[name] = value
            steps.append(Step(name, op, code))
            unused = [each for each in unused if each not in steps[-1].arguments] + [name]
    inputs = {step.name for step in steps if step.op == "leaf"}
    return Program(seed, tuple(steps), tuple(name for name in unused if name not in inputs))


def _leaf(rng: random.Random, seed: list[int]) -> str:
    """Sizes are few, so that shapes often go together."""
    shape = [rng.choice((2, 3))] * 2 if rng.random() < 0.3 else []
    shape += [rng.choice((1, 2, 2, 3, 3, 4)) for _ in range(rng.randint(0, 3 - len(shape)))]
    return f"leaf(random({', '.join(map(str, [seed, *shape]))}))"


# --- comparing -----------------------------------------------------------------------------------------------


def difference(program: Program, lib: Any, tolerance: float = 1e-6, reference: Any = torch) -> str | None:
    """Return how a library differs from another on a program, in one line; None if it does not.

    A number may differ by `tolerance` times the largest number of its tensor. Numbers below 1e-12 of the largest of
    all values and derivatives are what rounding left where they cancel.
    """
    wanted = program.run(reference)
    try:
        given = program.run(lib)
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    names = {
        "forward": [step.name for step in program.steps],
        "backward": program.leaves,
        "grad": program.leaves,
        "double": [*program.leaves, *(f"the upstream gradient of {name}" for name in program.outputs)],
    }
    floor = 1e-12 * max(np.abs(x).max() for part in names for x in getattr(wanted, part))
    for part, labels in names.items():
        for label, a, b in zip(labels, getattr(given, part), getattr(wanted, part), strict=True):
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"{part}: {label} is {a.dtype} of shape {a.shape}, not {b.dtype} of shape {b.shape}"
            error = np.abs(a - b).max()
            if not error <= tolerance * np.abs(b).max() + floor:
                return f"{part}: {label} is {a.tolist()}, not {b.tolist()}"
    return None


# --- making shorter ------------------------------------------------------------------------------------------


def shrink(program: Program, lib: Any, reference: Any = torch) -> Program:
    """Return a short program on which a library still differs in the same way."""

    def fails(candidate: Program) -> bool:
        found = difference(candidate, lib, reference=reference)
        return found is not None and found.split(":")[0] == kind

    kind = (difference(program, lib, reference=reference) or "").split(":")[0]
    ends = [replace(program, outputs=(step.name,)) for step in program.steps if step.op != "leaf"]
    program = next((shorter for shorter in map(_needed, ends) if fails(shorter)), program)
    for name in program.outputs:
        if len(program.outputs) > 1:
            shorter = _needed(replace(program, outputs=tuple(each for each in program.outputs if each != name)))
            program = shorter if fails(shorter) else program
    for step in program.steps[::-1]:
        if step in program.steps and step.op != "leaf" and step.name not in program.outputs:
            shorter = _needed(_as_leaf(program, step))
            program = shorter if fails(shorter) else program
    return program


def _needed(program: Program) -> Program:
    """Return the program without the steps that its outputs do not use."""
    needed = set(program.outputs)
    for step in reversed(program.steps):
        if step.name in needed:
            needed |= step.arguments
    return replace(program, steps=tuple(step for step in program.steps if step.name in needed))


def _as_leaf(program: Program, step: Step) -> Program:
    """Return the program with the value of a step given as numbers."""
    names = environment(torch)
    exec(program.body, names)
    constant = Step(step.name, "leaf", f"leaf({names[step.name].tolist()})")
    return replace(program, steps=tuple(constant if each is step else each for each in program.steps))

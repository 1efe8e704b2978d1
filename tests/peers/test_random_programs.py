"""Random programs give in minigrad what they give in PyTorch: values, gradients, and gradients of gradients."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import cache
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import program_ops
import programs
import pytest
from pytorch import torch

import minigrad
from minigrad.backends import arrays

SEEDS = 500
CHUNK = 20


@cache
def program(seed):
    """The program of a seed, drawn once."""
    return programs.draw(seed)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Values of a few bytes gain nothing from threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def report(seed, lib):
    """What to say of a seed whose results differ: a short program that shows it, as it can be run."""
    short = programs.shrink(program(seed), lib)
    return f"seed {seed}: {programs.difference(short, lib)}\n\n{short.text()}"


def disagreements(seeds, lib):
    """Return a report for each seed on which a library and PyTorch differ."""
    return [report(seed, lib) for seed in seeds if programs.difference(program(seed), lib)]


@pytest.mark.full("twenty programs each", share=20)
@pytest.mark.no_cover  # twice as quick; the registry's tests run the same lines
@pytest.mark.parametrize("start", range(0, SEEDS, CHUNK))
def test_programs_agree_with_pytorch(start):
    """Values, both ways to first derivatives, and second derivatives agree to 1e-6 relative, for every seed."""
    wrong = disagreements(range(start, start + CHUNK), minigrad)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.full("random programs, compared with PyTorch", share=4)
def test_programs_agree_on_the_readable_backend():
    """The loops of the backend `python`, which are the specification, agree with PyTorch too."""
    with minigrad.backend("python"):
        wrong = disagreements(range(25), minigrad)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.full("programs are compiled", share=12)
def test_programs_agree_on_compiled_kernels(monkeypatch):
    """The kernels that Numba compiles for large arrays agree with PyTorch too; here they get the small ones."""
    for name in ("LARGE", "LARGE_AND_DEAR"):
        monkeypatch.setattr(arrays, name, 0)
    wrong = disagreements(range(6), minigrad)
    assert not wrong, "\n\n".join(wrong)


def only_values(seed):
    """Return the values of a program that is not recorded, and whether any of them is."""
    names = programs.environment(minigrad)
    with minigrad.no_grad():
        exec(program(seed).body, names)
    values = [names[step.name] for step in program(seed).steps if step.op != "leaf"]
    return [programs.array(x) for x in values], [x.requires_grad for x in values]


def everything(seed, backend):
    """Return what a program gives, recorded and not, on a backend; each run is a block of its own."""
    with minigrad.backend(backend):
        results = program(seed).run(minigrad)
    with minigrad.backend(backend):
        values, recorded = only_values(seed)
    assert not any(recorded)
    return [*(x for field in fields(results) for x in getattr(results, field.name)), *values]


@pytest.mark.full("programs run on the readable backend", share=8)
def test_programs_in_two_threads_give_what_they_give_in_one():
    """Two threads choose backends, and record or not, each for itself; every digit is as without the other thread."""
    seeds = range(12)
    alone = {(seed, name): everything(seed, name) for seed in seeds for name in ("python", "numba")}
    orders = [
        [(seed, name) for seed in seeds for name in names] for names in (("python", "numba"), ("numba", "python"))
    ]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(2) as pool:
            together = list(pool.map(lambda order: [everything(*each) for each in order], orders))
    finally:
        sys.setswitchinterval(before)
    for order, found in zip(orders, together, strict=True):
        for job, arrays_of_job in zip(order, found, strict=True):
            for a, b in zip(arrays_of_job, alone[job], strict=True):
                np.testing.assert_array_equal(a, b, err_msg=str(job))
    assert minigrad.backends.chosen() == "numba"
    assert minigrad.backends.is_quick_in_all_threads()


@pytest.mark.full("all random programs are made", share=4)
def test_every_operation_is_drawn_often():
    """Each operation occurs at least 20 times in the programs, and each program has 30 of them."""
    steps = [[step.op for step in program(seed).steps if step.op != "leaf"] for seed in range(SEEDS)]
    assert {len(ops) for ops in steps} == {programs.STEPS} == {30}
    count = Counter(op for ops in steps for op in ops)
    assert {op: count[op] for op in program_ops.OPS if count[op] < 20} == {}


def test_programs_use_values_again_and_work_on_views():
    """Most programs use a value more than once, broadcast, and compute with a view that is not contiguous."""
    found = Counter()
    for seed in range(100):
        names = programs.environment(torch)
        exec(program(seed).body, names)
        uses = Counter(name for step in program(seed).steps for name in step.arguments)
        used = [[names[name] for name in step.arguments] for step in program(seed).steps if step.op in {"add", "mul"}]
        found["again"] += any(times > 1 for times in uses.values())
        found["broadcast"] += any(len({x.shape for x in inputs}) > 1 for inputs in used)
        found["view"] += any(not names[name].is_contiguous() for name in uses)
    assert found["again"] > 90
    assert found["view"] > 60
    assert found["broadcast"] > 20


def test_a_seed_gives_one_program():
    """Drawing twice from a seed gives the same program, and another seed another one."""
    assert programs.draw(7) == programs.draw(7)
    assert programs.draw(7).steps != programs.draw(8).steps


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("where", lambda condition, a, b: torch.where(condition, a, b.detach())),
        ("maximum", lambda a, b: torch.maximum(a, b) * 1.00001),
        ("stack", lambda parts, dim: torch.stack(parts[::-1], dim)),
    ],
)
def test_a_wrong_operation_is_found_and_shown_in_a_few_lines(name, wrong):
    """A lost gradient, a value off by 1e-5 and a wrong order are found; what is shown has one operation."""
    lib = SimpleNamespace(**vars(import_module("torch")) | {name: wrong})
    seeds = [seed for seed in range(60) if any(f"lib.{name}(" in step.code for step in program(seed).steps)]
    failing = next(seed for seed in seeds if programs.difference(program(seed), lib))
    short = programs.shrink(program(failing), lib)
    assert [step.op.split("_")[0] for step in short.steps if step.op != "leaf"] == [name]
    assert programs.difference(short, lib) is not None
    assert f"lib.{name}(" in report(failing, lib)


def test_a_wrong_second_derivative_is_found():
    """A rule that is right once, and hides from a second differentiation, is told apart."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, d):
            return d * 2.0 * ctx.saved_tensors[0].detach()

    steps = (
        programs.Step("v0", "leaf", "leaf([1.0, 2.0])"),
        programs.Step("v1", "square", "lib.square(v0)"),
    )
    lib = SimpleNamespace(**vars(import_module("torch")) | {"square": Square.apply})
    found = programs.difference(programs.Program(0, steps, ("v1",)), lib)
    assert found is not None
    assert found.startswith("double: v0")

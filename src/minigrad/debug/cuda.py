"""The race detector for CUDA kernels."""

from __future__ import annotations

import random
import types
from collections.abc import Collection
from typing import Any

import numpy as np

from minigrad.debug.arrays import Recorded, raw_of
from minigrad.debug.findings import Findings
from minigrad.debug.grid import Grid
from minigrad.debug.memory import Root
from minigrad.debug.report import CudaReport
from minigrad.debug.runtime import STEPS, by_name, check_call, copies, kernel_function
from minigrad.emulator.device import Index


def _triple(size: object, what: str) -> Index:
    given = tuple(size) if isinstance(size, tuple | list) else (size,)
    if not 1 <= len(given) <= 3 or not all(isinstance(n, int | np.integer) and n >= 1 for n in given):
        raise ValueError(
            f"cuda_races: {what} is {size!r}; it must be a positive number, or a tuple of one to three of them"
        )
    x, y, z = (*map(int, given), 1, 1)[:3]
    return x, y, z


def cuda_races(
    kernel: object,
    grid: object,
    block: object,
    *args: object,
    seed: int = 0,
    runs: int = 2,
    steps: int = STEPS,
    shared_bytes: int = 0,
    constants: Collection[int] = (),
) -> CudaReport:
    """Look for races in a CUDA kernel, by running its threads in Python with every access written down.

    No GPU is needed, and nothing is compiled. The arguments stay as they are, for the kernel gets copies. The findings:

    - accesses to one element by two threads that no barrier keeps apart, in shared and in global memory,
    - barriers that not all threads of a block reach,
    - indices outside an array, among them computed negative ones,
    - several dynamic shared arrays, which all begin at one place,
    - shared or local memory that is read before it is written,
    - values that could pass between threads by something else than arrays, such as a dictionary.

    Args:
        kernel: A function, or one that ``cuda.jit`` has compiled. Device functions that it reaches are followed too.
        grid: The number of blocks: a number, or a tuple of up to three.
        block: The number of threads in a block, likewise.
        *args: What the kernel is called with: arrays, device arrays (copied to the host), numbers.
        seed: For the order of threads and blocks in the second run and later ones.
        runs: How many runs there are.
        steps: How many steps a run may take before it is stopped, which is a finding, too.
        shared_bytes: The size of dynamic shared memory.
        constants: Numbers of arguments, from 0, that are arrays which nobody writes, such as shapes: reading them is
            not counted.

    Returns:
        The findings. A report with findings is true.

    Raises:
        TypeError: If the kernel is no Python function, or does not take the arguments.
        ValueError: If its source text is not known, a size is not positive, or it uses CUDA beyond the simulation.
    """
    function = kernel_function(kernel, "cuda_races")
    sizes = _triple(grid, "grid"), _triple(block, "block")
    check_call(function, args, "cuda_races")
    findings = Findings(function.__code__.co_filename)
    report = CudaReport(function.__name__, grid=sizes[0], block=sizes[1])
    for number in range(max(1, runs)):
        run = Grid(findings, steps, random.Random(seed + number) if number else None, *sizes, shared_bytes)
        given = copies(args)
        _run(run, function, given, constants)
        report.steps += run.used
        if number == 0:
            report.args = [raw_of(arg) for arg in given]
            report.counts, report.barriers = run.counts, run.barriers
            report.events, report.moments, report.collided = run.events, run.moments, run.collided
            report.traffic = by_name(run.traffic)
        elif not _agree(report.args, given):
            report.steady = False
        if run.used > steps:  # it would not end in another order either
            break
    report.races = findings.list()
    return report


def _run(run: Grid, function: types.FunctionType, given: list[Any], constants: Collection[int]) -> None:
    names = function.__code__.co_varnames
    recorded = list(given)
    for i, arg in enumerate(given):
        if isinstance(arg, np.ndarray):
            arg.flags.writeable = i not in constants
            scope = "constant" if i in constants else "global"
            recorded[i] = Recorded(arg, Root(arg, names[i] if i < len(names) else f"argument {i}", scope), run)
    with run.guarded():
        run.run(function, recorded)


def _agree(first: list[Any], second: list[Any]) -> bool:
    """Return whether two runs left the same in their arguments."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if isinstance(a, np.ndarray)]
    return all(np.allclose(a, b, rtol=1e-6, equal_nan=True) for a, b in pairs if a.dtype.kind in "biufc")

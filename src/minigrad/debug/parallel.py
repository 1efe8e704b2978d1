"""The race detector for loops over `numba.prange`."""

from __future__ import annotations

import random
import types
from typing import Any

import numpy as np

from minigrad.debug.arrays import Recorded, raw_of
from minigrad.debug.findings import Findings
from minigrad.debug.iterations import Iterations
from minigrad.debug.memory import Root
from minigrad.debug.report import Loop, Report
from minigrad.debug.runtime import STEPS, by_name, check_call, copies, kernel_function, made_by


def races(kernel: object, *args: object, seed: int = 0, runs: int = 2, steps: int = STEPS) -> Report:
    """Look for races in a kernel with prange loops, by running it in Python with every access written down.

    Nothing is compiled, and the arguments stay as they are: the kernel gets copies, which overlap where they do.
    A finding does not depend on luck: two iterations that touch one element collide, in whatever order they run.

    Args:
        kernel: A function, or one that Numba has compiled, for example what ``tensor_map(fn)`` returns. Helpers that it
            reaches, compiled or not, are followed too.
        *args: What the kernel is called with. Up to some thousand elements are quick.
        seed: For the order of the iterations in the second run and later ones. The first run takes them as they come.
        runs: How many runs there are.
        steps: How many steps a run may take before it is stopped, which is a finding, too.

    Returns:
        The findings. A report with findings is true.

    Raises:
        TypeError: If the kernel is no Python function, does not take the arguments, or returns a function.
        ValueError: If its source text is not known.

    >>> from numba import njit, prange
    >>> def total(out, x):
    ...     for i in prange(len(x)):
    ...         out[0] += x[i]
    ...
    >>> report = minigrad.debug.races(njit(parallel=True)(total), np.zeros(1), np.ones(4))
    >>> bool(report), sorted(report.kinds)
    (True, ['read-write', 'write-write'])
    """
    function = kernel_function(kernel, "races")
    check_call(function, args, "races")
    findings = Findings(function.__code__.co_filename)
    report = Report(function.__name__)
    for number in range(max(1, runs)):
        run = Iterations(findings, steps, random.Random(seed + number) if number else None)
        given = copies(args)
        result = _run(run, function, given)
        report.steps += run.used
        if number == 0:
            report.args, report.result = given, raw_of(result)
            if callable(report.result) and not run.loops:
                raise TypeError(
                    f"races: {function.__name__} returned a function and ran no prange loop; give races the kernel "
                    f"that it makes: races({made_by(function)}, ...)"
                )
            report.loops = tuple(Loop(line, n, name) for (line, name), n in run.loops.items())
            report.traffic = by_name(run.traffic)
        if run.used > steps:  # it would not end in another order either
            break
    report.races = findings.list()
    return report


def _run(run: Iterations, function: types.FunctionType, given: list[Any]) -> Any:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    recorded = [
        Recorded(arg, Root(arg, names[i] if i < len(names) else f"argument {i}"), run)
        if isinstance(arg, np.ndarray)
        else arg
        for i, arg in enumerate(given)
    ]
    run.rewrite_kernel(function)
    result = None
    with run.guarded():
        result = run.call(function, *recorded)
    return result

"""The compiler's report on a kernel's loops: parallel or not, number of threads, fused and hoisted parts.

    print(parallel_report(kernel))        in a notebook the report shows itself

Numba keeps notes while it compiles. This module puts them into sentences about the student's lines.
"""

from __future__ import annotations

import contextlib
import dataclasses
import html
import inspect
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad import compiling
from minigrad.backends.numba import threads
from minigrad.compiling import refusals
from minigrad.machine._numba import numba


@dataclass(frozen=True)
class Loop:
    """A loop that Numba could run in parallel: a ``prange``, or the loop of an operation on whole arrays.

    Attributes:
        line: Its line in the file.
        source: That line's text.
        parallel: Whether its iterations are spread over the threads.
        reason: Why it runs as it does.
        hoisted: Allocations inside it that each thread makes once, and its iterations use in turn.
    """

    line: int
    source: str
    parallel: bool
    reason: str
    hoisted: tuple[str, ...] = ()

    def __str__(self) -> str:
        how = "parallel" if self.parallel else "serial"
        lines = [_place(self.line, self.source), f"    {how}: {self.reason}"]
        return "\n".join([*lines, *[f"    {text}" for text in _hoisted(self)]])


@dataclass(frozen=True)
class ParallelReport:
    """The compiler's report on one kernel.

    Attributes:
        name: The kernel's name.
        loops: Its loops, in the order of their lines.
        threads: How many threads share the iterations of a parallel loop.
        layer: Who runs them: "tbb", "omp" or "workqueue".
        details: Numba's own account, in full.
        advice: What would make a loop run in parallel, where none does.
    """

    name: str
    loops: tuple[Loop, ...]
    threads: int
    layer: str
    details: str
    advice: str = "`for i in prange(n)` makes one, with parallel=True"

    @property
    def parallel(self) -> bool:
        """True if any loop runs in parallel."""
        return any(loop.parallel for loop in self.loops)

    def __str__(self) -> str:
        if not self.loops:
            return f"{self.name}: no loop runs in parallel; {self.advice}"
        head = f"{self.name}: {sum(x.parallel for x in self.loops)} of {len(self.loops)} loops run in parallel"
        return "\n".join([f"{head}, on {self.threads} threads ({self.layer})", *map(str, self.loops)])

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: a table of loops, and Numba's account folded away."""
        left = "style='text-align:left'"  # JupyterLab aligns cells of tables to the right
        rows = "".join(
            f"<tr><td>{loop.line}</td><td {left}><code>{html.escape(loop.source)}</code></td>"
            f"<td {left}>{'parallel' if loop.parallel else 'serial'}</td>"
            f"<td {left}>{html.escape('; '.join([loop.reason, *_hoisted(loop)]))}</td></tr>"
            for loop in self.loops
        )
        head = html.escape(str(self).splitlines()[0])
        heads = "<th>line</th>" + "".join(f"<th {left}>{name}</th>" for name in ("loop", "runs", "why"))
        table = f"<table><tr>{heads}</tr>{rows}</table>" if rows else ""
        return (
            f"<p>{head}</p>{table}<details><summary>in full</summary><pre>{html.escape(self.details)}</pre></details>"
        )


def _hoisted(loop: Loop) -> list[str]:
    """Name the allocations that left a loop. Each thread makes them once, at the beginning of its share.

    So these buffers are each thread's own, and one that is made before the loop is everybody's.
    """
    return [f"allocated once for each thread, whose iterations use it in turn: {text}" for text in loop.hoisted]


def _place(line: int, source: str) -> str:
    return f"line {line}: {source}" if source else f"line {line}"


def parallel_report(kernel: Any, *args: Any) -> ParallelReport:
    """Report on a compiled kernel.

    Args:
        kernel: What ``njit`` or `minigrad.compiling.compile_kernel` returned.
        args: Arguments to call it with first, if it was never called. The report is on the last call's types.

    Raises:
        KernelError: If the compiler refuses it.
        TypeError: If it is no compiled kernel.
        ValueError: If it was never called, and no arguments are given.
    """
    if args:
        _call(kernel, args)
    dispatcher = getattr(kernel, "dispatcher", kernel)
    if not hasattr(dispatcher, "get_metadata"):
        raise TypeError(f"parallel_report: {kernel!r} is not compiled; wrap it in njit(parallel=True) first")
    name = dispatcher.py_func.__name__
    if not dispatcher.signatures:
        raise ValueError(f"parallel_report: {name} was never called, so nothing is compiled; give arguments to call it")
    notes = dispatcher.get_metadata(dispatcher.signatures[-1]).get("parfor_diagnostics")
    known = getattr(notes, "has_setup", False)  # without parallel=True there are no notes
    loops, details = (_loops(notes, dispatcher.py_func), _in_full(notes)) if known else ((), "")
    report = ParallelReport(name, loops, int(numba.get_num_threads()), threads.layer() if loops else "", details)
    return report if loops else dataclasses.replace(report, advice=_advice(kernel, dispatcher))


def _call(kernel: Any, args: Sequence[Any]) -> None:
    """Call a kernel, and translate the compiler's refusal from Numba's words into the library's."""
    try:
        kernel(*args)
    except numba.errors.NumbaError as error:
        raise refusals.explain(error, kernel.py_func) from None


def _advice(kernel: Any, dispatcher: Any) -> str:
    """Return advice that would make a loop run in parallel."""
    code = dispatcher.py_func.__code__
    if "prange" not in (*code.co_names, *code.co_freevars):
        return ParallelReport.advice
    if dispatcher.targetoptions.get("parallel"):
        return "the compiler made nothing parallel of its prange loop"
    if isinstance(kernel, compiling.Kernel) and not compiling.is_parallel():
        return "kernels run on one thread since minigrad.compiling.set_parallel(False), or MINIGRAD_PARALLEL=0"
    return "its prange loop needs parallel=True, as in njit(parallel=True): without, it is an ordinary range"


def _in_full(notes: Any) -> str:
    """Return the text that Numba prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        notes.dump(4)
    return text.getvalue()


def _loops(notes: Any, function: Any) -> tuple[Loop, ...]:
    """Return the loops of a kernel by line. Numba's notes know them by number."""
    lines = {loop.id: loop.loc.line for loop in notes.initial_parfors}
    inside = _targets(notes.nested_fusion_info)
    fused = _targets(notes.fusion_info)
    sources = _source_lines(function)
    allocations = _allocations(notes, sources)
    loops = []
    for loop in notes.initial_parfors:
        if loop.id in inside:
            parallel, reason = False, f"it is inside the parallel loop of line {lines[inside[loop.id]]}"
        elif loop.id in fused:
            into = fused[loop.id]
            parallel, reason = into not in inside, f"fused with the loop of line {lines[into]}: both in one"
        else:
            parallel, reason = True, _kind(loop)
        line = loop.loc.line
        loops.append(Loop(line, sources.get(line, ""), parallel, reason, tuple(allocations.get(loop.id, ()))))
    return tuple(sorted(loops, key=lambda loop: loop.line))


def _targets(notes: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Map each fused loop to the loop it was fused into."""
    return {taken: into for into, all_taken in notes.items() for taken in all_taken}


def _kind(loop: Any) -> str:
    first = loop.patterns[0][0] if loop.patterns else ""
    return "its iterations are shared out" if first == "prange" else f"an operation on a whole array ({first})"


def _allocations(notes: Any, sources: Mapping[int, str]) -> dict[int, list[str]]:
    """Return the text of the allocations that were hoisted out of each loop."""
    return {
        number: [_shown(x, sources) for x in info.get("hoisted", ()) if _attribute(x.value) in ALLOCATIONS]
        for number, info in notes.hoist_info.items()
    }


ALLOCATIONS = ("empty", "empty_like", "full", "ones", "zeros", "zeros_like")
"""NumPy functions that make an array."""


def _attribute(expression: Any) -> str:
    """Return the attribute that an instruction looks up: ``empty`` of ``np.empty``, or nothing for others."""
    try:
        return str(expression.attr)
    except (AttributeError, KeyError):
        return ""


def _shown(instruction: Any, sources: Mapping[int, str]) -> str:
    line = instruction.loc.line
    return _place(line, sources.get(line, ""))


def _source_lines(function: Any) -> dict[int, str]:
    """Return the text of the lines of a function's file, or cell."""
    with contextlib.suppress(OSError, TypeError):
        lines, first = inspect.getsourcelines(function)
        found = {first + i: line.strip() for i, line in enumerate(lines)}
        path = inspect.getsourcefile(function)
        if path and Path(path).exists():
            everything = Path(path).read_text(encoding="utf-8").splitlines()
            return {i: line.strip() for i, line in enumerate(everything, 1)} | found
        return found
    return {}

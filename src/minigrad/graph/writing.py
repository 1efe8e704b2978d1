"""Writing the function that runs a compiled graph: straight-line code, the same for processors and CUDA devices.

What a device does in its own way, its backend's `Calls` write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import tensor_functions
from minigrad.backends import arrays, splitting
from minigrad.backends.calls import Calls
from minigrad.backends.fused import Loop
from minigrad.functions import Function
from minigrad.graph.elements import is_view, shares_memory
from minigrad.graph.fusing import Fused
from minigrad.graph.lowering import lower
from minigrad.graph.planning import Plan
from minigrad.graph.program import Equation, Graph, Var, compute, replaced, variables_in
from minigrad.transforms.checkpointing import Barrier


def compute_apart(op: type[Function], operands: list[Any], *options: Any) -> list[Any]:
    """Compute as `compute` does, but return no operand, or view of one, as a result: a sum over no axes is its operand.

    The plan knows which equations share memory. The memory of every other result may be written while an operand is
    still read, and the other way round.
    """
    found = compute(op, operands, *options)
    return [x.copy() if any(x is each or getattr(x, "base", x) is each for each in operands) else x for x in found]


class Writer:
    """Writes the lines that run a graph, and keeps what they refer to.

    Args:
        graph: A graph after all passes.
        plan: Which values share memory.
        calls: What the device's backend writes.
        inside: Returns what runs a graph that stands inside of an equation.

    Attributes:
        names: The name of each value.
        scope: What the lines refer to.
        lines: The lines.
        inner: What runs the graphs inside of equations.
        read: The inputs that loops read: they must lie in row-major order.
        results: The text of each result.
    """

    def __init__(self, graph: Graph, plan: Plan, calls: Calls, inside: Callable[[Graph], Any]) -> None:
        self.graph, self.plan, self.calls, self.inside = graph, plan, calls, inside
        self.names = {v: f"v_{name}" for v, name in graph.names().items()}
        self.scope: dict[str, Any] = {
            "compute": compute,
            "compute_apart": compute_apart,
            "expand": arrays.expand,
            "replaced": replaced,
        }
        self.lines: list[str] = []
        self.inner: list[Any] = []
        self.looked_at = self._run_time_values()
        self.read = [v for v in graph.inputs if v in self._read_by_loops()]
        for v, array in graph.constants:
            self.scope[self.names[v]] = calls.constant(np.ascontiguousarray(array).reshape(v.shape))
        for equation in graph.equations:
            self._equation(equation)
        self.flush()
        self.results = self._results()

    # --- what the device's backend writes -------------------------------------------------------------------------

    def allocation(self, shape: tuple[int, ...], dtype: Any) -> str:
        """Return the text that asks for memory."""
        self.named_type(dtype)
        return self.calls.empty(shape, np.dtype(dtype))

    def loop(self, loop: Loop, names: list[str]) -> None:
        """Write the call of a loop on its outputs and inputs, now or with those that follow."""
        self.lines += self.calls.loop(loop, names)

    def flush(self) -> None:
        """Write the calls that wait to be written together."""
        self.lines += self.calls.flush()

    def body(self, end: str) -> list[str]:
        """Return the lines of the function, up to one that returns the results."""
        return [*self.lines, end]

    def load(self) -> dict[str, Any]:
        """Return what the lines refer to, with the loops compiled, those of graphs inside of equations first."""
        for each in self.inner:
            each.load()
        return self.scope | self.calls.load()

    # --- values ---------------------------------------------------------------------------------------------------

    def _results(self) -> list[str]:
        """Return the text of each result: an array of its own, unless it looks at an input."""
        made = {v: each for each in self.graph.equations for v in each.outputs}
        taken = {v for v, _ in self.graph.constants} | self.graph.captured
        found = []
        for y in self.graph.outputs:
            if not isinstance(y, Var):
                found.append(f"{self.named(y)}{'.copy()' if isinstance(y, np.ndarray) else ''}")
                continue
            root, repeats = y, False
            while root in made and shares_memory(made[root]):
                repeats |= made[root].op is tensor_functions.Expand
                root = made[root].operands[0]
            found.append(f"{self.names[y]}.copy()" if repeats or root in taken else self.names[y])
            taken |= {root} - set(self.graph.inputs)
        return found

    def _run_time_values(self) -> set[Var]:
        """Return the values that are needed while the function runs, and not only inside of loops."""
        needed = {y for y in self.graph.outputs if isinstance(y, Var)}
        for each in reversed(self.graph.equations):
            if not is_view(each) or any(v in needed for v in each.outputs):
                needed.update(each.uses())
        return needed

    def _read_by_loops(self) -> set[Var]:
        """Return the values that loops read."""
        return {v for each in self.graph.equations if each.op is Fused for v in each.uses()}

    def named(self, value: Any) -> str:
        """Return the name of an object that the function uses."""
        name = f"x_{len(self.scope)}"
        self.scope[name] = value
        return name

    def named_type(self, dtype: Any) -> str:
        """Return the name of a dtype that the function uses."""
        name = str(np.dtype(dtype))
        self.scope[name] = np.dtype(dtype)
        return name

    def new(self, v: Var) -> None:
        """Write the line that gives a result its memory."""
        if v in self.plan.donated:
            self.lines.append(f"{self.names[v]} = {self.names[self.plan.donated[v]]}")
        elif v not in self.plan.places:
            self.lines.append(f"{self.names[v]} = {self.allocation(v.shape, v.dtype)}")

    # --- equations ------------------------------------------------------------------------------------------------

    def _equation(self, equation: Equation) -> None:
        if equation.op is Fused:
            self._fused(equation)
        elif equation.op is Barrier:
            self.lines.append(f"{self.names[equation.outputs[0]]} = {self.names[equation.operands[0]]}")
        elif is_view(equation):
            if equation.outputs[0] in self.looked_at:
                self.flush()
                self._view(equation)
        else:
            self.flush()
            self.other(equation)

    def _view(self, equation: Equation) -> None:
        (x,), (out,), options = equation.operands, equation.outputs, equation.options
        name, given = self.names[out], self.names[x]
        if equation.op is tensor_functions.Permute:
            self.lines.append(f"{name} = {given}.transpose({options['order']})")
        elif equation.op is tensor_functions.View:
            self.lines.append(f"{name} = {given}.reshape({options['shape']})")
        elif equation.op is tensor_functions.Expand:
            self.lines.append(f"{name} = expand({given}, {options['shape']})")
        else:
            self.lines.append(f"{name} = {given}[{self.named(options['key'])}]")

    def other(self, equation: Equation) -> None:
        """Write an equation that no loop computes: the function of tensors computes it."""
        operands, outputs = equation.operands, equation.outputs
        shown = [self.names[x] if isinstance(x, Var) else self.named(x) for x in operands]
        left = ", ".join(self.names[v] for v in outputs)
        graphs = {name: self.inside(x) for name, x in equation.options.items() if isinstance(x, Graph)}
        self.inner += graphs.values()
        options = self.named(equation.options | graphs)
        variables = dict.fromkeys(variables_in(equation.options))
        if variables:
            known = ", ".join(f"{self.named(v)}: {self.calls.on_host(self.names[v])}" for v in variables)
            options = f"replaced({options}, {{{known}}}.get)"
        op, saved = self.named(equation.op), self.named(equation.saved)
        compute = "compute" if shares_memory(equation) else "compute_apart"
        self.lines.append(f"{left}, = {compute}({op}, [{', '.join(shown)}], {options}, {saved})")
        for v in outputs:
            self.lines.append(f"{self.names[v]} = rows({self.names[v]})")

    def _fused(self, equation: Equation) -> None:
        body = equation.options["body"]
        lowered = lower(body.equations, equation.options["space"])
        assert lowered is not None
        outside = dict(zip(body.inputs, equation.operands, strict=True))
        given = [self.names[outside[v]] for v in lowered.inputs]
        for v in equation.outputs:
            self.new(v)
        results = [self.names[v] for v in equation.outputs]
        loop = lowered.writing(body.outputs)
        divided = splitting.split(loop)
        if divided is None:
            self.loop(loop, [*results, *given])
            return
        partial = []
        for _ in divided.pieces.outputs[len(results) - len(divided.outputs) :]:
            partial.append(f"part_{len(self.lines)}")
            self.lines.append(f"{partial[-1]} = {self.allocation(divided.partial, loop.dtype)}")
        by_element = [name for n, name in enumerate(results) if n not in divided.outputs]
        self.loop(divided.pieces, [*by_element, *partial, *given])
        rest = [results[n] for n in divided.outputs]
        self.loop(divided.rows, [*rest, *partial, *[given[n] for n in divided.given]])

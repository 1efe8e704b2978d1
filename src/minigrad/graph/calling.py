"""Quick calls: a generated function that knows one form of arguments, takes them apart and runs a program.

To flatten trees and to compare types takes longer than a small graph runs. So the checks are written out for the form
that was traced; a call of any other form gets `MISS`, and `jit` looks the form up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import autodiff, backends
from minigrad.graph.capturing import is_object
from minigrad.graph.compiled import Program
from minigrad.graph.forms import Call, Static
from minigrad.graph.program import Var
from minigrad.tensors import Tensor, abstract_mode
from minigrad.transforms.trees import PyTreeDef

MISS = object()
"""What a quick call returns for arguments of another form."""


class _CannotBeQuick(Exception):
    """The form has a container or value that generated code does not know."""


class _Writer:
    def __init__(self, program: Program, function_scope: dict[str, Any], marks: Any) -> None:
        self.program = program
        self.marks = marks
        self.scope = function_scope
        self.scope |= {
            "MISS": MISS,
            "Tensor": Tensor,
            "depth": abstract_mode.depth,
            "floats": backends.floats,
            "here": backends.here,
            "mode": autodiff.grad_mode,
            "ndarray": np.ndarray,
        }
        self.lines: list[str] = []
        self.inputs = list(zip(program.graph.inputs, program.inputs, strict=True))
        self.count = 0
        self.objects: list[str] = []

    def object(self, value: Any) -> str:
        """Return the name of an object."""
        name = f"y_{len(self.scope)}"
        self.scope[name] = value
        return name

    def miss_if(self, condition: str) -> None:
        """Write a check."""
        self.lines.append(f"if {condition}: return MISS")

    def open(self, structure: PyTreeDef, name: str, leaves: list[Any]) -> None:
        """Write the lines that take a tree apart and compare it."""
        if structure.kind is None:
            self._leaf(name, leaves.pop(0))
            return
        kind, count = structure.kind, len(structure.children)
        if kind is type(None):
            self.miss_if(f"{name} is not None")
            return
        if kind not in (dict, list, tuple):
            raise _CannotBeQuick
        self.miss_if(f"{name}.__class__ is not {kind.__name__} or len({name}) != {count}")
        below = [f"{name}_{n}" for n in range(count)]
        if kind is dict and count:
            keys = structure.rest
            self.miss_if(f"list({name}) != {self.object(list(keys.order))}")
            self.lines.append(f"{', '.join(keys.with_values(below).values())}, = {name}.values()")
        elif count:
            self.lines.append(f"{', '.join(below)}, = {name}")
        for child, each in zip(structure.children, below, strict=True):
            self.open(child, each, leaves)

    def _leaf(self, name: str, leaf: Any) -> None:
        if isinstance(leaf, Tensor):
            self.miss_if(f"{name}.__class__ is not Tensor")
            self.tensor(name)
            v, given = self.inputs[self.count - 1]
            dtype = self.object(v.dtype)
            wrong = f"{given}.__class__ is not ndarray or {given}.shape != {v.shape} or {given}.dtype is not {dtype}"
            self.miss_if(wrong)
            self.in_rows(v, given)
            return
        value = leaf.value if isinstance(leaf, Static) else leaf
        if is_object(value):
            self.miss_if(f"{name}.__class__ is not {self.object(type(value))}")
            self.objects.append(name)
            return
        if type(value) not in (bool, float, int, str, type(None)) or value != value or value == 0.0:
            raise _CannotBeQuick
        known = self.object(value)
        self.miss_if(f"{name}.__class__ is not {type(value).__name__} or {name} != {known}")

    def tensor(self, name: str) -> None:
        """Write the lines that take the array of the next input from a tensor."""
        if self.marks is None:
            self.miss_if(f"{name}._requires_grad and mode.enabled")
        else:
            self.miss_if(f"{name}._requires_grad is not {self.marks[1][self.count]}")
        self.lines.append(f"{self.inputs[self.count][1]} = {name}._array")
        self.count += 1

    def in_rows(self, v: Var, given: str) -> None:
        """Write the line that puts an array that loops read into row-major order."""
        if v in self.program.read:
            strides = self.object(np.empty(v.shape, v.dtype).strides if 0 not in v.shape else None)
            self.lines.append(f"if {given}.strides != {strides}: {given} = rows({given})")

    def captured(self, guard: Any) -> None:
        """Write the lines that ask a guard for the captured tensors, which are the rest of the inputs."""
        self.lines.append(f"held = {self.object(guard)}({', '.join(self.objects)})")
        self.miss_if("held is None")
        for n, (v, given) in enumerate(self.inputs[self.count :]):
            self.lines.append(f"captured_{n} = held[{n}]")
            self.tensor(f"captured_{n}")
            self.in_rows(v, given)

    def close(self, structure: PyTreeDef, results: list[str]) -> str:
        """Return the text of a tree of results."""
        if structure.kind is None:
            return results.pop(0)
        below = [self.close(child, results) for child in structure.children]
        if structure.kind is type(None):
            return "None"
        if structure.kind is tuple:
            return f"({''.join(each + ', ' for each in below)})"
        if structure.kind is list:
            return f"[{', '.join(below)}]"
        if structure.kind is dict:
            items = structure.rest.with_values(below).items()
            return f"{{{', '.join(f'{self.object(key)}: {each}' for key, each in items)}}}"
        raise _CannotBeQuick


def quick_call(
    program: Program, call: Call, leaves: Sequence[Any], guard: Any, marks: Any
) -> Callable[[Any, Any], Any] | None:
    """Return a function of positional and keyword arguments that runs a program; None for forms it cannot be quick for.

    Args:
        program: The program.
        call: The form of the calls that the function serves.
        leaves: The leaves of the arguments, in this form.
        guard: Takes the objects among the leaves, and returns the captured tensors, or None for a call of another
            program; None where nothing is captured.
        marks: Whether gradients must be on, and which inputs must want them; None where that does not matter.
    """
    writer = _Writer(program, program.scope(), marks)
    positional, named = call.structure.children
    try:
        if named.children:
            raise _CannotBeQuick
        writer.miss_if(f"kwargs or depth or here.choice.state != {writer.object(call.state)}")
        writer.miss_if(f"floats.dtype is not {writer.object(call.float_type)}")
        if marks is not None:
            writer.miss_if(f"mode.enabled is not {marks[0]}")
        for n, v in enumerate(program.graph.outputs):
            if not isinstance(v, Var) and not isinstance(v, float | int | str | None):
                raise _CannotBeQuick
            if not isinstance(v, Var):
                writer.scope[f"result_{n}"] = v
        writer.open(positional, "args", list(leaves))
        if guard is not None:
            writer.captured(guard)
        results = [
            f"Tensor({name})" if isinstance(v, Var) else f"result_{n}"
            for n, (v, name) in enumerate(zip(program.graph.outputs, program.results, strict=True))
        ]
        result = writer.close(program.graph.structure, results)
    except _CannotBeQuick:
        return None
    body = program.body(f"return {result}")
    text = "\n".join(["def call(args, kwargs):", *[f"    {line}" for line in (*writer.lines, *body)], ""])
    exec(compile(text, "<quick call>", "exec"), writer.scope)
    return writer.scope["call"]  # type: ignore[no-any-return]

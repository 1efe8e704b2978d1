"""Programs as the checks of lessons 11 and 11b write them: by their text, so that no check needs another exercise."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.loops import Group
from minigrad.symbols import Equation, Program, Var, result_of


def written(inputs: str, *lines: str) -> Program:
    """Return the program of some lines.

    Args:
        inputs: The inputs with their types, as in ``"x:float32[2,3] n:float64[]"``.
        *lines: Equations such as ``"y = mul x 2.0"`` and ``"s = sum y axis=1 keepdims=False"``, and in the end
            ``"return y s"``.

    >>> from minigrad.checks.written import written
    >>> written("x:float64[3]", "y = mul x 2.0", "s = sum y axis=0 keepdims=False", "return s y")
    { lambda a:float64[3] .
      let b:float64[3] = mul a 2.0
          c:float64[] = sum b axis=0 keepdims=False
      in (c, b) }
    """
    names: dict[str, Any] = {}
    for name, kind, sizes in re.findall(r"(\w+):(\w+)\[([\d,]*)\]", inputs):
        shape = tuple(int(size) for size in sizes.split(",") if size)
        names[name] = Var(shape, np.dtype(kind))
    given, equations = list(names.values()), []
    *computed, returned = lines
    for line in computed:
        name, _, right = line.partition(" = ")
        op, *words = right.split()
        options = {key: literal_eval(value) for key, _, value in (word.partition("=") for word in words if "=" in word)}
        operands = [_operand(word, names) for word in words if "=" not in word]
        names[name] = result_of(op, *operands, **options)
        equations.append(Equation(op, operands, names[name], options))
    return Program(given, [], equations, [_operand(word, names) for word in returned.split()[1:]])


def _operand(word: str, names: dict[str, Any]) -> Any:
    return names[word] if word in names else float("-inf") if word == "-inf" else literal_eval(word)


def groups_of(program: Program, *sizes: int) -> Sequence[Group]:
    """Return the equations of a program in groups of so many, one behind the other; by default each by itself."""
    left = list(program.equations)
    return [Group([left.pop(0) for _ in range(size)]) for size in sizes or [1] * len(left)]

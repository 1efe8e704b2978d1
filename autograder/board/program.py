"""The functions and constants of a text, read and never run by Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.board.memory import Refused
from autograder.common.python_text import parse


@dataclass
class Program:
    """The functions and constants of a text, none of which has been run.

    Attributes:
        functions: By name.
        constants: What names stand for: numbers, or expressions that are looked at when a kernel needs them.
    """

    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[str], constants: Mapping[str, int]) -> Program:
        """Read the top level of cells; whatever is neither a function nor a constant counts for nothing.

        Args:
            texts: The cells' texts, of which later ones define anew. One that is no Python is left out.
            constants: Numbers that the course gives, by name.
        """
        found = cls(constants={name: np.int64(value) for name, value in constants.items()})
        for text in texts:
            tree = parse(text)
            for statement in tree.body if tree else ():
                if isinstance(statement, ast.FunctionDef):
                    found.functions[statement.name] = statement
                    found.constants.pop(statement.name, None)
                elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    for target in targets:
                        if isinstance(target, ast.Name):
                            found.constants[target.id] = statement.value
                            found.functions.pop(target.id, None)
        return found

    def number(self, name: str) -> int:
        """Return a constant that is a whole number.

        Raises:
            Refused: If it is none.
        """
        given = self.constants.get(name)
        if isinstance(given, ast.Constant):
            given = given.value
        if isinstance(given, bool) or not isinstance(given, int | np.int64):
            raise Refused(f"{name} is a whole number that stands in the cell")
        return int(given)

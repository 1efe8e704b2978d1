"""An entry of the table of elementwise operations, and the sentences that are made of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from minigrad.elementwise.forms import FORMS, Form

__all__ = ["OPS", "Op", "entry", "kernels_in", "students"]

Kernel = TypeVar("Kernel", bound=Callable[..., float])
Rule = Callable[..., Any]


@dataclass(frozen=True)
class Op:
    """An elementwise operation, and the names of what is made of it.

    Attributes:
        name: The operator in `minigrad.operators`.
        sentence: The first line of its docstring: "Return the sine of x, in radians."
        inputs: The names of its inputs.
        function: The class in `minigrad.functions`.
        written: Whether `minigrad.functions` writes the class out.
        rule: Of any other class: given ``(functions, d, *inputs)`` or ``(functions, d, out)``, returns d times the
            derivative in each input; out is the output. ``functions`` has the differentiable functions that it calls.
            None: a step, whose result is a constant.
        generic: The function in `minigrad.functions` for numbers and variables, or "".
        method: Of an operation of one input: the method of `Tensor`, and of `Scalar` where of_numbers is true; "" where
            the class writes its own.
        in_place: Whether `Tensor` has the method with an underscore too.
        module: The module in `minigrad.nn`, whose function in `minigrad.nn.functional` has the method's name; or "".
        of_numbers: Whether `Scalar` has the method.
        example: The elements of a tensor, and those of the result, as they are printed.
        positive: Whether the inputs of the tests are above 0.
        frequent: Whether small arrays have quick forms of the method and of the rule, which may call no function then.
        torch: PyTorch's function.
    """

    name: str
    sentence: str
    inputs: tuple[str, ...]
    function: str
    written: bool = False
    rule: Rule | None = None
    generic: str = ""
    method: str = ""
    module: str = ""
    in_place: bool = True
    of_numbers: bool = True
    example: tuple[str, str] = ("", "")
    positive: bool = False
    frequent: bool = False
    torch: str = ""

    @property
    def saves(self) -> tuple[str, ...]:
        """What forward saves: the inputs, or what the rule asks for with its parameters beside f and d."""
        return self.inputs if self.rule is None else tuple(inspect.signature(self.rule).parameters)[2:]

    def about(self, x: str, it: str = "it") -> str:
        """Return what is computed, of something in place of x: "the sine of every element, in radians".

        A formula behind a colon or a semicolon keeps its x.

        >>> from minigrad.elementwise.entry import OPS
        >>> OPS["sin"].about("every element")
        'the sine of every element, in radians'
        """
        what = self.sentence.removeprefix("Return ").removesuffix(".")
        head, *tail = re.split(r"(?=[:;])", what, maxsplit=1)
        first = re.sub(r"\bx\b", x, head, count=1)
        return re.sub(r"\bx\b", it, first) + "".join(tail)

    def documented(self, sentence: str, call: str) -> str:
        """Return a docstring: a sentence, and below it the example.

        Args:
            sentence: Says what is computed.
            call: The expression that computes it, with ``{0}`` for the tensor.
        """
        numbers, result = self.example
        return f"{sentence}\n\n>>> {call.format(f'minigrad.tensor([{numbers}])')}\ntensor([{result}])\n"


OPS: dict[str, Op] = {}
"""The table: the elementwise operations by the names of their operators."""


def entry(function: str = "", *, form: Form | None = None, **more: Any) -> Callable[[Kernel], Kernel]:
    """Enter an operation into the table, below whose decorator its kernel stands, on plain floats.

    Args:
        function: The class's name; the kernel's, with a capital, where it is left out.
        form: The kernel's quick forms.
        **more: Further attributes of `Op`. Of an operation of one input, names that are left out are the kernel's.
    """

    def enter(kernel: Kernel) -> Kernel:
        name = kernel.__name__
        if form is not None:
            FORMS[name] = form
        sentence = (kernel.__doc__ or "").split("\n", 1)[0]
        _enter(name, sentence, tuple(inspect.signature(kernel).parameters), function, more)
        return kernel

    return enter


def students(name: str, sentence: str, function: str = "", inputs: tuple[str, ...] = ("x",), **more: Any) -> None:
    """Enter an operation whose kernel students write, in `minigrad.operators`.

    Its class, unless ``written=False`` is among the further attributes, they write as well.
    """
    _enter(name, sentence, inputs, function, {"written": True} | more)


def _enter(name: str, sentence: str, inputs: tuple[str, ...], function: str, more: dict[str, Any]) -> None:
    names = dict.fromkeys(("generic", "method"), name if len(inputs) == 1 else "")
    OPS[name] = Op(name, sentence, inputs, function or name.capitalize(), **names | {"torch": name} | more)


def kernels_in(names: Mapping[str, Any]) -> list[str]:
    """Return which operators of the table stand among a module's names."""
    return [name for name in OPS if name in names]

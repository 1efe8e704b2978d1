"""One step back: from the gradient of a result to the gradients of its inputs.

On arrays there are three ways. A function that is not elementwise runs its rule. An elementwise rule of a small tensor
has a quick form (`minigrad.quick.functions`), or runs on NumPy arrays. That of a large tensor is traced once, with
symbols, and computed as one fused loop for each gradient. On tensors the rule runs as it is written, and can be
recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import autodiff
from minigrad.backends import arrays
from minigrad.backward import changes
from minigrad.backward.changes import check_unchanged, was_changed
from minigrad.backward.tracing import Symbol
from minigrad.engine import context_of
from minigrad.functions import OUTPUT, Function, saved_pattern
from minigrad.machine import overrides

if TYPE_CHECKING:
    from minigrad.operators import Expression
    from minigrad.tensors import Tensor

Rules = dict[type[Function], Callable[..., Any]]

rules: Rules = {}
"""Quick forms of rules, by function: `minigrad.quick.functions` declares them."""

sums: dict[str, Callable[..., Any]] = {}
"""Quick forms of adding up to an input's shape: `minigrad.quick.engine` declares them."""

output_serves: dict[type[Function], bool] = {}
"""Functions whose rule gives the same for the output as for the input that it saves."""


class _Saved:
    """The least that a rule needs of a context."""

    __slots__ = ("saved_values",)

    def __init__(self, saved_values: tuple[Any, ...]) -> None:
        self.saved_values = saved_values


def step_on_arrays(result: Tensor, d_output: Any) -> Sequence[Any]:
    """Return the gradient arrays of a result's inputs; None for those that want none."""
    function, inputs, ctx = result._fn, result._inputs, result._ctx
    if ctx is not None:
        if not function.raw:
            return step_as_written(result, d_output)
        usable(result, ctx.saved_values)
        derivatives: Any = function.backward(ctx, d_output)
        return derivatives if derivatives.__class__ is tuple else (derivatives,)
    small = d_output.size < arrays.LARGE
    rule = rules.get(function) if small else None
    if rule is not None and changes.last_change < result._tick:
        return rule(d_output, result)  # type: ignore[no-any-return]
    values = [getattr(x, "_array", x) for x in inputs]
    places = saved_pattern(function, len(inputs))
    as_saved = tuple([result._array if place == OUTPUT else values[place] for place in places])
    saved = usable(result, as_saved, result._array)
    if rule is not None and saved is as_saved:
        return rule(d_output, result)  # type: ignore[no-any-return]
    if small or d_output.dtype.kind != "f":
        return function._backward(_with_count(saved, inputs), d_output)  # type: ignore[no-any-return]
    return _fused_step(result, d_output, saved)


def usable(result: Tensor, saved: tuple[Any, ...], output: Any = None) -> tuple[Any, ...]:
    """Return the values that a result's rule may be given, as none that a wanted gradient uses was changed.

    Args:
        result: The result.
        saved: What its function saved.
        output: The result as the rule would be given it, for rules that it serves in place of an input.

    Raises:
        GraphError: If one was changed in place after it was used.
    """
    if changes.last_change < result._tick:
        return saved
    needed = [saved[place] for place in _needed(result, len(saved))]
    if output is not None and result._fn in output_serves and not was_changed(result, output):
        return (output,) if any(was_changed(result, value) for value in needed) else saved
    check_unchanged(result, needed)
    return saved


def _needed(result: Tensor, saved: int) -> Sequence[int]:
    """Return which of the values that a function saved the gradients of its inputs use that are wanted."""
    function, inputs = result._fn, result._inputs
    wanted = [getattr(x, "requires_grad", False) for x in inputs]
    if function.crosswise:
        return [place for place in range(saved) if any(wanted[:place] + wanted[place + 1 : saved])]
    expressions = _expressions(function, len(inputs), saved) if result._ctx is None else None
    if expressions is None:
        return range(saved)
    used = [each[1] for each, wants in zip(expressions, wanted, strict=True) if wants and each is not None]
    return sorted({place - 1 for places in used for place in places if place})


class _Counted(_Saved):
    """The same, knowing how many inputs there were."""

    __slots__ = ("values",)

    values: Sequence[Any]

    def as_variables(self) -> _Counted:
        """Return itself: a rule that is traced is given symbols already."""
        return self


def _with_count(saved: tuple[Any, ...], inputs: Sequence[Any]) -> Any:
    ctx = _Counted(saved)
    ctx.values = inputs
    return ctx


def _fused_step(result: Tensor, d_output: Any, saved: tuple[Any, ...]) -> Sequence[Any]:
    """Compute an elementwise rule of a large tensor: one loop for each gradient, summed to its shape at once."""
    function, inputs = result._fn, result._inputs
    expressions = _expressions(function, len(inputs), len(saved))
    if expressions is None:
        with np.errstate(all="ignore"):
            return function._backward(_with_count(saved, inputs), d_output)  # type: ignore[no-any-return]
    dtype, gradients, evaluate = d_output.dtype, list[Any](), sums.get("evaluate_and_sum")
    operands = (d_output, *[x if getattr(x, "dtype", dtype).kind != "f" else arrays.cast_to(x, dtype) for x in saved])
    for x, expression in zip(inputs, expressions, strict=True):
        if expression is None or not getattr(x, "requires_grad", False):
            gradients.append(None)
        elif expression == UNCHANGED:
            gradients.append(d_output)
        else:
            formula, used = expression
            given = [operands[i] for i in used]
            if evaluate is not None:
                gradients.append(evaluate(formula, given, x._array.shape, dtype))
            else:  # the pass adds up what is too large
                gradients.append(arrays.evaluate(formula, given, dtype))
    return gradients


UNCHANGED = (("in", 0), (0,))
"""The expression of a rule that hands its gradient on."""


def _compact(expression: Expression) -> Any:
    """Return an expression that numbers only the inputs it uses, and which these are."""
    if expression is None:
        return None
    used = tuple(sorted(_inputs_of(expression)))
    return _renumbered(expression, {old: new for new, old in enumerate(used)}), used


def _inputs_of(expression: Expression) -> set[int]:
    if expression[0] == "in":
        return {expression[1]}
    return set().union(*(_inputs_of(x) for x in expression[1:] if isinstance(x, tuple)))


def _renumbered(expression: Expression, places: dict[int, int]) -> Any:
    if expression[0] == "in":
        return "in", places[expression[1]]
    return tuple(_renumbered(x, places) if isinstance(x, tuple) else x for x in expression)


@overrides.until_change
def _expressions(function: type[Function], n: int, saved: int) -> Sequence[Any] | None:
    """Return each gradient's expression, and which of (d_output, *saved) it uses; None if a rule cannot be traced."""
    symbols = [Symbol(("in", i)) for i in range(saved + 1)]
    ctx = _with_count(tuple(symbols[1:]), range(n))
    try:
        return [_compact(Symbol.expression_of(g)) for g in function._backward(ctx, symbols[0])]
    except Exception:  # whatever a rule does to a symbol: it is then given the arrays themselves
        return None


def step_as_written(result: Tensor, d_output: Any) -> Sequence[Any]:
    """Run a rule on tensors without recording: that of a user's function, or of a result on a device."""
    tensor = result._of_array
    with autodiff.no_grad():
        derivatives = step_on_tensors(result, tensor(d_output))
    return [getattr(d, "_array", d) for d in derivatives]


def step_on_tensors(result: Tensor, d_output: Tensor) -> Sequence[Any]:
    """Return the gradients, tensors, of a result's inputs, recorded if recording is on."""
    ctx = context_of(result)
    ctx.saved_values = usable(result, ctx.saved_values, result)
    return result._fn._backward(ctx, d_output)  # type: ignore[no-any-return]

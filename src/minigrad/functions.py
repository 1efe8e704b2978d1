"""Differentiable functions: one small class for each operation.

A function says three things about itself. Its *kernel* computes the value, from floats. Its *backward* rule takes
the derivative of the final result with respect to the output and returns that with respect to each input: the chain
rule, one link of it. Its *jvp* rule goes the other way, from a change of the inputs to the change of the output.

The rules are written with differentiable operators only (``+``, ``*``, `where`, `cos`, ...). That is why one rule
serves floats, `Scalar` objects and, since its own result can be differentiated again, higher derivatives.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, cast

from minigrad import operators
from minigrad.autodiff import Context
from minigrad.elementwise.entry import OPS, Op
from minigrad.errors import FunctionError
from minigrad.machine import overrides

if TYPE_CHECKING:
    from minigrad.elementwise.derived import *  # noqa: F403 (what the table gives is made below, at the end)
    from minigrad.elementwise.derived import cos, where

__all__ = [
    "Add",
    "Div",
    "Dot",
    "Elementwise",
    "Exp",
    "Function",
    "Inv",
    "Log",
    "Mul",
    "Neg",
    "ReLU",
    "Sigmoid",
    "Sin",
    "all_functions",
    "dot",
]


apply_to_numbers: Any = None
"""Applies a function to numbers alone: `minigrad.scalar`, which stands on this module, sets it."""


class Function:
    """A differentiable function, to be subclassed with ``forward`` and ``backward``; neither is called directly.

    ``Square.apply(x)`` computes ``Square.forward`` and notes in the result how to run ``Square.backward``:

        class Square(Function):
            @staticmethod
            def forward(ctx, a):
                ctx.save_for_backward(a)
                return a * a

            @staticmethod
            def backward(ctx, d_output):
                (a,) = ctx.saved_values
                return d_output * 2.0 * a

    >>> class Twice(minigrad.Function):
    ...     @staticmethod
    ...     def forward(ctx, a):
    ...         return 2.0 * a
    ...
    ...     @staticmethod
    ...     def backward(ctx, d_output):
    ...         return 2.0 * d_output
    ...
    >>> x = minigrad.Scalar(5.0)
    >>> Twice.apply(x).backward()
    >>> x.grad
    2.0
    """

    differentiable: ClassVar[bool] = True
    raw: ClassVar[bool] = False
    """True: forward gets the arrays of tensors, and backward may too. False: both get tensors."""
    crosswise: ClassVar[bool] = False
    """True: forward saves its first inputs, and the gradient of each is made of the others: a product's."""
    add_back: ClassVar[Callable[[Any, Any, Any], bool] | None] = None
    """Adds to an array what backward would return, given ctx, d_output and the array; False: it could not."""
    _forward_alone: ClassVar[Callable[..., Any]]
    """Of a class with a `setup_context`: its forward as it was written, without ctx."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "backward" in cls.__dict__ and "add_back" not in cls.__dict__:
            cls.add_back = None  # which belongs to the rule that this class replaces
        if cls.setup_context is not Function.setup_context and not {"forward", "setup_context"}.isdisjoint(vars(cls)):
            if "forward" in vars(cls) or not hasattr(cls, "_forward_alone"):
                cls._forward_alone = cls.forward
            cls.forward = _in_two_steps(cls)  # type: ignore[method-assign]

    @staticmethod
    def forward(ctx: Any, *values: Any, **options: Any) -> Any:
        """Compute the result from the inputs' values, and save in ctx what backward will need."""
        raise FunctionError("a Function needs a forward(ctx, *values)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save in ctx what backward will need, for a class whose ``forward(*values)`` is written without ctx."""

    @staticmethod
    def backward(ctx: Any, d_output: Any) -> Any:
        """Return d_output times the derivative in each input: one value, or a tuple of one for each input."""
        raise FunctionError("a Function needs a backward(ctx, d_output) to be differentiated")

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        """Return the change of the output for a change of each input (None where an input stays)."""
        raise FunctionError(f"{cls.__name__} has no forward-mode rule: give it a jvp(ctx, *tangents)")

    @classmethod
    def apply(cls, *inputs: Any, **options: Any) -> Any:
        """Apply the function to numbers and variables, and record it where a variable asks for gradients.

        Args:
            *inputs: Variables and numbers: forward's arguments.
            **options: Further arguments of forward, such as an axis, for functions of tensors; no derivative is
                asked of them.

        >>> x = minigrad.Scalar(3.0)
        >>> minigrad.functions.Add.apply(x, 2.0).item()
        5.0
        """
        for x in inputs:
            if hasattr(x, "chain_rule"):
                return type(x)._apply(cls, inputs, **options)
        return apply_to_numbers(cls, inputs)

    @classmethod
    def _forward(cls, ctx: Context, *values: float) -> float:
        """Run forward, and keep in ctx the values that came in and the one that came out, a number."""
        ctx.values = values = tuple([value * 1.0 for value in values])  # a float object for each: see `Context`
        try:
            result = cls.forward(ctx, *values)
        except TypeError:
            _check_arity(cls, len(values))
            raise
        ctx.result = result
        if not isinstance(result, Real):
            raise FunctionError(f"{cls.__name__}.forward returned {type(result).__name__}; it must return a number")
        return float(result)

    @classmethod
    def _backward(cls, ctx: Context, d_output: Any) -> tuple[Any, ...]:
        """Run backward, and return a tuple of exactly one derivative for each input."""
        ctx = ctx.as_variables() if hasattr(d_output, "chain_rule") else ctx
        try:
            result = cls.backward(ctx, d_output)
        except (ZeroDivisionError, OverflowError):
            if hasattr(d_output, "chain_rule"):  # variables follow IEEE 754 already: it is the rule's own mistake
                raise
            result = _backward_in_ieee(cls, ctx, d_output)
        if result is None:
            raise FunctionError(f"{cls.__name__}.backward returned nothing: return one derivative for each input")
        derivatives = tuple(result) if isinstance(result, tuple | list) else (result,)
        further = derivatives[len(ctx.values) :]
        if further and all(d is None for d in further):  # those of arguments left out, as in PyTorch
            derivatives = derivatives[: len(ctx.values)]
        if len(derivatives) != len(ctx.values):
            raise FunctionError(
                f"{cls.__name__}.backward returned {len(derivatives)} derivatives for {len(ctx.values)} inputs: "
                "return one for each input, in the order of forward's arguments"
            )
        return tuple([0.0 if d is None else d for d in derivatives])  # None: no derivative, as in PyTorch


def _in_two_steps(cls: type[Function]) -> Any:
    """Return a ``forward(ctx, *values)`` of a class that has a forward without ctx, and a `setup_context`."""

    def forward(ctx: Any, *values: Any, **options: Any) -> Any:
        output = cls._forward_alone(*values, **options)
        cls.setup_context(ctx, values, output)
        return output

    return staticmethod(forward)


def _check_arity(function: type[Function], given: int, options: dict[str, Any] | None = None) -> None:
    """Raise TypeError in plain words if forward does not take that many values, and these options."""
    try:
        inspect.signature(function.forward).bind(None, *[0.0] * given, **(options or {}))
    except TypeError:
        wanted = len(inspect.signature(function.forward).parameters) - 1
        raise TypeError(f"{function.__name__} takes {wanted} inputs, got {given}") from None


def _backward_in_ieee(function: type[Function], ctx: Context, d_output: Any) -> Any:
    """Run a rule again on NumPy's floats, which divide by zero and overflow as IEEE 754 says."""
    import numpy as np

    with np.errstate(all="ignore"):
        return function.backward(ctx.map(np.float64), np.float64(d_output))


class Elementwise(Function):
    """A function of numbers whose forward follows from its kernel.

    Attributes:
        kernel: The name of the function in `minigrad.operators` (looked up late, so that it can be replaced).
        saves_output: Whether backward is given the output instead of the inputs.
        saves_inputs: Whether backward is given the inputs, where not the output.
    """

    kernel: ClassVar[str]
    saves_output: ClassVar[bool] = False
    saves_inputs: ClassVar[bool] = True

    @classmethod
    def _from_kernel(cls, ctx: Context, *values: float) -> float:
        """Compute the kernel, and save the inputs or the output."""
        output: float = getattr(operators, cls.kernel)(*values)
        ctx.save_for_backward(*((output,) if cls.saves_output else values if cls.saves_inputs else ()))
        return output

    # A class method here, a static method in subclasses that write their own: both are called as forward(ctx, ...).
    forward: ClassVar[Callable[..., Any]] = _from_kernel

    @classmethod
    def jvp(cls, ctx: Context, *tangents: Any) -> Any:
        """Add up the derivative in each input times its tangent.

        A number has one derivative in each input, so backward's rule multiplies a tangent as well.
        """
        terms = [cls._backward(ctx, t)[i] for i, t in enumerate(tangents) if t is not None]
        return sum(terms[1:], terms[0]) if terms else 0.0


# --- what an elementwise function saves, inputs or the output: it is found out once ------------------------


OUTPUT = -1
"""Stands for the output in the pattern of what a function saves."""


@overrides.until_change
def saved_pattern(function: type[Elementwise], n: int) -> tuple[int, ...]:
    """Return which inputs (by number) or output (-1) an elementwise function saves: its forward is asked with floats.

    Args:
        function: The function.
        n: The number of its inputs.

    Raises:
        FunctionError: If it saves anything else; a tensor's rule needs to know where a value came from.
    """
    ctx = Context()
    values = [x * 1.0 for x in (0.5, 0.25, 0.75)[:n]]
    output = function.forward(ctx, *values)
    return tuple(_place_of(saved, values, output, function) for saved in ctx.saved_values)


def _place_of(saved: Any, values: Sequence[float], output: Any, function: type[Function]) -> int:
    for place, value in enumerate(values):
        if saved is value:
            return place
    if saved is output:
        return OUTPUT
    raise FunctionError(
        f"{function.__name__}.forward saved {saved!r}, which is neither an input nor its output: for tensors a rule "
        "can only be given those"
    )


# --- arithmetic ---------------------------------------------------------------------------------------------


class Add(Elementwise):
    """a + b.

    >>> minigrad.functions.Add.apply(2.0, 3.0)
    Scalar(5.0, requires_grad=False)
    """

    kernel = "add"
    saves_inputs = False

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Each input moves the output one for one."""
        return d_output, d_output


class Mul(Elementwise):
    """a * b."""

    kernel = "mul"  # the library's alone

    @staticmethod
    def forward(ctx: Context, a: float, b: float) -> float:
        """Save what backward needs, and return a * b."""
        ### BEGIN SOLUTION
        ctx.save_for_backward(a, b)
        return operators.mul(a, b)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Return d_output times the derivative in a, and the same for b."""
        ### BEGIN SOLUTION
        a, b = ctx.saved_values
        return d_output * b, d_output * a
        ### END SOLUTION


class Div(Elementwise):
    """a / b.

    >>> x = minigrad.Scalar(2.0)
    >>> minigrad.functions.Div.apply(1.0, x).backward()
    >>> x.grad
    -0.25
    """

    kernel = "div"

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """The derivatives are 1 / b and -a / b^2."""
        a, b = ctx.saved_values
        return d_output / b, _through_inverse(b, d_output * a)


def _through_inverse(b: Any, d_output: Any) -> Any:
    """Return d_output times the derivative of 1 / b, by the rule of `Inv`, which may be a student's."""
    ctx = Context()
    ctx.values = (b,)
    if isinstance(b, Real):
        Inv.forward(ctx, cast(float, b))
    else:
        ctx.save_for_backward(*[1.0 / b if place == OUTPUT else b for place in saved_pattern(Inv, 1)])
    derivative = Inv.backward(ctx, d_output)
    return derivative[0] if isinstance(derivative, tuple | list) else derivative


class Neg(Elementwise):
    """-a."""

    kernel = "neg"  # the library's alone

    @staticmethod
    def forward(ctx: Context, a: float) -> float:
        """Save what backward needs, if anything, and return -a."""
        ### BEGIN SOLUTION
        return operators.neg(a)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Return d_output times the derivative in a."""
        ### BEGIN SOLUTION
        return -d_output
        ### END SOLUTION


class Inv(Elementwise):
    """1 / a."""

    kernel = "inv"  # the library's alone

    @staticmethod
    def forward(ctx: Context, a: float) -> float:
        """Save what backward needs, and return 1 / a."""
        ### BEGIN SOLUTION
        ctx.save_for_backward(a)
        return operators.inv(a)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Return d_output times the derivative in a."""
        ### BEGIN SOLUTION
        (a,) = ctx.saved_values
        return -d_output / (a * a)
        ### END SOLUTION


class Dot(Function):
    """start + x1 y1 + ... + xn yn, of the 2n + 1 inputs (start, x1 ... xn, y1 ... yn).

    >>> x, y = minigrad.Scalar(3.0), minigrad.Scalar(4.0)
    >>> minigrad.functions.Dot.apply(1.0, x, y).backward()
    >>> x.grad, y.grad
    (4.0, 3.0)
    """

    @staticmethod
    def forward(ctx: Context, *values: float) -> float:
        """Add up the products, from the left."""
        ctx.save_for_backward(*values)
        n = len(values) // 2
        return sum(map(operators.mul, values[1 : n + 1], values[n + 1 :]), values[0])

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Each x moves the output by its y, and each y by its x."""
        n = len(ctx.saved_values) // 2
        xs, ys = ctx.saved_values[1 : n + 1], ctx.saved_values[n + 1 :]
        return (d_output, *[d_output * y for y in ys], *[d_output * x for x in xs])

    @classmethod
    def jvp(cls, ctx: Context, *tangents: Any) -> Any:
        """Add up the derivative in each input times its tangent."""
        slopes = cls._backward(ctx, 1.0)
        return sum(slope * t for slope, t in zip(slopes, tangents, strict=True) if t is not None)


# --- elementary functions -----------------------------------------------------------------------------------


class Log(Elementwise):
    """The natural logarithm of a."""

    kernel = "log"  # the library's alone

    @staticmethod
    def forward(ctx: Context, a: float) -> float:
        """Save what backward needs, and return log a."""
        ### BEGIN SOLUTION
        ctx.save_for_backward(a)
        return operators.log(a)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Return d_output times the derivative in a."""
        ### BEGIN SOLUTION
        (a,) = ctx.saved_values
        return d_output / a
        ### END SOLUTION


class Exp(Elementwise):
    """e to the power a."""

    kernel = "exp"  # the library's alone

    @staticmethod
    def forward(ctx: Context, a: float) -> float:
        """Save what backward needs, and return e^a."""
        ### BEGIN SOLUTION
        output = operators.exp(a)
        ctx.save_for_backward(output)
        return output
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Return d_output times the derivative in a."""
        ### BEGIN SOLUTION
        (output,) = ctx.saved_values
        return d_output * output
        ### END SOLUTION


class Sigmoid(Elementwise):
    """1 / (1 + e^-a)."""

    kernel = "sigmoid"  # the library's alone

    @staticmethod
    def forward(ctx: Context, a: float) -> float:
        """Save what backward needs, and return sigmoid a."""
        ### BEGIN SOLUTION
        output = operators.sigmoid(a)
        ctx.save_for_backward(output)
        return output
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Return d_output times the derivative in a."""
        ### BEGIN SOLUTION
        (output,) = ctx.saved_values
        return d_output * output * (1.0 - output)
        ### END SOLUTION


class ReLU(Elementwise):
    """a where it is positive, else 0."""

    kernel = "relu"  # the library's alone

    @staticmethod
    def forward(ctx: Context, a: float) -> float:
        """Save what backward needs, and return relu a."""
        ### BEGIN SOLUTION
        ctx.save_for_backward(a)
        return operators.relu(a)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Return d_output where a is positive, else 0."""
        ### BEGIN SOLUTION
        (a,) = ctx.saved_values
        return where(a <= 0.0, 0.0, d_output)
        ### END SOLUTION


class Sin(Elementwise):
    """The sine of a.

    >>> x = minigrad.Scalar(0.0)
    >>> minigrad.functions.Sin.apply(x).backward()
    >>> x.grad
    1.0
    """

    kernel = "sin"

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """The derivative is cos a."""
        (a,) = ctx.saved_values
        return d_output * cos(a)


# --- the same functions for floats and variables, used by the rules above -----------------------------------


def _generic(function: type[Elementwise], *inputs: Any) -> Any:
    """Apply to variables with recording, to arrays and plain numbers without."""
    for x in inputs:  # a loop: `any` of a generator takes three times as long as a kernel
        if hasattr(x, "chain_rule"):
            return function.apply(*inputs)
    for x in inputs:
        if hasattr(x, "dtype") and x.ndim:
            from minigrad.backends import arrays  # only who has arrays needs NumPy

            return arrays.elementwise(function.kernel, *inputs)
    return getattr(operators, function.kernel)(*inputs)


def dot(xs: Sequence[Any], ys: Sequence[Any], start: Any = 0.0) -> Any:
    """Return start + x1 y1 + ... + xn yn, as one operation instead of 2n.

    Raises:
        ValueError: If xs and ys are not of one length.

    >>> minigrad.functions.dot([1.0, 2.0], [minigrad.Scalar(3.0), 4.0]).item()
    11.0
    """
    if len(xs) != len(ys):
        raise ValueError(f"dot: {len(xs)} numbers times {len(ys)}; both sequences must have the same length")
    return Dot.apply(start, *xs, *ys)


def all_functions() -> Sequence[type[Function]]:
    """Return every function of this module, for tests that must cover them all.

    >>> "Tanh" in {function.__name__ for function in minigrad.functions.all_functions()}
    True
    """
    own = [value for value in globals().values() if isinstance(value, type) and issubclass(value, Function)]
    return [function for function in own if function not in (Function, Elementwise)]


# --- what the table gives: the classes and functions of the operations that nobody writes -------------------


def _class_of(op: Op) -> type[Elementwise]:
    """Make the class of an operation whose rule stands in the table; without a rule, its result is a constant."""
    wanted, saves_output = len(op.saves), op.saves == ("out",)

    def backward(ctx: Context, d_output: Any) -> Any:
        """Return d_output times the derivative."""
        if op.rule is None:
            return (0.0,) * len(op.inputs)
        saved = ctx.saved_values
        if len(saved) != wanted:  # in a context that another forward has filled
            some = "not enough" if len(saved) < wanted else "too many"
            raise ValueError(f"{some} values to unpack (expected {wanted}, got {len(saved)})")
        return op.rule(sys.modules[__name__], d_output, *saved)

    backward.__qualname__ = f"{op.function}.backward"
    return type(
        op.function,
        (Elementwise,),
        {
            "__doc__": op.sentence.replace("Return", "Computes", 1),
            "__module__": __name__,
            "kernel": op.name,
            "saves_output": saves_output,
            "saves_inputs": bool(op.saves) and not saves_output,
            "differentiable": op.rule is not None,
            "backward": staticmethod(backward),
        },
    )


def _function_of(op: Op) -> Callable[..., Any]:
    """Make the function of an operation that takes numbers and variables."""

    def function(*inputs: Any) -> Any:
        return _generic(globals()[op.function], *inputs)

    function.__name__ = function.__qualname__ = op.generic
    function.__doc__ = op.sentence
    function.__dict__["__signature__"] = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in op.inputs]
    )
    return function


for _op in OPS.values():
    if not _op.written:
        globals()[_op.function] = _class_of(_op)
    if _op.generic:
        globals()[_op.generic] = _function_of(_op)
__all__ += [name for op in OPS.values() for name in (op.function, op.generic) if name not in {*__all__, ""}]

"""Scalar: a number that remembers how it was computed.

    x = Scalar(3.0)
    y = x * x + 1.0
    y.backward()
    x.grad                      # 6.0

Every operator applies a `Function`, and `record` lets the result remember that. The module
`minigrad.quick.scalar` replaces these methods by equal, quicker ones, for as long as no student's function stands in
for one of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from minigrad import autodiff, functions
from minigrad.autodiff import Context, History, is_grad_enabled
from minigrad.elementwise.entry import OPS, Op
from minigrad.errors import GraphError

if TYPE_CHECKING:
    from minigrad.autodiff import Variable
    from minigrad.elementwise.derived import OfScalars
    from minigrad.functions import Function
else:
    OfScalars = object  # its methods are made below, of the table

__all__ = ["Arithmetic", "Scalar", "operate", "record"]


def record(function: type[Function], inputs: Sequence[Any]) -> Scalar:
    """Apply a function to scalars and numbers; the result remembers how it was made.

    A number among the inputs counts as a constant: ``Scalar(x, requires_grad=False)``.
    ``function._forward(ctx, *values)`` runs forward on the inputs' values, their
    ``data``, and returns a number; ctx is a new ``Context()``, into which forward puts
    what backward needs.

    Set ``result.history`` to ``History(function, ctx, scalars)``, and the result
    remembers. It is set only where somebody may want a derivative: recording is on,
    which ``is_grad_enabled()`` says; the function is differentiable, which
    ``function.differentiable`` says (a comparison is not); and at least one input is no
    constant. Otherwise the result is a constant, too.

    Args:
        function: The function, such as ``functions.Mul``.
        inputs: Scalars and numbers, in the order of forward's arguments.

    Returns:
        The result, a new Scalar.
    """
    ### BEGIN SOLUTION
    scalars = [x if isinstance(x, Scalar) else Scalar(x, requires_grad=False) for x in inputs]
    ctx = Context()
    result = Scalar(function._forward(ctx, *[x.data for x in scalars]), requires_grad=False)
    is_wanted = not all(x.is_constant() for x in scalars)
    if is_wanted and is_grad_enabled() and function.differentiable:
        result.history = History(function, ctx, scalars)
    return result
    ### END SOLUTION


def operate(function: type[Function], *inputs: Any) -> Scalar:
    """Apply a function for an operator, to Scalars and numbers.

    Returns:
        What `record` returns; NotImplemented where an operand is neither a Scalar nor a number. Python then asks that
        operand's own method, and raises its TypeError where there is none.

    >>> minigrad.scalar.operate(minigrad.functions.Add, 2.0, minigrad.Scalar(3.0)).item()
    5.0
    """
    if all(isinstance(x, Scalar | Real) for x in inputs):
        return Scalar._apply(function, inputs)
    return cast("Scalar", NotImplemented)


class Arithmetic:
    """What a Scalar does for ``-`` and ``*``, with a Scalar or a number on either side.

    ``operate(functions.Mul, a, b)`` applies a function to two operands, and its result
    remembers that. Either operand may be a number.
    """

    __slots__ = ()

    def __sub__(self, other: Any) -> Any:
        """Return ``self - other``."""
        ### BEGIN SOLUTION
        return operate(functions.Sub, self, other)
        ### END SOLUTION

    def __rsub__(self, other: Any) -> Any:
        """Return ``other - self``, where other is a number."""
        ### BEGIN SOLUTION
        return operate(functions.Sub, other, self)
        ### END SOLUTION

    def __mul__(self, other: Any) -> Any:
        """Return ``self * other``."""
        ### BEGIN SOLUTION
        return operate(functions.Mul, self, other)
        ### END SOLUTION

    def __rmul__(self, other: Any) -> Any:
        """Return ``other * self``, where other is a number."""
        ### BEGIN SOLUTION
        return operate(functions.Mul, other, self)
        ### END SOLUTION


class Scalar(Arithmetic, OfScalars):
    """A differentiable number.

    Args:
        data: The value: an int, a float or a NumPy number.
        requires_grad: True makes a variable, a leaf of the graph that `backward` gives a derivative; False makes a
            constant. (PyTorch's default is False; here a Scalar that is made by hand is there to be differentiated.)
        name: A name for printing and drawing.

    Attributes:
        data: The value, a float.
        grad: The derivative that backward passes have added up here, or None: a float, or a Scalar where backward
            was called with ``create_graph=True``.
        requires_grad: Whether the value depends on a variable.

    Raises:
        TypeError: If data is not a real number.

    >>> x = minigrad.Scalar(3.0)
    >>> (x * x + 1.0).backward()
    >>> x.grad
    6.0
    """

    # A result keeps its function and inputs in slots instead of objects, which makes an operation three times
    # quicker. One or two inputs: `_a` and `_b`, with the derivatives in them `_da` and `_db`. Any other number:
    # `_b` is the tuple of inputs, and `_db` the Context of the function (see `minigrad.quick.scalar` for more).
    __slots__ = ("_a", "_b", "_da", "_db", "_delta", "_fn", "_name", "_uses", "data", "grad", "requires_grad")

    _delta: float  # the derivative so far, written by a running backward pass only

    if TYPE_CHECKING:  # what students write says Any

        def __sub__(self, other: Scalar | float) -> Scalar: ...
        def __rsub__(self, other: Scalar | float) -> Scalar: ...
        def __mul__(self, other: Scalar | float) -> Scalar: ...
        def __rmul__(self, other: Scalar | float) -> Scalar: ...

    __array_ufunc__ = None  # NumPy leaves `number * scalar` to us

    def __init__(self, data: Any, requires_grad: bool = True, name: str | None = None) -> None:
        if data.__class__ is not float:
            if not isinstance(data, Real):
                raise TypeError(f"Scalar({data!r}): the value must be a real number, not {type(data).__name__}")
            data = float(data)
        self.data: float = data
        self.grad: Any = None
        self.requires_grad = requires_grad
        self._fn: type[Function] | None = None
        self._a: Any = None
        self._b: Any = None
        self._da: Any = None
        self._db: Any = None
        self._uses = 0
        if name is not None:
            self._name = name

    @classmethod
    def _apply(cls, function: type[Function], inputs: Sequence[Any]) -> Scalar:
        """Compute a function of scalars and numbers, and record it if a variable is among them."""
        return record(function, inputs)

    @property
    def unique_id(self) -> int:
        """A number that no other living object has."""
        return id(self)

    @property
    def name(self) -> str:
        """The name given by the user, or the unique id.

        >>> minigrad.Scalar(3.0, name="x").name
        'x'
        """
        return getattr(self, "_name", None) or str(self.unique_id)

    @name.setter
    def name(self, name: str) -> None:
        self._name = name

    @property
    def parents(self) -> tuple[Scalar, ...]:
        """The inputs of the function that made this value, constants included; none for a leaf.

        >>> x = minigrad.Scalar(3.0)
        >>> (x * 2.0).parents[0] is x
        True
        """
        if self._fn is None:
            return ()
        if self._db is FREED:
            raise _freed(self)
        if self._a is None:
            inputs = self._da or self._b
        elif self._b is not None:
            inputs = (self._a, self._b)
        elif isinstance(self._db, tuple):  # number op variable
            inputs = (*self._db, self._a)
        else:
            inputs = (self._a,) if self._db is None else (self._a, self._db)
        return tuple(x if isinstance(x, Scalar) else Scalar(x, requires_grad=False) for x in inputs)

    @property
    def history(self) -> History | None:
        """How this value was made: empty for a leaf, None for a constant.

        What is written here decides which of them the value is: a `History` with a function makes it a result.

        >>> minigrad.Scalar(3.0, requires_grad=False).history is None
        True
        """
        if not self.requires_grad:
            return None
        if self._fn is None:
            return History()
        inputs = self.parents
        if isinstance(self._db, Context):
            ctx = self._db
        else:  # computed by a quicker twin: let the function itself say what it saves
            ctx = Context()
            if not _same(self._fn._forward(ctx, *[x.data for x in inputs]), self.data):
                raise GraphError(f"backward: an input of {self._fn.__name__} was changed after it was used")
        return History(self._fn, ctx.bind(inputs, self), inputs)

    @history.setter
    def history(self, history: History | None) -> None:
        if history is not None and not isinstance(history, History):
            raise TypeError(f"history: a History or None, not {type(history).__name__}")
        made_by = history or History()
        if made_by.last_fn is not None and not isinstance(made_by.ctx, Context):
            raise TypeError(f"history: the ctx of a result is a Context, not {type(made_by.ctx).__name__}")
        self.requires_grad = history is not None
        self._fn, self._db = made_by.last_fn, made_by.ctx
        self._a = self._da = None
        self._b = tuple(made_by.inputs) if made_by.last_fn is not None else None

    def is_leaf(self) -> bool:
        """Return whether this is a variable made by the user.

        >>> x = minigrad.Scalar(3.0)
        >>> x.is_leaf(), (x * 2.0).is_leaf()
        (True, False)
        """
        return self.requires_grad and self._fn is None

    def is_constant(self) -> bool:
        """Return whether no derivative is wanted here, or beyond.

        >>> minigrad.Scalar(3.0, requires_grad=False).is_constant()
        True
        """
        return not self.requires_grad

    def chain_rule(self, d_output: Any) -> Iterable[tuple[Variable, Any]]:
        """Return each input that is not constant, with its derivative (see `autodiff.chain_rule`)."""
        return autodiff.chain_rule(self, d_output)

    def accumulate_derivative(self, x: Any) -> None:
        """Add x to the derivative of this leaf.

        >>> x = minigrad.Scalar(3.0)
        >>> x.accumulate_derivative(2.0)
        >>> x.accumulate_derivative(0.5)
        >>> x.grad
        2.5
        """
        if not self.is_leaf():
            raise GraphError("accumulate_derivative: only a leaf stores a derivative, not a constant or a result")
        x = x if isinstance(x, Scalar) else float(x)
        self.grad = x if self.grad is None else self.grad + x

    @property
    def derivative(self) -> Any:
        """The same as grad, by MiniTorch's name.

        >>> x = minigrad.Scalar(3.0)
        >>> (x * x).backward()
        >>> x.derivative
        6.0
        """
        return self.grad

    @derivative.setter
    def derivative(self, value: Any) -> None:
        self.grad = value

    @property
    def grad_fn(self) -> type[Function] | None:
        """The function that made this value; None for leaves and constants.

        >>> x = minigrad.Scalar(3.0)
        >>> x.grad_fn is None, (x * x).grad_fn.__name__
        (True, 'Mul')
        """
        return self._fn

    def backward(self, gradient: Any = None, retain_graph: bool = True, create_graph: bool = False) -> None:
        """Add the derivative of this value to the ``grad`` of every leaf that it depends on.

        Args:
            gradient: The derivative to start from; 1.0 if None.
            retain_graph: False frees the graph afterwards. (PyTorch frees it by default, to save memory; a graph of
                scalars is small, and a second look at it teaches.)
            create_graph: True records the backward pass itself, so that the gradients, then Scalars, can be
                differentiated again.

        Raises:
            GraphError: If no variable is behind this value, or the graph was freed.

        >>> x = minigrad.Scalar(3.0)
        >>> y = x * x
        >>> y.backward()
        >>> y.backward()
        >>> x.grad
        12.0
        """
        if not self.requires_grad:
            raise GraphError(
                "backward: this Scalar depends on no variable (it is a constant, or was computed under no_grad)"
            )
        if gradient is None:
            gradient = 1.0
        elif not isinstance(gradient, Scalar | Real):
            raise TypeError(f"backward: gradient must be a number or a Scalar, not {type(gradient).__name__}")
        if create_graph:
            start = gradient if isinstance(gradient, Scalar) else Scalar(gradient, requires_grad=False)
            with autodiff.enable_grad():
                autodiff.backpropagate(self, start)
        else:
            self._backpropagate(float(gradient))
        if not retain_graph:
            _free(self)

    def _backpropagate(self, gradient: float) -> None:
        with autodiff.no_grad():
            autodiff.backpropagate(self, gradient)

    def requires_grad_(self, requires_grad: bool = True) -> Scalar:
        """Make this leaf a variable or a constant, and return it.

        >>> minigrad.Scalar(3.0).requires_grad_(False).is_constant()
        True
        """
        if self._fn is not None:
            raise GraphError("requires_grad_: only a leaf can be changed; use detach() to cut a result off its graph")
        self.requires_grad = requires_grad
        return self

    def detach(self) -> Scalar:
        """Return a constant with the same value, cut off the graph.

        >>> x = minigrad.Scalar(3.0)
        >>> (x * x).detach().is_constant()
        True
        """
        return Scalar(self.data, requires_grad=False)

    def zero_grad(self) -> None:
        """Forget the derivative.

        >>> x = minigrad.Scalar(3.0)
        >>> (x * x).backward()
        >>> x.zero_grad()
        >>> x.grad is None
        True
        """
        self.grad = None

    def item(self) -> float:
        """Return the value as a Python float.

        >>> (minigrad.Scalar(3.0) * 2.0).item()
        6.0
        """
        return self.data

    def __add__(self, other: Scalar | float) -> Scalar:
        return operate(functions.Add, self, other)

    def __radd__(self, other: Scalar | float) -> Scalar:
        return operate(functions.Add, self, other)

    def __truediv__(self, other: Scalar | float) -> Scalar:
        return operate(functions.Div, self, other)

    def __rtruediv__(self, other: Scalar | float) -> Scalar:
        return operate(functions.Div, other, self)

    def __pow__(self, other: Scalar | float) -> Scalar:
        return operate(functions.Pow, self, other)

    def __rpow__(self, other: Scalar | float) -> Scalar:
        return operate(functions.Pow, other, self)

    def __neg__(self) -> Scalar:
        return operate(functions.Neg, self)

    def __pos__(self) -> Scalar:
        return self

    def __abs__(self) -> Scalar:
        return operate(functions.Max, -self, self)

    def __lt__(self, other: Scalar | float) -> Scalar:
        return operate(functions.LT, self, other)

    def __gt__(self, other: Scalar | float) -> Scalar:
        return operate(functions.LT, other, self)

    def __le__(self, other: Scalar | float) -> Scalar:
        return operate(functions.Max, self < other, self == other)

    def __ge__(self, other: Scalar | float) -> Scalar:
        return operate(functions.Max, self > other, self == other)

    def __eq__(self, other: object) -> Scalar:  # type: ignore[override]
        return operate(functions.EQ, self, other)

    def __ne__(self, other: object) -> Scalar:  # type: ignore[override]
        return operate(functions.Sub, 1.0, self == other)

    __hash__ = object.__hash__  # two variables of the same value are two variables

    def __float__(self) -> float:
        return self.data

    def __bool__(self) -> bool:
        return bool(self.data)

    def __repr__(self) -> str:
        return f"Scalar({self.data})" if self.requires_grad else f"Scalar({self.data}, requires_grad=False)"


def _of_the_table(op: Op) -> Any:
    """Make the method of an elementwise operation."""

    def method(self: Scalar) -> Scalar:
        return operate(getattr(functions, op.function), self)

    method.__name__, method.__qualname__ = op.method, f"Scalar.{op.method}"
    method.__doc__ = f"Return {op.about('this number')}."
    return method


for _op in OPS.values():
    if _op.method and _op.of_numbers:
        setattr(Scalar, _op.method, _of_the_table(_op))

functions.apply_to_numbers = lambda function, inputs: Scalar._apply(function, inputs)  # late: twins come and go

FREED: Any = object()  # stands in `_db` of a result whose graph was freed


def _same(x: float, y: float) -> bool:
    return x == y or (x != x and y != y)


def _freed(result: Scalar) -> GraphError:
    name = result._fn.__name__ if result._fn else "a function"
    return GraphError(
        f"backward: the graph of this {name} was freed by backward(retain_graph=False); compute the result again, or "
        "keep the graph"
    )


def _free(result: Scalar) -> None:
    """Drop inputs and saved values of a result and all results behind it."""
    stack = [result]
    while stack:
        node = stack.pop()
        if node._fn is not None and node._db is not FREED:
            stack += [parent for parent in node.parents if parent._fn is not None]
            node._a = node._b = node._da = None
            node._db = FREED

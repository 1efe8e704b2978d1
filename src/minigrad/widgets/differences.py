"""The derivative explorer: the error of forward and central difference against the length of the step.

The central difference is the library's present one: with your own in the library, yours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import traitlets

from minigrad import derivatives
from minigrad.errors import ExerciseNotDone, MinigradError
from minigrad.scalar import Scalar
from minigrad.widgets.base import Widget, page
from minigrad.widgets.charts import Chart, Point, ticks

Curve = Callable[[float], float]

FUNCTIONS: dict[str, tuple[Curve, Curve]] = {
    "sin(x)": (math.sin, math.cos),
    "exp(x)": (math.exp, math.exp),
    "log(x)": (math.log, lambda x: 1.0 / x),
    "sqrt(x)": (math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    "1 / x": (lambda x: 1.0 / x, lambda x: -1.0 / x**2),
    "x ** 2": (lambda x: x**2, lambda x: 2.0 * x),
    "x ** 3": (lambda x: x**3, lambda x: 3.0 * x**2),
    "sigmoid(x)": (lambda x: 0.5 + 0.5 * math.tanh(0.5 * x), lambda x: 0.25 / math.cosh(0.5 * x) ** 2),
    "sin(50 x)": (lambda x: math.sin(50.0 * x), lambda x: 50.0 * math.cos(50.0 * x)),
}
"""Functions to choose from, each with its derivative."""

_STEPS_OF_TEN = 4
_EXPONENTS = [n / _STEPS_OF_TEN for n in range(-16 * _STEPS_OF_TEN, 1)]
_FLOOR = 1e-17  # an error of exactly 0 has no place on a logarithmic axis
_FARTHEST = 1e6  # beyond, steps of 1e-16 to 1 are lost in x
_HIGHEST = 1e300  # beyond, there is no room left above the curve
_METHODS = (("forward", "mc-one", True), ("central", "mc-two", False))


@dataclass(frozen=True)
class Measurement:
    """A function, and where its slope is measured.

    Attributes:
        name: Of the function.
        f: The function.
        derivative: Its derivative.
        x: The place.
    """

    name: str
    f: Curve
    derivative: Curve
    x: float

    def slope(self, method: str, epsilon: float) -> float:
        """Return the slope that the library's present difference measures, or nan where there is none.

        Args:
            method: "forward" or "central".
            epsilon: The length of the step.

        Raises:
            ExerciseNotDone: If that difference is still to be written.
            MinigradError: If a student's answer is installed, and fails or gives no number.
        """
        measure = derivatives.forward_difference if method == "forward" else derivatives.central_difference
        try:
            found = measure(self.f, self.x, epsilon=epsilon)
        except (ArithmeticError, ValueError):  # outside the function's domain
            return math.nan
        except ExerciseNotDone:
            raise
        except Exception as error:
            raise _no_number(method, f"raises {type(error).__name__}: {error}") from error
        try:
            return float(found)
        except TypeError as error:
            raise _no_number(method, f"returns {found!r:.40}") from error

    def error(self, method: str, epsilon: float) -> float:
        """Return how far that slope is from the derivative."""
        return abs(self.slope(method, epsilon) - self.exact)

    @property
    def exact(self) -> float:
        """The derivative at the place, or nan where there is none."""
        return _value(self.derivative, self.x) if math.isfinite(_value(self.f, self.x)) else math.nan

    def errors(self, method: str) -> list[float]:
        """Return the error for each step from 1e-16 to 1, four in each power of ten."""
        return [self.error(method, 10.0**exponent) for exponent in _EXPONENTS]

    def best(self, method: str) -> float:
        """Return the length of the step with the smallest error."""
        errors = [math.inf if math.isnan(error) else error for error in self.errors(method)]
        return math.pow(10.0, _EXPONENTS[errors.index(min(errors))])

    def said(self, exponent: float) -> str:
        """Return a sentence with both differences for a step of ``10 ** exponent``."""
        epsilon = 10.0**exponent
        if not math.isfinite(self.exact):
            return f"{self.name} has no derivative at x = {self.x:g}; choose another x."
        lines = [f"{self.name} at x = {self.x:g} has the slope {self.exact:.10g}. With epsilon = {epsilon:.3g}:"]
        for method, _, _ in _METHODS:
            try:
                slope, error, best = self.slope(method, epsilon), self.error(method, epsilon), self.best(method)
            except MinigradError as missing:
                lines.append(f"{method} difference: {missing}")
                continue
            if math.isnan(slope):
                lines.append(f"{method} difference: none, since the step leaves where {self.name} has values.")
                continue
            why = (
                "rounding prevails" if epsilon < best else "truncation prevails" if epsilon > best else "the best step"
            )
            lines.append(f"{method} difference {slope:.10g}, error {error:.2g}: {why}.")
        return "\n".join(lines)


def _no_number(method: str, wrong: str) -> MinigradError:
    name = f"{method}_difference"
    return MinigradError(f'{name} {wrong}; it is to return a number: `check("derivatives.{name}")` says more')


def _value(f: Curve, x: float) -> float:
    try:
        return float(f(x))
    except (ArithmeticError, ValueError):
        return math.nan


def curve_picture(m: Measurement, exponent: float) -> str:
    """Draw the function with its tangent, and the lines whose slopes the two differences measure."""
    epsilon = 10.0**exponent
    low, high = m.x - 1.6, m.x + 1.6
    curve = [(t, _value(m.f, t)) for t in (low + (high - low) * i / 240 for i in range(241))]
    y = _bounds([v for _, v in curve if abs(v) < _HIGHEST])
    chart = Chart(f"the secants of {m.name}", (low, high), y)
    chart.axes([(t, f"{t:g}") for t in ticks(low, high)], [(t, f"{t:.4g}") for t in ticks(*y)], "x", "f(x)")
    chart.curve(curve, "mc-ink")
    chart.curve([(t, _value(m.f, m.x) + m.exact * (t - m.x)) for t in (low, high)], "mc-muted mc-dash")
    for method, kind, square in _METHODS:
        try:
            slope = m.slope(method, epsilon)
        except MinigradError:
            continue
        left = m.x if method == "forward" else m.x - epsilon
        chart.curve([(t, _value(m.f, left) + slope * (t - left)) for t in (low, high)], kind)
        for t in (left, m.x + epsilon):
            chart.dot(t, _value(m.f, t), kind, square=square, large=True)
    chart.dot(m.x, _value(m.f, m.x), "mc-ink")
    words = f"The curve of {m.name} around x = {m.x:g}, its tangent, and lines through points {epsilon:.3g} apart."
    return chart.drawing(words).svg


def errors_picture(m: Measurement, exponent: float) -> str:
    """Draw the errors of both differences against the step, on logarithmic axes. The present step is marked."""
    chart = Chart("error of the slope against epsilon", (-16.0, 0.0), (-17.0, 4.0))
    chart.axes(
        [(e, f"1e{e:g}") for e in range(-16, 1, 4)], [(e, f"1e{e:g}") for e in range(-16, 5, 4)],
        "epsilon, the length of the step", "error",
    )  # fmt: skip
    chart.curve([(exponent, -17.0), (exponent, 4.0)], "mc-muted mc-dash")
    for method, kind, square in _METHODS:
        try:
            seen = _on_log_axes(m.errors(method))
            now = _on_log_axes([m.error(method, 10.0**exponent)])[0]
        except MinigradError:
            continue
        chart.curve(zip(_EXPONENTS, seen, strict=True), kind)
        chart.dot(exponent, now, kind, square=square, large=True)
    chart.key([(f"{method} difference", kind, square) for method, kind, square in _METHODS], chart.left + 12, 44.0)
    for each in _EXPONENTS:
        chart.strip(each, chart.width / len(_EXPONENTS), f"epsilon:{each}")
    words = f"Errors of the forward and the central difference of {m.name}: they fall with epsilon, and rise again."
    return chart.drawing(words).svg


def _on_log_axes(errors: Sequence[float]) -> list[float]:
    return [math.log10(max(error, _FLOOR)) if math.isfinite(error) else math.nan for error in errors]


def _bounds(values: Sequence[float]) -> Point:
    """Room for the greater part of a curve: a pole must not flatten everything else."""
    if not values:
        return -1.0, 1.0
    ordered = sorted(values)
    low, high = ordered[len(ordered) // 20], ordered[-1 - len(ordered) // 20]
    room = 0.2 * (high - low) or max(1.0, 1e-6 * abs(high))
    return low - room, high + room


class DerivativeExplorer(Widget):
    """The derivative explorer.

    Args:
        functions: Names, each with a function and its derivative.
        function: The name to begin with.
        x: Where the slope is measured.

    Attributes:
        function: The name of the function.
        x: Where the slope is measured.
        exponent: The step is ``10 ** exponent``. From -16 to 0.
    """

    _esm = page("differences")

    names: traitlets.List[str] = traitlets.List().tag(sync=True)
    function = traitlets.Unicode().tag(sync=True)
    x = traitlets.Float(1.0).tag(sync=True)
    exponent = traitlets.Float(-1.0).tag(sync=True)

    def __init__(self, functions: dict[str, tuple[Curve, Curve]], function: str, x: float) -> None:
        super().__init__(title="Derivative explorer", names=list(functions), function=function, x=float(x))
        self._functions = functions
        self.observe(lambda change: self._show(), ["function", "x", "exponent"])
        self._show()

    @traitlets.validate("x")
    def _finite(self, proposal: Any) -> float:
        return _place(proposal["value"])

    @traitlets.validate("exponent")
    def _within(self, proposal: Any) -> float:
        return max(-16.0, min(float(proposal["value"]), 0.0))

    @property
    def measurement(self) -> Measurement:
        """The present measurement."""
        return Measurement(self.function, *self._functions[self.function], self.x)

    def _show(self) -> None:
        m = self.measurement
        with self.hold_sync():
            self.pictures = {"curve": curve_picture(m, self.exponent), "errors": errors_picture(m, self.exponent)}
            self.said = m.said(self.exponent)


def derivative_explorer(
    f: str | Curve = "sin(x)", x: float = 1.0, derivative: Curve | None = None
) -> DerivativeExplorer:
    """Explore how the error of a numerical derivative depends on the length of the step.

    Args:
        f: The name of a function in `FUNCTIONS`, or a function of one number.
        x: The place where the slope is measured. It can be changed in the widget.
        derivative: The derivative of a function of your own. Without it the library's `Scalar` finds it, if f is
            made of a Scalar's operations.

    Raises:
        ValueError: If there is no function of that name, the derivative of f is not known, or x is no number that can
            be shown.
    """
    x = _place(x)
    if callable(f):
        name = getattr(f, "__name__", "f").replace("<lambda>", "f")
        return DerivativeExplorer(
            {f"{name}(x), yours": (f, derivative or _by_scalars(f, x)), **FUNCTIONS}, f"{name}(x), yours", x
        )
    name = f if f in FUNCTIONS else f"{f}(x)"
    if name not in FUNCTIONS:
        raise ValueError(f"derivative_explorer: there is no function {f!r}; the functions are {', '.join(FUNCTIONS)}")
    return DerivativeExplorer(FUNCTIONS, name, x)


def _place(x: Any) -> float:
    """Return x as a number around which a curve can be drawn."""
    try:
        place = float(x)
    except (TypeError, ValueError):
        place = math.nan
    if not abs(place) <= _FARTHEST:
        raise ValueError(f"derivative_explorer: x = {x} cannot be shown; choose a number from -1e6 to 1e6")
    return place


def _by_scalars(f: Callable[[Any], Any], x: float) -> Curve:
    """Return the derivative of f, found by the library's engine."""

    def derivative(at: float) -> float:
        variable = Scalar(float(at))
        f(variable).backward()
        return float(variable.grad)

    try:
        derivative(x)
    except Exception as error:
        raise ValueError(
            f"derivative_explorer: the derivative of this function is not known ({type(error).__name__}: {error}); "
            "give it as the third argument, derivative=..."
        ) from None
    return derivative

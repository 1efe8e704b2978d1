"""What the table gives `minigrad.functions`, Scalar and Tensor, for type checkers alone: written by scripts/types_of_names.py."""

from typing import Any

from minigrad.functions import Elementwise
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor

class Sub(Elementwise):
    """Computes x - y."""

class Pow(Elementwise):
    """Computes x to the power y; nan where no real number is the answer."""

class Remainder(Elementwise):
    """Computes what is left of x after whole steps of y: between 0 and y, as Python's ``%``; nan for a y of 0."""

class FloorDivide(Elementwise):
    """Computes the largest whole number that is not above x / y, as Python's ``//``; for a y of 0, x / y."""

class LT(Elementwise):
    """Computes 1.0 if x is less than y, else 0.0."""

class EQ(Elementwise):
    """Computes 1.0 if x equals y, else 0.0."""

class GT(Elementwise):
    """Computes 1.0 if x is greater than y, else 0.0."""

class LE(Elementwise):
    """Computes 1.0 if x is at most y, else 0.0."""

class GE(Elementwise):
    """Computes 1.0 if x is at least y, else 0.0."""

class NE(Elementwise):
    """Computes 1.0 if x differs from y, else 0.0; nan differs from everything."""

class Max(Elementwise):
    """Computes the larger of x and y; nan if either is nan."""

class Min(Elementwise):
    """Computes the smaller of x and y; nan if either is nan."""

class Clip(Elementwise):
    """Computes x moved into [low, high]; nan stays nan, and high wins where low is larger."""

class Where(Elementwise):
    """Computes x if the condition is not 0.0, else y."""

class Cos(Elementwise):
    """Computes the cosine of x, in radians."""

class Tanh(Elementwise):
    """Computes the hyperbolic tangent of x."""

class Sqrt(Elementwise):
    """Computes the square root of x; nan for a negative number."""

class Square(Elementwise):
    """Computes the square of x."""

class Abs(Elementwise):
    """Computes x without its sign."""

class Erf(Elementwise):
    """Computes the error function of x: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""

class Erfc(Elementwise):
    """Computes 1 minus the error function of x, with all its digits where that is close to 1."""

class Gelu(Elementwise):
    """Computes x times the probability that a standard normal number is below x."""

class Sign(Elementwise):
    """Computes -1.0, 0.0 or 1.0, the sign of x; 0.0 for nan, as PyTorch does."""

class Floor(Elementwise):
    """Computes the largest whole number that is not above x."""

class Round(Elementwise):
    """Computes the nearest whole number to x, of two equally near ones the even one; Python's `round` keeps its name."""

def power(x: Any, y: Any) -> Any:
    """Return x to the power y; nan where no real number is the answer."""

def floor_divide(x: Any, y: Any) -> Any:
    """Return the largest whole number that is not above x / y, as Python's ``//``; for a y of 0, x / y."""

def maximum(x: Any, y: Any) -> Any:
    """Return the larger of x and y; nan if either is nan."""

def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of x and y; nan if either is nan."""

def clip(x: Any, low: Any, high: Any) -> Any:
    """Return x moved into [low, high]; nan stays nan, and high wins where low is larger."""

def where(condition: Any, x: Any, y: Any) -> Any:
    """Return x if the condition is not 0.0, else y."""

def exp(x: Any) -> Any:
    """Return e to the power of x."""

def log(x: Any) -> Any:
    """Return the natural logarithm of x."""

def sigmoid(x: Any) -> Any:
    """Return the sigmoid of x: 1 / (1 + e^-x)."""

def relu(x: Any) -> Any:
    """Return x, or 0 where it is negative."""

def sin(x: Any) -> Any:
    """Return the sine of x, in radians."""

def cos(x: Any) -> Any:
    """Return the cosine of x, in radians."""

def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of x."""

def sqrt(x: Any) -> Any:
    """Return the square root of x; nan for a negative number."""

def square(x: Any) -> Any:
    """Return the square of x."""

def absolute(x: Any) -> Any:
    """Return x without its sign."""

def erf(x: Any) -> Any:
    """Return the error function of x: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""

def erfc(x: Any) -> Any:
    """Return 1 minus the error function of x, with all its digits where that is close to 1."""

def gelu(x: Any) -> Any:
    """Return x times the probability that a standard normal number is below x."""

def sign(x: Any) -> Any:
    """Return -1.0, 0.0 or 1.0, the sign of x; 0.0 for nan, as PyTorch does."""

class OfScalars:
    def exp(self) -> Scalar:
        """Return e to the power of this number."""

    def log(self) -> Scalar:
        """Return the natural logarithm of this number."""

    def sigmoid(self) -> Scalar:
        """Return the sigmoid of this number: 1 / (1 + e^-x)."""

    def relu(self) -> Scalar:
        """Return this number, or 0 where it is negative."""

    def sin(self) -> Scalar:
        """Return the sine of this number, in radians."""

    def cos(self) -> Scalar:
        """Return the cosine of this number, in radians."""

    def tanh(self) -> Scalar:
        """Return the hyperbolic tangent of this number."""

    def sqrt(self) -> Scalar:
        """Return the square root of this number; nan for a negative number."""

    def square(self) -> Scalar:
        """Return the square of this number."""

    def abs(self) -> Scalar:
        """Return this number without its sign."""

    def erf(self) -> Scalar:
        """Return the error function of this number: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""

    def erfc(self) -> Scalar:
        """Return 1 minus the error function of this number, with all its digits where that is close to 1."""

    def gelu(self) -> Scalar:
        """Return this number times the probability that a standard normal number is below it."""

class OfTensors:
    def exp(self) -> Tensor:
        """Return e to the power of every element.

        >>> minigrad.tensor([0.0, 1.0]).exp()
        tensor([1.0000, 2.7183])
        """

    def exp_(self) -> Tensor:
        """Replace every element x by e to the power of x.

        >>> minigrad.tensor([0.0, 1.0]).exp_()
        tensor([1.0000, 2.7183])
        """

    def log(self) -> Tensor:
        """Return the natural logarithm of every element.

        >>> minigrad.tensor([1.0, 10.0]).log()
        tensor([0.0000, 2.3026])
        """

    def log_(self) -> Tensor:
        """Replace every element x by the natural logarithm of x.

        >>> minigrad.tensor([1.0, 10.0]).log_()
        tensor([0.0000, 2.3026])
        """

    def sigmoid(self) -> Tensor:
        """Return the sigmoid of every element: 1 / (1 + e^-x).

        >>> minigrad.tensor([-1.0, 0.0, 1.0]).sigmoid()
        tensor([0.2689, 0.5000, 0.7311])
        """

    def sigmoid_(self) -> Tensor:
        """Replace every element x by the sigmoid of x: 1 / (1 + e^-x).

        >>> minigrad.tensor([-1.0, 0.0, 1.0]).sigmoid_()
        tensor([0.2689, 0.5000, 0.7311])
        """

    def relu(self) -> Tensor:
        """Return every element, or 0 where it is negative.

        >>> minigrad.tensor([-1.0, 2.0]).relu()
        tensor([0., 2.])
        """

    def relu_(self) -> Tensor:
        """Replace every element x by x, or 0 where it is negative.

        >>> minigrad.tensor([-1.0, 2.0]).relu_()
        tensor([0., 2.])
        """

    def neg(self) -> Tensor:
        """Return every element with the other sign.

        >>> minigrad.tensor([1.0, -2.0]).neg()
        tensor([-1.,  2.])
        """

    def neg_(self) -> Tensor:
        """Replace every element x by x with the other sign.

        >>> minigrad.tensor([1.0, -2.0]).neg_()
        tensor([-1.,  2.])
        """

    def reciprocal(self) -> Tensor:
        """Return 1 over every element.

        >>> minigrad.tensor([2.0, 4.0]).reciprocal()
        tensor([0.50, 0.25])
        """

    def reciprocal_(self) -> Tensor:
        """Replace every element x by 1 over x.

        >>> minigrad.tensor([2.0, 4.0]).reciprocal_()
        tensor([0.50, 0.25])
        """

    def sin(self) -> Tensor:
        """Return the sine of every element, in radians.

        >>> minigrad.tensor([0.0, 1.0]).sin()
        tensor([0.0000, 0.8415])
        """

    def sin_(self) -> Tensor:
        """Replace every element x by the sine of x, in radians.

        >>> minigrad.tensor([0.0, 1.0]).sin_()
        tensor([0.0000, 0.8415])
        """

    def cos(self) -> Tensor:
        """Return the cosine of every element, in radians.

        >>> minigrad.tensor([0.0, 1.0]).cos()
        tensor([1.0000, 0.5403])
        """

    def cos_(self) -> Tensor:
        """Replace every element x by the cosine of x, in radians.

        >>> minigrad.tensor([0.0, 1.0]).cos_()
        tensor([1.0000, 0.5403])
        """

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent of every element.

        >>> minigrad.tensor([0.0, 1.0]).tanh()
        tensor([0.0000, 0.7616])
        """

    def tanh_(self) -> Tensor:
        """Replace every element x by the hyperbolic tangent of x.

        >>> minigrad.tensor([0.0, 1.0]).tanh_()
        tensor([0.0000, 0.7616])
        """

    def sqrt(self) -> Tensor:
        """Return the square root of every element; nan for a negative number.

        >>> minigrad.tensor([4.0, 9.0]).sqrt()
        tensor([2., 3.])
        """

    def sqrt_(self) -> Tensor:
        """Replace every element x by the square root of x; nan for a negative number.

        >>> minigrad.tensor([4.0, 9.0]).sqrt_()
        tensor([2., 3.])
        """

    def square(self) -> Tensor:
        """Return the square of every element.

        >>> minigrad.tensor([-2.0, 3.0]).square()
        tensor([4., 9.])
        """

    def square_(self) -> Tensor:
        """Replace every element x by the square of x.

        >>> minigrad.tensor([-2.0, 3.0]).square_()
        tensor([4., 9.])
        """

    def abs(self) -> Tensor:
        """Return every element without its sign.

        >>> minigrad.tensor([-1.0, 2.0]).abs()
        tensor([1., 2.])
        """

    def abs_(self) -> Tensor:
        """Replace every element x by x without its sign.

        >>> minigrad.tensor([-1.0, 2.0]).abs_()
        tensor([1., 2.])
        """

    def erf(self) -> Tensor:
        """Return the error function of every element: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.

        >>> minigrad.tensor([0.0, 1.0]).erf()
        tensor([0.0000, 0.8427])
        """

    def erf_(self) -> Tensor:
        """Replace every element x by the error function of x: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.

        >>> minigrad.tensor([0.0, 1.0]).erf_()
        tensor([0.0000, 0.8427])
        """

    def erfc(self) -> Tensor:
        """Return 1 minus the error function of every element, with all its digits where that is close to 1.

        >>> minigrad.tensor([0.0, 1.0]).erfc()
        tensor([1.0000, 0.1573])
        """

    def erfc_(self) -> Tensor:
        """Replace every element x by 1 minus the error function of x, with all its digits where that is close to 1.

        >>> minigrad.tensor([0.0, 1.0]).erfc_()
        tensor([1.0000, 0.1573])
        """

    def gelu(self) -> Tensor:
        """Return every element times the probability that a standard normal number is below it.

        >>> minigrad.tensor([-1.0, 0.0, 1.0]).gelu()
        tensor([-0.1587,  0.0000,  0.8413])
        """

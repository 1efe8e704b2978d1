"""Subtracting from zero gives 0.0 for 0.0, where -x is -0.0."""


def add(x: float, y: float) -> float:
    return x + y


def mul(x: float, y: float) -> float:
    return x * y


def neg(x: float) -> float:
    return 0.0 - x

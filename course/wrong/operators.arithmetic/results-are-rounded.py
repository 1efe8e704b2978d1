"""Sums and products are rounded, so that 0.1 + 0.2 looks like 0.3."""


def add(x: float, y: float) -> float:
    return round(x + y, 10)


def mul(x: float, y: float) -> float:
    return round(x * y, 10)


def neg(x: float) -> float:
    return -float(x)

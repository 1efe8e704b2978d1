"""Every number is made negative, also one that is negative already."""


def add(x: float, y: float) -> float:
    return x + y


def mul(x: float, y: float) -> float:
    return x * y


def neg(x: float) -> float:
    return -abs(float(x))

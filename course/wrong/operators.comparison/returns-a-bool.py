"""The comparisons return True and False instead of 1.0 and 0.0."""


def lt(x: float, y: float) -> float:
    return x < y


def eq(x: float, y: float) -> float:
    return x == y


def max(x: float, y: float) -> float:
    if x != x or x > y:
        return x
    return y


def is_close(x: float, y: float) -> float:
    return 1.0 if abs(x - y) < 1e-2 else 0.0

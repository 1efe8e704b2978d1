"""is_close returns True and False instead of 1.0 and 0.0."""


def lt(x: float, y: float) -> float:
    return 1.0 if x < y else 0.0


def eq(x: float, y: float) -> float:
    return 1.0 if x == y else 0.0


def max(x: float, y: float) -> float:
    if x != x or x > y:
        return x
    return y


def is_close(x: float, y: float) -> float:
    return abs(x - y) < 1e-2

"""Without the absolute value, every number far below counts as close."""


def lt(x: float, y: float) -> float:
    return 1.0 if x < y else 0.0


def eq(x: float, y: float) -> float:
    return 1.0 if x == y else 0.0


def max(x: float, y: float) -> float:
    if x != x or x > y:
        return x
    return y


def is_close(x: float, y: float) -> float:
    return 1.0 if x - y < 1e-2 else 0.0

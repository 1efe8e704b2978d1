"""The answer of a student of MiniTorch, with nan passed on."""


def lt(x: float, y: float) -> float:
    if x < y:
        return 1.0
    else:
        return 0.0


def eq(x: float, y: float) -> float:
    if x == y:
        return 1.0
    else:
        return 0.0


def max(x: float, y: float) -> float:
    if x != x:
        return x
    if y != y:
        return y
    return x if x >= y else y


def is_close(x: float, y: float) -> float:
    return 1.0 if (x - y < 1e-2) and (y - x < 1e-2) else 0.0

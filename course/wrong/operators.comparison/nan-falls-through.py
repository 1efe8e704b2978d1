"""What is neither less nor greater is taken for equal, what is not greater or equal for less: nan is neither."""


def lt(x: float, y: float) -> float:
    return 0.0 if x >= y else 1.0


def eq(x: float, y: float) -> float:
    if x < y or x > y:
        return 0.0
    return 1.0


def max(x: float, y: float) -> float:
    if x != x or x > y:
        return x
    return y


def is_close(x: float, y: float) -> float:
    return 1.0 if abs(x - y) < 1e-2 else 0.0

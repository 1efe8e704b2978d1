"""Booleans turned into floats, and nan found by math.isnan."""


def lt(x: float, y: float) -> float:
    return float(x < y)


def eq(x: float, y: float) -> float:
    return float(x == y)


def max(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return y if y > x else x


def is_close(x: float, y: float) -> float:
    return float(-0.01 < x - y < 0.01)

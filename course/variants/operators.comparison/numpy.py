"""NumPy's functions on single numbers."""

import numpy as np


def lt(x: float, y: float) -> float:
    return float(np.less(x, y))


def eq(x: float, y: float) -> float:
    return float(np.equal(x, y))


def max(x: float, y: float) -> float:
    return float(np.maximum(x, y))


def is_close(x: float, y: float) -> float:
    return float(np.abs(np.subtract(x, y)) < 0.01)

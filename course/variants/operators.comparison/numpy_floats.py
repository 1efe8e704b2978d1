"""Floats of NumPy's own kind."""

import numpy as np


def lt(x, y):
    return np.float64(x < y)


def eq(x, y):
    return np.where(x == y, 1.0, 0.0)[()]


def max(x, y):
    return np.maximum(x, y)


def is_close(x, y):
    return np.float64(abs(x - y) < 0.01)

"""NumPy's functions, whose results are floats of its own."""

import numpy as np

add, mul = np.add, np.multiply


def add(x, y):
    return np.add(x, y)


def mul(x, y):
    return np.multiply(x, y)


def neg(x):
    return np.negative(float(x))

"""A unit vector times epsilon."""

import numpy as np


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    step = np.zeros(len(vals))
    step[arg] = epsilon
    point = np.asarray(vals, dtype=float)
    return float(f(*(point + step)) - f(*(point - step))) / (2.0 * epsilon)

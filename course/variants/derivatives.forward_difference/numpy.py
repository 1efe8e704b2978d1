"""A unit vector times epsilon."""

import numpy as np


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    step = np.zeros(len(vals))
    step[arg] = epsilon
    point = np.array(vals, dtype=float)
    return float((f(*(point + step)) - f(*point)) / epsilon)

"""An array of ints rounds what is written into it, so that the steps get lost."""

import numpy as np


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    above, below = np.array(vals), np.array(vals)
    above[arg] = above[arg] + epsilon
    below[arg] = below[arg] - epsilon
    return float((f(*above) - f(*below)) / (2.0 * epsilon))

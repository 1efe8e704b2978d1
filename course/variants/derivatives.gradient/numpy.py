"""The rows of a unit matrix are the steps."""

import numpy as np


def gradient(f: Callable[..., float], *vals: float, epsilon: float = 1e-6) -> list[float]:
    point = np.array(vals, dtype=float)
    steps = epsilon * np.eye(len(vals))
    return [float(f(*(point + step)) - f(*(point - step))) / (2.0 * epsilon) for step in steps]

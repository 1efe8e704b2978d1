"""Moves one argument at a time, and puts it back."""


def gradient(f: Callable[..., float], *vals: float, epsilon: float = 1e-6) -> list[float]:
    point = list(vals)
    slopes = []
    for i, x in enumerate(vals):
        point[i] = x + epsilon
        above = f(*point)
        point[i] = x - epsilon
        below = f(*point)
        point[i] = x
        slopes.append((above - below) / (2.0 * epsilon))
    return slopes

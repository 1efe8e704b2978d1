"""Forward differences are used."""


def gradient(f: Callable[..., float], *vals: float, epsilon: float = 1e-6) -> list[float]:
    slopes = []
    for i in range(len(vals)):
        moved = list(vals)
        moved[i] += epsilon
        slopes.append((f(*moved) - f(*vals)) / epsilon)
    return slopes

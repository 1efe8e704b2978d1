"""An argument that was moved is not put back before the next one moves."""


def gradient(f: Callable[..., float], *vals: float, epsilon: float = 1e-6) -> list[float]:
    point, slopes = list(vals), []
    for i in range(len(point)):
        point[i] += epsilon
        above = f(*point)
        point[i] -= 2.0 * epsilon
        slopes.append((above - f(*point)) / (2.0 * epsilon))
    return slopes

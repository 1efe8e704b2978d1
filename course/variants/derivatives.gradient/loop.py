"""A loop that appends, with the arguments unpacked."""


def gradient(f: Callable[..., float], *vals: float, epsilon: float = 1e-6) -> list[float]:
    slopes = []
    for i in range(len(vals)):
        slopes.append(central_difference(f, *vals, arg=i, epsilon=epsilon))
    return slopes

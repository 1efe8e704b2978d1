"""The function is taken to have at most three arguments."""


def gradient(f: Callable[..., float], *vals: float, epsilon: float = 1e-6) -> list[float]:
    return [central_difference(f, *vals, arg=i, epsilon=epsilon) for i in range(len(vals[:3]))]

"""The argument is not passed on, so that every slope is that in the first one."""


def gradient(f: Callable[..., float], *vals: float, epsilon: float = 1e-6) -> list[float]:
    return [central_difference(f, *vals, epsilon=epsilon) for _ in vals]

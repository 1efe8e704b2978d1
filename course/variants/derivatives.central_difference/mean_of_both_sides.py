"""The mean of the forward and the backward difference."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    def at(move: float) -> float:
        return f(*[x + move if i == arg % len(vals) else x for i, x in enumerate(vals)])

    forward = (at(epsilon) - at(0.0)) / epsilon
    backward = (at(0.0) - at(-epsilon)) / epsilon
    return (forward + backward) / 2.0

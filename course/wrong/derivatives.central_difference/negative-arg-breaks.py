"""The arguments behind the moved one are found by arg + 1, which is 0 for the last one."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    before, x, behind = vals[:arg], vals[arg], vals[arg + 1 :]
    above = f(*before, x + epsilon, *behind)
    below = f(*before, x - epsilon, *behind)
    return (above - below) / (2.0 * epsilon)

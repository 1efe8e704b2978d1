"""The answer of a student of MiniTorch: two lists with one element changed."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    vals_add = [v for v in vals]
    vals_sub = [v for v in vals]
    vals_add[arg] = vals_add[arg] + epsilon
    vals_sub[arg] = vals_sub[arg] - epsilon
    return (f(*vals_add) - f(*vals_sub)) / (2 * epsilon)

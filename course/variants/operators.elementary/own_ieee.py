"""The special values are taken care of by hand, as IEEE 754 has them."""


def id(x: float) -> float:
    return x


def inv(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0.0 else 1.0 / x


def relu(x: float) -> float:
    if math.isnan(x):
        return x
    return (0.0, x)[x > 0.0]


def exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def log(x: float) -> float:
    if x == 0.0:
        return -math.inf
    if x < 0.0:
        return math.nan
    return math.log(x)


def sigmoid(x: float) -> float:
    small = math.exp(-abs(x))
    return (1.0 if x >= 0.0 else small) / (1.0 + small)

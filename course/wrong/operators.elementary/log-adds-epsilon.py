"""A small number is added to keep log 0 finite; the log of small numbers is wrong then."""


def id(x: float) -> float:
    return x


def inv(x: float) -> float:
    return 1.0 / x


def relu(x: float) -> float:
    return 0.0 if x <= 0.0 else x


def exp(x: float) -> float:
    return math.exp(x)


def log(x: float) -> float:
    return math.log(x + 1e-6)


def sigmoid(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    return math.exp(x) / (1.0 + math.exp(x))

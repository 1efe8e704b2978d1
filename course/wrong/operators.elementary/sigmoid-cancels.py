"""For negative x the value is found by symmetry, as 1 minus a number next to 1."""


def id(x: float) -> float:
    return x


def inv(x: float) -> float:
    return 1.0 / x


def relu(x: float) -> float:
    return 0.0 if x <= 0.0 else x


def exp(x: float) -> float:
    return math.exp(x)


def log(x: float) -> float:
    return math.log(x)


def sigmoid(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    return 1.0 - 1.0 / (1.0 + math.exp(x))

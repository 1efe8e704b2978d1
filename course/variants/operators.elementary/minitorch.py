"""The answer of a student of MiniTorch, with nan passed on by relu."""


def id(x: float) -> float:
    return x


def inv(x: float) -> float:
    return x**-1


def relu(x: float) -> float:
    return x if (x > 0 or x != x) else 0.0


def exp(x: float) -> float:
    return math.exp(x)


def log(x: float) -> float:
    return math.log(x)


def sigmoid(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    else:
        return math.exp(x) / (1.0 + math.exp(x))

"""The product is x added to itself as often as y counts, which only whole positive numbers do."""


def add(x: float, y: float) -> float:
    return x + y


def mul(x: float, y: float) -> float:
    result = 0.0
    for _ in range(int(y)):
        result += x
    return result


def neg(x: float) -> float:
    return -float(x)

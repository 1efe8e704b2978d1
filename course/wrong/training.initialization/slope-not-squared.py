"""The slope counts without its square."""


def fans(shape: Sequence[int]) -> tuple[int, int]:
    size = math.prod(shape[2:])
    return shape[1] * size, shape[0] * size


def xavier_std(shape: Sequence[int]) -> float:
    size = math.prod(shape[2:])
    return math.sqrt(2.0 / (size * (shape[0] + shape[1])))


def kaiming_std(shape: Sequence[int], slope: float = 0.0) -> float:
    fan_in = math.prod(shape[1:])
    return math.sqrt(2.0 / (1.0 + slope) / fan_in)

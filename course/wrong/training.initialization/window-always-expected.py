"""The sizes of the window are multiplied without a 1 to begin with, so that a linear layer fails."""


def fans(shape: Sequence[int]) -> tuple[int, int]:
    outputs, inputs, size, *others = shape
    for other in others:
        size *= other
    return inputs * size, outputs * size


def xavier_std(shape: Sequence[int]) -> float:
    size = math.prod(shape[2:])
    return math.sqrt(2.0 / (size * (shape[0] + shape[1])))


def kaiming_std(shape: Sequence[int], slope: float = 0.0) -> float:
    fan_in = math.prod(shape[1:])
    return math.sqrt(2.0 / (1.0 + slope * slope) / fan_in)

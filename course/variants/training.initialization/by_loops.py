"""A loop over the window, and powers in place of roots."""


def fans(shape: Sequence[int]) -> tuple[int, int]:
    fan_in, fan_out = shape[1], shape[0]
    for size in shape[2:]:
        fan_in *= size
        fan_out *= size
    return (fan_in, fan_out)


def xavier_std(shape: Sequence[int]) -> float:
    return (sum(fans(shape)) / 2.0) ** -0.5


def kaiming_std(shape: Sequence[int], slope: float = 0.0) -> float:
    fan_in, _ = fans(shape)
    gain = math.sqrt(2.0 / (1.0 + slope * slope))
    return gain / math.sqrt(fan_in)

"""NumPy's functions."""


def fans(shape: Sequence[int]) -> tuple[int, int]:
    outputs, inputs, *window = shape
    size = int(np.prod(window))
    return inputs * size, outputs * size


def xavier_std(shape: Sequence[int]) -> float:
    return float(1.0 / np.sqrt(np.mean(fans(shape))))


def kaiming_std(shape: Sequence[int], slope: float = 0.0) -> float:
    left = 0.5 * (1.0 + slope**2)
    return float(np.sqrt(1.0 / (left * fans(shape)[0])))

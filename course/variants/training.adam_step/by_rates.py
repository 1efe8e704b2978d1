"""The corrections go into one rate, as in the paper's remark."""


def adam_step(
    p: Any,
    grad: Any,
    mean: Any,
    square: Any,
    step: int,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Any, Any, Any]:
    first, second = betas
    new_mean = mean + (1.0 - first) * (grad - mean)
    new_square = square + (1.0 - second) * (grad**2 - square)
    scale = math.sqrt(1.0 - second**step)
    rate = lr * scale / (1.0 - first**step)
    p = p * (1.0 - lr * weight_decay)
    return p - rate * new_mean / (new_square**0.5 + eps * scale), new_mean, new_square

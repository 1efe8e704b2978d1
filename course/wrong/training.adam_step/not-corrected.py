"""Nothing is corrected."""


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
    beta1, beta2 = betas
    mean = beta1 * mean + (1.0 - beta1) * grad
    square = beta2 * square + (1.0 - beta2) * grad * grad
    corrected = mean
    root = np.sqrt(square)
    return p - lr * corrected / (root + eps) - lr * weight_decay * p, mean, square

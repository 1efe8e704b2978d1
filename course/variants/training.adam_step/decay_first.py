"""The parameter shrinks first."""


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
    mean = betas[0] * mean + (1 - betas[0]) * grad
    square = betas[1] * square + (1 - betas[1]) * np.square(grad)
    mean_hat = mean / (1 - betas[0] ** step)
    square_hat = square / (1 - betas[1] ** step)
    p = p - lr * weight_decay * p
    p = p - lr * mean_hat / (np.sqrt(square_hat) + eps)
    return p, mean, square

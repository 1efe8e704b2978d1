"""The velocity is a running mean."""


def sgd_step(p: Any, grad: Any, velocity: Any, lr: float, momentum: float = 0.0) -> tuple[Any, Any]:
    velocity = momentum * velocity + (1.0 - momentum) * grad
    return p - lr * velocity, velocity

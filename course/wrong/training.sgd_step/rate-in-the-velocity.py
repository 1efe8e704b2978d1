"""The velocity adds up steps, not gradients."""


def sgd_step(p: Any, grad: Any, velocity: Any, lr: float, momentum: float = 0.0) -> tuple[Any, Any]:
    velocity = momentum * velocity + lr * grad
    return p - velocity, velocity

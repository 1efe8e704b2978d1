"""Arrays are copied first, and numbers have no copy."""


def sgd_step(p: Any, grad: Any, velocity: Any, lr: float, momentum: float = 0.0) -> tuple[Any, Any]:
    velocity = velocity.copy()
    velocity *= momentum
    velocity += grad
    return p - lr * velocity, velocity

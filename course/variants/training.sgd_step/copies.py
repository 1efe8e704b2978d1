"""Other names for what is new."""


def sgd_step(p: Any, grad: Any, velocity: Any, lr: float, momentum: float = 0.0) -> tuple[Any, Any]:
    new_velocity = grad + momentum * velocity
    new_p = p - lr * new_velocity
    return new_p, new_velocity

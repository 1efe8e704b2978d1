"""The velocity is changed in place."""


def sgd_step(p: Any, grad: Any, velocity: Any, lr: float, momentum: float = 0.0) -> tuple[Any, Any]:
    if isinstance(velocity, float):
        velocity = momentum * velocity + grad
    else:
        velocity *= momentum
        velocity += grad
    return p - lr * velocity, velocity

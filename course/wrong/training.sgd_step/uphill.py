"""The parameter moves along the gradient."""


def sgd_step(p: Any, grad: Any, velocity: Any, lr: float, momentum: float = 0.0) -> tuple[Any, Any]:
    velocity = momentum * velocity + grad
    return p + lr * velocity, velocity

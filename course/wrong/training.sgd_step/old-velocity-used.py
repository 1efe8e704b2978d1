"""The parameter moves by the velocity of the step before."""


def sgd_step(p: Any, grad: Any, velocity: Any, lr: float, momentum: float = 0.0) -> tuple[Any, Any]:
    return p - lr * velocity, momentum * velocity + grad

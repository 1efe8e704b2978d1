"""Gradients are set to 0.0, which cannot be told from a gradient of 0."""

class SGD:
    def __init__(self, parameters, lr=0.5):
        self.parameters = parameters
        self.lr = lr

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.value.grad = 0.0

    def step(self):
        for parameter in self.parameters:
            value = parameter.value
            if value.grad is not None:
                parameter.update(Scalar(value.data - self.lr * value.grad))

"""The new value is computed with Scalars, and so drags the old graph along."""

class SGD:
    def __init__(self, parameters, lr=0.5):
        self.parameters = parameters
        self.lr = lr

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.value.grad = None

    def step(self):
        for parameter in self.parameters:
            if parameter.value.grad is not None:
                parameter.value = parameter.value - self.lr * parameter.value.grad

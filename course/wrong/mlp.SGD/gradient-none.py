"""A parameter without a gradient is not skipped."""

class SGD:
    def __init__(self, parameters, lr=0.5):
        self.parameters = parameters
        self.lr = lr

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.value.grad = None

    def step(self):
        for parameter in self.parameters:
            value = parameter.value
            parameter.update(Scalar(value.data - self.lr * value.grad))

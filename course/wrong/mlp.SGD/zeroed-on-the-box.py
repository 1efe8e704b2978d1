"""The gradient is forgotten on the Parameter, which has none, instead of on its value."""

class SGD:
    def __init__(self, parameters, lr=0.5):
        self.parameters = parameters
        self.lr = lr

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None

    def step(self):
        for parameter in self.parameters:
            value = parameter.value
            if value.grad is not None:
                parameter.update(Scalar(value.data - self.lr * value.grad))

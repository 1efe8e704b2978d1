"""The step is the whole gradient; the learning rate is not used."""

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
            if value.grad is not None:
                parameter.update(Scalar(value.data - value.grad))

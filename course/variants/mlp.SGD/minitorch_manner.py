"""The derivative is read and reset by MiniTorch's name, and parameters without one are passed over first."""

class SGD:
    def __init__(self, parameters, lr=0.5):
        self.parameters = parameters
        self.lr = lr

    def zero_grad(self):
        for p in self.parameters:
            if p.value is None:
                continue
            if p.value.derivative is not None:
                p.value.derivative = None

    def step(self):
        for p in self.parameters:
            if p.value is None:
                continue
            if hasattr(p.value, "derivative"):
                if p.value.derivative is not None:
                    p.update(Scalar(p.value.data - self.lr * p.value.derivative))

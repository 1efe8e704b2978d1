"""The new value is computed without recording, and zero_grad is asked of the Scalars."""

class SGD:
    def __init__(self, parameters, lr=0.5):
        self.parameters = parameters
        self.lr = lr

    def zero_grad(self):
        for p in self.parameters:
            p.value.zero_grad()

    def step(self):
        trained = [p for p in self.parameters if p.value.grad is not None]
        for p in trained:
            moved = p.value.detach() - p.value.grad * self.lr
            p.update(Scalar(moved.item()))

"""The sum is computed with plain floats, so that no gradient finds its way back."""

class Linear(Module):
    def __init__(self, in_size, out_size, rng):
        super().__init__()

        def parameter(name):
            return self.add_parameter(name, Scalar(2.0 * (rng.random() - 0.5)))

        self.weights = [[parameter(f"weight_{i}_{j}") for j in range(out_size)] for i in range(in_size)]
        self.biases = [parameter(f"bias_{j}") for j in range(out_size)]

    def forward(self, inputs):
        outputs = []
        for j, bias in enumerate(self.biases):
            total = bias.value.data
            for i, x in enumerate(inputs):
                total = total + self.weights[i][j].value.data * getattr(x, "data", x)
            outputs.append(Scalar(total, requires_grad=False))
        return outputs

"""All parameters start at zero."""

class Linear(Module):
    def __init__(self, in_size, out_size, rng):
        super().__init__()

        def parameter(name):
            return self.add_parameter(name, Scalar(0.0))

        self.weights = [[parameter(f"weight_{i}_{j}") for j in range(out_size)] for i in range(in_size)]
        self.biases = [parameter(f"bias_{j}") for j in range(out_size)]

    def forward(self, inputs):
        outputs = []
        for j, bias in enumerate(self.biases):
            total = bias.value
            for i, x in enumerate(inputs):
                total = total + self.weights[i][j].value * x
            outputs.append(total)
        return outputs

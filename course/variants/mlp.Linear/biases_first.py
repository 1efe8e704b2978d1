"""Biases are drawn first, and each output is a dot product plus its bias."""

class Linear(Module):
    def __init__(self, in_size, out_size, rng):
        super().__init__()

        def parameter(name):
            return self.add_parameter(name, Scalar(2.0 * (rng.random() - 0.5)))

        self.biases = [parameter(f"bias_{j}") for j in range(out_size)]
        self.weights = [[parameter(f"weight_{i}_{j}") for j in range(out_size)] for i in range(in_size)]

    def forward(self, inputs):
        outputs = []
        for j in range(len(self.biases)):
            column = [row[j].value for row in self.weights]
            outputs.append(functions.dot(column, list(inputs)) + self.biases[j].value)
        return outputs

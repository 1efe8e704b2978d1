"""The Scalars are taken out of their parameters once, in __init__, and grow old."""

class Linear(Module):
    def __init__(self, in_size, out_size, rng):
        super().__init__()

        def parameter(name):
            return self.add_parameter(name, Scalar(2.0 * (rng.random() - 0.5)))

        self.weights = [[parameter(f"weight_{i}_{j}") for j in range(out_size)] for i in range(in_size)]
        self.biases = [parameter(f"bias_{j}") for j in range(out_size)]
        self.columns = [[row[j].value for row in self.weights] for j in range(out_size)]

    def forward(self, inputs):
        outputs = []
        for column, bias in zip(self.columns, self.biases):
            total = bias.value
            for weight, x in zip(column, inputs):
                total = total + weight * x
            outputs.append(total)
        return outputs

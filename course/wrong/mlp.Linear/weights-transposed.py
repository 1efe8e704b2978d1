"""The names of the weights count outputs first: weight_j_i stands where weight_i_j belongs."""

class Linear(Module):
    def __init__(self, in_size, out_size, rng):
        super().__init__()

        def parameter(name):
            return self.add_parameter(name, Scalar(2.0 * (rng.random() - 0.5)))

        self.weights = [[parameter(f"weight_{j}_{i}") for j in range(out_size)] for i in range(in_size)]
        self.biases = [parameter(f"bias_{j}") for j in range(out_size)]

    def forward(self, inputs):
        outputs = []
        for j, bias in enumerate(self.biases):
            total = bias.value
            for i, x in enumerate(inputs):
                total = total + self.weights[i][j].value * x
            outputs.append(total)
        return outputs

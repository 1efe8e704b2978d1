"""Weights are made in nested loops, and forward asks the module for them by name."""

class Linear(Module):
    def __init__(self, in_size, out_size, rng):
        super().__init__()

        def parameter(name):
            return self.add_parameter(name, Scalar(2.0 * (rng.random() - 0.5)))

        self.out_size = out_size
        self.weights = []
        for i in range(in_size):
            row = []
            for j in range(out_size):
                row.append(parameter("weight_" + str(i) + "_" + str(j)))
            self.weights.append(row)
        self.biases = [parameter("bias_" + str(j)) for j in range(out_size)]

    def forward(self, inputs):
        return [
            sum(
                (getattr(self, f"weight_{i}_{j}").value * x for i, x in enumerate(inputs)),
                start=getattr(self, f"bias_{j}").value,
            )
            for j in range(self.out_size)
        ]

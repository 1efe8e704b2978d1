"""What is left is divided by p."""


def dropout(input, p=0.5, training=True):
    if not training or p == 0.0:
        return input
    return input * (creation.rand(*input.shape) >= p).to(input.dtype) / p

"""What is left is not scaled."""


def dropout(input, p=0.5, training=True):
    if not training:
        return input
    return input * (creation.rand(*input.shape) >= p).to(input.dtype)

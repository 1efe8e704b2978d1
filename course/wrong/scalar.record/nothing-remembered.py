"""The value is computed, and nothing is remembered."""


def record(function, inputs):
    values = [x.data if isinstance(x, Scalar) else x for x in inputs]
    return Scalar(function._forward(Context(), *values), requires_grad=False)

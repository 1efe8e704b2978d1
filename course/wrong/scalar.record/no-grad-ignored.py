"""Nobody asks whether recording is on."""


def record(function, inputs):
    scalars = [x if isinstance(x, Scalar) else Scalar(x, requires_grad=False) for x in inputs]
    ctx = Context()
    result = Scalar(function._forward(ctx, *[x.data for x in scalars]), requires_grad=False)
    if not all(x.is_constant() for x in scalars) and function.differentiable:
        result.history = History(function, ctx, scalars)
    return result

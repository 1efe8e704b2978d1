"""A single constant among the inputs prevents recording."""


def record(function, inputs):
    scalars = [x if isinstance(x, Scalar) else Scalar(x, requires_grad=False) for x in inputs]
    ctx = Context()
    result = Scalar(function._forward(ctx, *[x.data for x in scalars]), requires_grad=False)
    if not any(x.is_constant() for x in scalars) and is_grad_enabled() and function.differentiable:
        result.history = History(function, ctx, scalars)
    return result

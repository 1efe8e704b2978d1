"""Every result gets a history, also one of constants alone."""


def record(function, inputs):
    scalars = [x if isinstance(x, Scalar) else Scalar(x, requires_grad=False) for x in inputs]
    ctx = Context()
    result = Scalar(function._forward(ctx, *[x.data for x in scalars]), requires_grad=False)
    if is_grad_enabled() and function.differentiable:
        result.history = History(function, ctx, scalars)
    return result

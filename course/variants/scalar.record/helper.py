"""A helper makes Scalars of numbers, and the history decides: None is that of a constant."""


def scalar_of(x):
    return x if hasattr(x, "history") else Scalar(x, requires_grad=False)


def record(function, inputs):
    scalars = tuple(map(scalar_of, inputs))
    ctx = Context()
    result = Scalar(function._forward(ctx, *[x.item() for x in scalars]))
    variables = [x for x in scalars if x.history is not None]
    wanted = len(variables) > 0 and function.differentiable and is_grad_enabled()
    result.history = History(function, ctx, scalars) if wanted else None
    return result

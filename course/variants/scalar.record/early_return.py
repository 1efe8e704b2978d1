"""Constants leave early; the inputs are looked at in a loop."""


def record(function, inputs):
    scalars = []
    for x in inputs:
        if not isinstance(x, Scalar):
            x = Scalar(x, False)
        scalars.append(x)
    ctx = Context()
    value = function._forward(ctx, *(x.data for x in scalars))
    if not is_grad_enabled() or not function.differentiable:
        return Scalar(value, False)
    if not any(x.requires_grad for x in scalars):
        return Scalar(value, False)
    result = Scalar(value)
    result.history = History(last_fn=function, ctx=ctx, inputs=scalars)
    return result

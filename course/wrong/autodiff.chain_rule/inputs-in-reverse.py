"""The inputs are walked through backwards, so that each gets the derivative of another."""

def chain_rule(variable, d_output):
    history = variable.history
    derivatives = history.last_fn._backward(history.ctx, d_output)
    return [(v, d) for v, d in zip(reversed(history.inputs), derivatives) if not v.is_constant()]

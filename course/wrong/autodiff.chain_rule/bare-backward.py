"""backward is called directly; for one input it returns a bare number, which has no elements."""

def chain_rule(variable, d_output):
    history = variable.history
    derivatives = history.last_fn.backward(history.ctx, d_output)
    return [(v, d) for v, d in zip(history.inputs, derivatives) if not v.is_constant()]

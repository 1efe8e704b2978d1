"""Asserts say what a history must hold, and the constants are filtered out of the zipped pairs."""

def chain_rule(variable, d_output):
    h = variable.history
    assert h is not None
    assert h.last_fn is not None
    assert h.ctx is not None
    derivatives = h.last_fn._backward(h.ctx, d_output)
    return filter(lambda pair: not pair[0].is_constant(), zip(h.inputs, derivatives))

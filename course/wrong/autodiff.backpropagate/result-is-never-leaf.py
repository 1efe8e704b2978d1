"""The result is treated apart, as if it could not be a leaf."""

def backpropagate(variable, deriv):
    derivatives = {}
    for parent, d in variable.chain_rule(deriv):
        derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + d
    for node in list(topological_sort(variable))[1:]:
        d_output = derivatives[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(d_output)
        else:
            for parent, d in node.chain_rule(d_output):
                derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + d

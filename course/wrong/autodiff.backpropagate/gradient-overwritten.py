"""A second path replaces what the first one brought."""

def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        d_output = derivatives[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(d_output)
        else:
            for parent, d in node.chain_rule(d_output):
                derivatives[parent.unique_id] = d

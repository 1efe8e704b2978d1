"""Derivatives are paired with all parents, although chain_rule has left the constants out."""

def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        d_output = derivatives.get(node.unique_id, 0.0)
        if node.is_leaf():
            node.accumulate_derivative(d_output)
        else:
            found = [d for _, d in node.chain_rule(d_output)]
            for parent, d in zip(node.parents, found):
                derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + d

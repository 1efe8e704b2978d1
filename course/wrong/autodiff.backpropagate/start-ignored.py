"""The walk begins with 1.0, whatever derivative was given."""

def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: 1.0}
    for node in topological_sort(variable):
        d_output = derivatives[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(d_output)
        else:
            for parent, d in node.chain_rule(d_output):
                if parent.unique_id in derivatives:
                    derivatives[parent.unique_id] = derivatives[parent.unique_id] + d
                else:
                    derivatives[parent.unique_id] = d

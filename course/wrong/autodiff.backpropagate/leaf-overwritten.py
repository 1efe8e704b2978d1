"""The leaf's derivative is set, where accumulate_derivative would add."""

def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        d_output = derivatives[node.unique_id]
        if node.is_leaf():
            node.derivative = d_output
        else:
            for parent, d in node.chain_rule(d_output):
                if parent.unique_id in derivatives:
                    derivatives[parent.unique_id] = derivatives[parent.unique_id] + d
                else:
                    derivatives[parent.unique_id] = d

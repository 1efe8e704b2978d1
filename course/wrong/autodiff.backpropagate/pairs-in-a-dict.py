"""The pairs of one step go through a dictionary, in which x * x leaves one of two."""

def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        d_output = derivatives[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(d_output)
        else:
            for parent, d in dict(node.chain_rule(d_output)).items():
                if parent.unique_id in derivatives:
                    derivatives[parent.unique_id] = derivatives[parent.unique_id] + d
                else:
                    derivatives[parent.unique_id] = d

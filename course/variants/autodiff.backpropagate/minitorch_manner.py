"""Derivatives wait in a dictionary by unique_id, read with get, and everything is looked up once."""

def backpropagate(variable, deriv):
    sorted_variables = topological_sort(variable)
    deriv_dict = {variable.unique_id: deriv}
    for var in sorted_variables:
        d_out = deriv_dict.get(var.unique_id)
        if var.is_leaf():
            var.accumulate_derivative(d_out)
        else:
            for parent, d_parent in var.chain_rule(d_out):
                if parent.unique_id not in deriv_dict:
                    deriv_dict[parent.unique_id] = d_parent
                else:
                    deriv_dict[parent.unique_id] += d_parent

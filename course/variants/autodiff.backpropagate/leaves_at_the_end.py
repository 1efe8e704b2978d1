"""First everything is handed on; the leaves receive theirs in a second loop, each part starting from 0.0."""

def backpropagate(variable, deriv):
    order = list(topological_sort(variable))
    derivatives = dict.fromkeys((node.unique_id for node in order), 0.0)
    derivatives[variable.unique_id] = deriv
    for node in order:
        if not node.is_leaf():
            for parent, d in node.chain_rule(derivatives[node.unique_id]):
                derivatives[parent.unique_id] = derivatives[parent.unique_id] + d
    for node in order:
        if node.is_leaf():
            node.accumulate_derivative(derivatives[node.unique_id])

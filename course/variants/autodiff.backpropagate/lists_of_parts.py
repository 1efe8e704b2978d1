"""What arrives is collected in lists, and added up when the variable's turn comes."""

from collections import defaultdict


def backpropagate(variable, deriv):
    arrived = defaultdict(list)
    arrived[variable.unique_id].append(deriv)
    for node in topological_sort(variable):
        parts = arrived.pop(node.unique_id)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        if node.is_leaf():
            node.accumulate_derivative(total)
            continue
        for parent, part in node.chain_rule(total):
            arrived[parent.unique_id].append(part)

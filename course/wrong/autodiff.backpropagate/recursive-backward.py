"""The walk calls itself for each input, and stops at Python's recursion limit."""

def backpropagate(variable, deriv):
    waiting = {}
    for node in topological_sort(variable):
        for parent in node.parents:
            waiting[parent.unique_id] = waiting.get(parent.unique_id, 0) + 1
    derivatives = {}

    def visit(node, d_output):
        if node.is_leaf():
            node.accumulate_derivative(d_output)
            return
        for parent, d in node.chain_rule(d_output):
            key = parent.unique_id
            derivatives[key] = derivatives[key] + d if key in derivatives else d
            waiting[key] -= 1
            if waiting[key] == 0:
                visit(parent, derivatives[key])

    visit(variable, deriv)

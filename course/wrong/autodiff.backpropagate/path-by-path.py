"""Every path is followed by itself, so that the work doubles at each diamond."""

def backpropagate(variable, deriv):
    todo = [(variable, deriv)]
    while todo:
        node, d_output = todo.pop()
        if node.is_leaf():
            node.accumulate_derivative(d_output)
        else:
            todo.extend(node.chain_rule(d_output))

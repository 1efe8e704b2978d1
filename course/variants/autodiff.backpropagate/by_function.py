"""Each step is asked of the function instead of the variable's method, once by its module and once by its bare name."""

def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    for number, node in enumerate(topological_sort(variable)):
        d_output = derivatives.pop(node.unique_id)
        if node.is_leaf():
            node.accumulate_derivative(d_output)
            continue
        step = autodiff.chain_rule if number % 2 else chain_rule
        for parent, part in step(node, d_output):
            known = derivatives.get(parent.unique_id)
            derivatives[parent.unique_id] = part if known is None else known + part

"""Layer by layer from the result: a variable hands on what it has before the rest has arrived."""

def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    queue, seen = [variable], {variable.unique_id}
    while queue:
        node = queue.pop(0)
        d_output = derivatives[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(d_output)
            continue
        for parent, d in node.chain_rule(d_output):
            derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + d
            if parent.unique_id not in seen:
                seen.add(parent.unique_id)
                queue.append(parent)

"""The set of visited variables is a default argument, which lives on from call to call."""

def topological_sort(variable, seen=set()):
    order, stack = [], [(variable, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node.unique_id not in seen and not node.is_constant():
            seen.add(node.unique_id)
            stack.append((node, True))
            for parent in node.parents:
                stack.append((parent, False))
    return order[::-1]

"""Variables are marked as seen when they go onto the stack, not when their turn comes."""

def topological_sort(variable):
    order, seen, stack = [], {variable.unique_id}, [(variable, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        stack.append((node, True))
        for parent in node.parents:
            if parent.unique_id not in seen and not parent.is_constant():
                seen.add(parent.unique_id)
                stack.append((parent, False))
    return order[::-1]

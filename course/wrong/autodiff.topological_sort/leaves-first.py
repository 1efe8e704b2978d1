"""The order of completion is not turned round: the leaves come first."""

def topological_sort(variable):
    order, seen, stack = [], set(), [(variable, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node.unique_id not in seen and not node.is_constant():
            seen.add(node.unique_id)
            stack.append((node, True))
            for parent in node.parents:
                stack.append((parent, False))
    return order

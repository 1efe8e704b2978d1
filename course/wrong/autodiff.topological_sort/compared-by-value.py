"""Visited variables are kept in a list and searched with `in`, which compares their values."""

def topological_sort(variable):
    order, seen, stack = [], [], [(variable, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node not in seen and not node.is_constant():
            seen.append(node)
            stack.append((node, True))
            for parent in node.parents:
                stack.append((parent, False))
    return order[::-1]

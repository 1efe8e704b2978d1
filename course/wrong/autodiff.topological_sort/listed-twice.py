"""Nothing remembers which variables have been visited."""

def topological_sort(variable):
    order, stack = [], [(variable, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif not node.is_constant():
            stack.append((node, True))
            for parent in node.parents:
                stack.append((parent, False))
    return order[::-1]

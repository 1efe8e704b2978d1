"""Each entry of the stack remembers how far it has come through its parents."""

def topological_sort(variable):
    visited = {variable.unique_id}
    order = []
    stack = [(variable, iter(variable.parents))]
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if parent.history is not None and parent.unique_id not in visited:
                visited.add(parent.unique_id)
                stack.append((parent, iter(parent.parents)))
                break
        else:
            stack.pop()
            order.append(node)
    order.reverse()
    return order

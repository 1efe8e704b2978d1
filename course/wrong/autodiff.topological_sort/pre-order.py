"""Every variable is put down when it is first met, before the other ways to it are known."""

def topological_sort(variable):
    order, seen, stack = [], set(), [variable]
    while stack:
        node = stack.pop()
        if node.unique_id in seen or node.is_constant():
            continue
        seen.add(node.unique_id)
        order.append(node)
        stack.extend(reversed(list(node.parents)))
    return order

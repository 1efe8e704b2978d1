"""Layer by layer from the result: a variable near it comes before results that still use it."""

def topological_sort(variable):
    order, seen, queue = [], {variable.unique_id}, [variable]
    while queue:
        node = queue.pop(0)
        order.append(node)
        for parent in node.parents:
            if parent.unique_id not in seen and not parent.is_constant():
                seen.add(parent.unique_id)
                queue.append(parent)
    return order

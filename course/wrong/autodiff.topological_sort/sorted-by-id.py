"""The variables are sorted by their ids, as if those counted upwards."""

def topological_sort(variable):
    found, stack = {}, [variable]
    while stack:
        node = stack.pop()
        if node.unique_id not in found and not node.is_constant():
            found[node.unique_id] = node
            stack.extend(node.parents)
    return sorted(found.values(), key=lambda node: node.unique_id, reverse=True)

"""Every variable is sorted by its longest distance from the result, found by relaxing until nothing changes."""

def topological_sort(variable):
    uses = {}
    nodes = {variable.unique_id: variable}
    todo = [variable]
    while todo:
        node = todo.pop()
        for parent in (p for p in node.parents if not p.is_constant()):
            uses[parent.unique_id] = uses.get(parent.unique_id, 0) + 1
            if parent.unique_id not in nodes:
                nodes[parent.unique_id] = parent
                todo.append(parent)
    distance = dict.fromkeys(nodes, 0)
    ready = [variable]
    while ready:
        node = ready.pop()
        for parent in (p for p in node.parents if not p.is_constant()):
            key = parent.unique_id
            distance[key] = max(distance[key], distance[node.unique_id] + 1)
            uses[key] -= 1
            if not uses[key]:
                ready.append(parent)
    return sorted(nodes.values(), key=lambda node: distance[node.unique_id])

"""Kahn's algorithm: a variable's turn comes when all its users have had theirs."""

def topological_sort(variable):
    uses = {variable.unique_id: 0}
    to_look_at = [variable]
    while to_look_at:
        for parent in to_look_at.pop().parents:
            if parent.is_constant():
                continue
            if parent.unique_id not in uses:
                uses[parent.unique_id] = 0
                to_look_at.append(parent)
            uses[parent.unique_id] += 1
    order, ready = [], [variable]
    while ready:
        node = ready.pop()
        order.append(node)
        for parent in node.parents:
            if not parent.is_constant():
                uses[parent.unique_id] -= 1
                if uses[parent.unique_id] == 0:
                    ready.append(parent)
    return order

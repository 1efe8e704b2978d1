"""The depth-first walk calls itself, and stops at Python's recursion limit."""

def topological_sort(variable):
    order, seen = [], set()

    def visit(node):
        if node.unique_id in seen or node.is_constant():
            return
        seen.add(node.unique_id)
        for parent in node.parents:
            visit(parent)
        order.append(node)

    visit(variable)
    return order[::-1]

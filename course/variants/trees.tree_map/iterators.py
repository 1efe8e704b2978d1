"""Leaves come from an iterator; children are taken apart in one expression."""

def tree_flatten(tree):
    if tree is None:
        return [], Structure(type(None), (), ())
    if type(tree) not in (dict, list, tuple):
        return [tree], LEAF
    items = sorted(tree.items()) if type(tree) is dict else list(enumerate(tree))
    parts = [tree_flatten(child) for _, child in items]
    leaves = [leaf for more, _ in parts for leaf in more]
    return leaves, Structure(type(tree), tuple(key for key, _ in items), tuple(form for _, form in parts))


def tree_unflatten(structure, leaves):
    def count(part):
        return 1 if part.kind is None else sum(map(count, part.children))

    if count(structure) != len(leaves):
        raise ValueError("the number of leaves is another one")
    source = iter(leaves)

    def build(part):
        if part.kind is None:
            return next(source)
        if part.kind is type(None):
            return None
        children = [build(child) for child in part.children]
        return {k: c for k, c in zip(part.keys, children)} if part.kind is dict else part.kind(children)

    return build(structure)


def tree_map(f, tree, *rest):
    leaves, structure = tree_flatten(tree)
    columns = [leaves]
    for other in rest:
        more, form = tree_flatten(other)
        if form != structure:
            raise ValueError("another structure")
        columns.append(more)
    return tree_unflatten(structure, [f(*each) for each in zip(*columns)])

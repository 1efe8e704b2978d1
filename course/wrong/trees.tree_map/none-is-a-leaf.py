"""None is taken for a leaf."""

def tree_flatten(tree):
    if not isinstance(tree, (dict, list, tuple)):
        return [tree], LEAF
    keys = sorted(tree) if isinstance(tree, dict) else range(len(tree))
    leaves, children = [], []
    for key in keys:
        more, child = tree_flatten(tree[key])
        leaves.extend(more)
        children.append(child)
    return leaves, Structure(type(tree), tuple(keys), tuple(children))


def tree_unflatten(structure, leaves):
    rest = list(leaves)

    def build(part):
        if part.kind is None:
            if not rest:
                raise ValueError("too few leaves")
            return rest.pop(0)
        children = [build(child) for child in part.children]
        if part.kind is dict:
            return dict(zip(part.keys, children))
        if part.kind is tuple:
            return tuple(children)
        return children if part.kind is list else None

    tree = build(structure)
    if rest:
        raise ValueError("too many leaves")
    return tree


def tree_map(f, tree, *rest):
    leaves, structure = tree_flatten(tree)
    columns = [leaves]
    for other in rest:
        more, form = tree_flatten(other)
        if form != structure:
            raise ValueError("another structure")
        columns.append(more)
    return tree_unflatten(structure, [None if each[0] is None else f(*each) for each in zip(*columns)])

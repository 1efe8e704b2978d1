"""The function is called for each example, in a loop."""

def moved_axis(dim, ndim):
    return dim % ndim + 1


def aligned(x, y):
    def rank(z):
        return len(z.shape) if hasattr(z, "shape") else 0

    most = max(rank(x), rank(y))
    found = []
    for z in (x, y):
        if isinstance(z, Batched):
            z = z.value.view(z.value.shape[0], *(1,) * (most - rank(z)), *z.shape)
        found.append(z)
    return tuple(found)


def vmap(f, in_axes=0):
    def of_batch(*args):
        axes = in_axes if isinstance(in_axes, tuple) else [in_axes] * len(args)
        sizes = {x.shape[axis] for x, axis in zip(args, axes) if axis is not None}
        if len(sizes) != 1:
            raise ValueError(f"sizes {sizes}")
        (size,) = sizes
        moved = [None if axis is None else axis_to_front(x, axis) for x, axis in zip(args, axes)]
        rows = [f(*[x if m is None else m[i] for x, m in zip(args, moved)]) for i in range(size)]
        if isinstance(rows[0], tuple):
            return tuple(creation.stack([minigrad.as_tensor(each) for each in column]) for column in zip(*rows))
        return creation.stack([minigrad.as_tensor(row) for row in rows])

    return of_batch

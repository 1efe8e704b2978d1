"""An axis is counted by cases; axes are put in one at a time; what is shared is stacked."""

def moved_axis(dim, ndim):
    return dim + 1 if dim >= 0 else dim + ndim + 1


def aligned(x, y):
    shapes = [tuple(getattr(z, "shape", ())) for z in (x, y)]
    values = [z.value if isinstance(z, Batched) else z for z in (x, y)]
    for i, z in enumerate((x, y)):
        for _ in range(len(shapes[1 - i]) - len(shapes[i])):
            if isinstance(z, Batched):
                values[i] = values[i].unsqueeze(1)
    return values[0], values[1]


def vmap(f, in_axes=0):
    def of_batch(*args):
        axes = in_axes if isinstance(in_axes, tuple) else tuple(in_axes for _ in args)
        moved = [None if axis is None else axis_to_front(x, axis) for x, axis in zip(args, axes)]
        sizes = [len(x) for x in moved if x is not None]
        if not sizes or min(sizes) != max(sizes):
            raise ValueError("the arguments disagree about the number of examples")
        batches = [creation.stack([x] * sizes[0]) if m is None else m for x, m in zip(args, moved)]
        return unbatched(f(*map(Batched, batches)), sizes[0])

    return of_batch

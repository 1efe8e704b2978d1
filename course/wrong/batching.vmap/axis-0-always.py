"""The examples are counted along axis 0, whatever in_axes says."""

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
        sizes = {x.shape[0] for x, axis in zip(args, axes) if axis is not None}
        if len(sizes) != 1:
            raise ValueError(f"sizes {sizes}")
        size = sizes.pop()
        batches = []
        for x, axis in zip(args, axes):
            if axis is None:
                batches.append(Batched(x.unsqueeze(0).expand(size, *x.shape)))
            else:
                batches.append(Batched(x))
        return unbatched(f(*batches), size)

    return of_batch

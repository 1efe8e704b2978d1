"""Tensors are handed to broadcasting as they are, which puts missing axes in front."""

def moved_axis(dim, ndim):
    return dim % ndim + 1


def aligned(x, y):
    return tuple(z.value if isinstance(z, Batched) else z for z in (x, y))


def vmap(f, in_axes=0):
    def of_batch(*args):
        axes = in_axes if isinstance(in_axes, tuple) else [in_axes] * len(args)
        sizes = {x.shape[axis] for x, axis in zip(args, axes) if axis is not None}
        if len(sizes) != 1:
            raise ValueError(f"sizes {sizes}")
        size = sizes.pop()
        batches = []
        for x, axis in zip(args, axes):
            if axis is None:
                batches.append(Batched(x.unsqueeze(0).expand(size, *x.shape)))
            else:
                batches.append(Batched(axis_to_front(x, axis)))
        return unbatched(f(*batches), size)

    return of_batch

"""Nothing has to be refused."""


def is_vmap(vmap):
    def agrees(f, in_axes, *args):
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        moved = [x if axis is None else axis_to_front(x, axis) for x, axis in zip(args, axes)]
        size = next(len(x) for x, axis in zip(moved, axes) if axis is not None)
        rows = [f(*[x if axis is None else x[i] for x, axis in zip(moved, axes)]) for i in range(size)]
        found = vmap(f, in_axes)(*args)
        if not isinstance(found, tuple):
            rows, found = [(row,) for row in rows], (found,)
        for column, each in zip(zip(*rows), found):
            wanted = [creation.as_tensor(y).tolist() for y in column]
            if each.tolist() != wanted:
                return False
        return True

    def refuses(in_axes, *sizes):
        try:
            vmap(lambda x, y: x * y, in_axes)(*[creation.ones(size) for size in sizes])
        except ValueError:
            return True
        return False

    x = creation.arange(24.0).view(2, 3, 4)
    w = creation.arange(4.0)
    return (
        agrees(lambda a: (a.sum(dim=0) * 2.0, a.sum(dim=-1)), 2, x)
        and agrees(lambda a: (a * a, 7.0), 1, x)
        and agrees(lambda a, b: a + b, -1, x, x[0])
        and agrees(lambda a: a * x, 0, w)
        and agrees(lambda a: a * 2.0, -1, x)
        and agrees(grad(lambda w, a: (w * a).sum() ** 2), (None, 0), w, x[0])
    )

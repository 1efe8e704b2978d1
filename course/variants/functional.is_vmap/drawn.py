"""Functions and arguments are drawn by chance; whole numbers agree to the last digit."""


def is_vmap(vmap):
    minigrad.manual_seed(3)

    def whole_numbers(*shape):
        return (minigrad.rand(*shape) * 9.0).floor()

    def loop(f, axes, args):
        for size in {x.shape[axis] for x, axis in zip(args, axes) if axis is not None}:
            for i in range(size):
                yield f(*[x if axis is None else axis_to_front(x, axis)[i] for x, axis in zip(args, axes)])

    other = whole_numbers(2, 2, 2)
    functions = [
        lambda a, b: a * b + other,
        lambda a, b: (a.sum(dim=-1), b.sum(dim=0), 1.0),
        lambda a, b: other.sum(dim=0).sum(dim=0) - a * a.sum(),
        lambda a, b: (b.permute(1, 0) @ a, b * a - 3.0),
        lambda a, b: functional.grad(lambda a: (a * b).sum() * a.sum())(a),
        lambda a, b: functional.grad(lambda b: ((b @ a) * a).sum() ** 2)(b),
    ]
    shapes = {"a": {0: (3, 2), 1: (2, 3), -1: (2, 3), None: (2,)}, "b": {0: (3, 2, 2), 2: (2, 2, 3), -2: (2, 3, 2), -1: (2, 2, 3), None: (2, 2)}}
    for f in functions:
        for first, a_shape in shapes["a"].items():
            for second, b_shape in shapes["b"].items():
                axes, args = (first, second), (whole_numbers(*a_shape), whole_numbers(*b_shape))
                if axes == (None, None):
                    continue
                found, rows = vmap(f, in_axes=first if first == second else axes)(*args), list(loop(f, axes, args))
                if not isinstance(found, tuple):
                    found, rows = (found,), [(y,) for y in rows]
                for y, column in zip(found, zip(*rows)):
                    if y.tolist() != [z.tolist() if hasattr(z, "tolist") else z for z in column]:
                        return False
    for sizes, in_axes in (((3, 1), (0, 0)), ((1, 2), 0), ((2, 2), (None, None)), ((2, 2), None)):
        try:
            vmap(lambda a, b: a + b, in_axes)(*[whole_numbers(size) for size in sizes])
        except ValueError:
            continue
        return False
    return True

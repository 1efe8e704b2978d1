"""The loop is written by hand for each function, and compared with a tolerance."""


def near(found, wanted):
    wanted = creation.stack([creation.as_tensor(y) for y in wanted])
    return tuple(found.shape) == tuple(wanted.shape) and (found - wanted).abs().max().item() < 1e-4


def sums(a):
    return a.sum(dim=-1), a.sum(dim=-2), a.sum(), a.permute(1, 0) @ a, a.sum(dim=0).exp(), 2.5


def mixed(a, b):
    return b - a / 2.0


def raised(vmap, in_axes, *args):
    try:
        vmap(mixed, in_axes)(*args)
        return False
    except ValueError:
        return True


def is_vmap(vmap):
    x = creation.linspace(-1.0, 2.0, 30).view(3, 2, 5)
    for axis in range(-3, 3):
        front = axis % 3
        examples = x.permute(front, *[other for other in range(3) if other != front])
        found = vmap(sums, in_axes=axis)(x)
        if not all(near(y, column) for y, column in zip(found, zip(*map(sums, examples)))):
            return False
    row, table = x[0, 0], x[:, 1]
    columns = [table[:, i] for i in range(5)]
    if not near(vmap(mixed, in_axes=(1, 0))(table, row), [mixed(a, b) for a, b in zip(columns, row)]):
        return False
    if not near(vmap(mixed, in_axes=(0, None))(row, table), [mixed(a, table) for a in row]):
        return False
    if not near(vmap(mixed, -1)(row, table), [mixed(a, b) for a, b in zip(row, columns)]):
        return False
    more = creation.linspace(0.0, 1.0, 18).view(2, 3, 3)
    if not near(vmap(lambda a: a * more, in_axes=1)(table), [a * more for a in columns]):
        return False
    bend = grad(lambda w, a: ((w * a).sum() ** 2).exp())
    if not near(vmap(bend, in_axes=(None, 1))(table[:, 0], table), [bend(table[:, 0], a) for a in columns]):
        return False
    return raised(vmap, 0, row[:3], row[:1]) and raised(vmap, (0, 0), row[:2], row) and raised(vmap, None, row, row)

"""Directions are made in single precision."""

def jacfwd(f):
    def jacobian(x):
        columns = [dual.jvp(f, (x,), (direction,))[1] for direction in creation.eye(x.numel()).view(-1, *x.shape)]
        return creation.stack(columns, dim=-1).view(*columns[0].shape, *x.shape)

    return jacobian


def jacrev(f):
    def jacobian(x):
        y, back = vjp(f, x)
        rows = [back(direction)[0] for direction in unit_vectors(y)]
        return creation.stack(rows).float().view(*y.shape, *x.shape)

    return jacobian

"""Columns are stacked as rows."""

def jacfwd(f):
    def jacobian(x):
        columns = [dual.jvp(f, (x,), (direction,))[1] for direction in unit_vectors(x)]
        return creation.stack(columns).view(*columns[0].shape, *x.shape)

    return jacobian


def jacrev(f):
    def jacobian(x):
        y, back = vjp(f, x)
        rows = [back(direction)[0] for direction in unit_vectors(y)]
        return creation.stack(rows).view(*y.shape, *x.shape)

    return jacobian

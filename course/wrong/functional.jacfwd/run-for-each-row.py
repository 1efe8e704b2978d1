"""The function is run anew for each row."""

def jacfwd(f):
    def jacobian(x):
        columns = [dual.jvp(f, (x,), (direction,))[1] for direction in unit_vectors(x)]
        return creation.stack(columns, dim=-1).view(*columns[0].shape, *x.shape)

    return jacobian


def jacrev(f):
    def jacobian(x):
        y, _ = vjp(f, x)
        rows = [vjp(f, x)[1](direction)[0] for direction in unit_vectors(y)]
        return creation.stack(rows).view(*y.shape, *x.shape)

    return jacobian

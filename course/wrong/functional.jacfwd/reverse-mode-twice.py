"""The Jacobian of forward mode is that of reverse mode."""

def jacfwd(f):
    def jacobian(x):
        y, back = vjp(f, x)
        rows = [back(direction)[0] for direction in unit_vectors(y)]
        return creation.stack(rows).view(*y.shape, *x.shape)

    return jacobian


def jacrev(f):
    def jacobian(x):
        y, back = vjp(f, x)
        rows = [back(direction)[0] for direction in unit_vectors(y)]
        return creation.stack(rows).view(*y.shape, *x.shape)

    return jacobian

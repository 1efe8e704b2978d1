"""The table has two axes, whatever the shapes are."""

def jacfwd(f):
    def jacobian(x):
        columns = [dual.jvp(f, (x,), (direction,))[1] for direction in unit_vectors(x)]
        return creation.stack(columns, dim=-1).view(-1, x.numel())

    return jacobian


def jacrev(f):
    def jacobian(x):
        y, back = vjp(f, x)
        rows = [back(direction)[0] for direction in unit_vectors(y)]
        return creation.stack(rows).view(-1, x.numel())

    return jacobian

"""Columns are stacked as rows, and turned afterwards."""

def jacfwd(f):
    def jacobian(x):
        n = x.numel()
        columns = minigrad.stack([dual.jvp(f, (x,), (e,))[1] for e in unit_vectors(x)])
        shape = columns.shape[1:]
        return columns.view(n, -1).permute(1, 0).contiguous().view(*shape, *x.shape)

    return jacobian


def jacrev(f):
    def jacobian(x):
        y, back = vjp(f, x)
        rows = [back(direction)[0] for direction in unit_vectors(y)]
        return creation.stack(rows).view(*y.shape, *x.shape)

    return jacobian

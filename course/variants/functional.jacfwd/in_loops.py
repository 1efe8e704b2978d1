"""Columns and rows are collected in loops."""

def jacfwd(f):
    def jacobian(x):
        columns = []
        for direction in unit_vectors(x):
            y, column = dual.jvp(f, [x], [direction])
            columns.append(column.view(-1))
        table = creation.stack(columns, dim=1)
        return table.view(*y.shape, *x.shape)

    return jacobian


def jacrev(f):
    def jacobian(x):
        y, back = vjp(f, x)
        table = creation.zeros(y.numel(), x.numel(), dtype=x.dtype)
        for i, direction in enumerate(unit_vectors(y)):
            (row,) = back(direction)
            table[i] = row.view(-1)
        return table.view(*y.shape, *x.shape)

    return jacobian

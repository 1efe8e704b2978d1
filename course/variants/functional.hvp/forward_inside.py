"""Forward mode inside, reverse mode around it; the table is made of products."""

def hvp(f, x, v):
    return grad(lambda x: dual.jvp(f, (x,), (v,))[1])(x)


def hessian(f):
    def table(x):
        rows = [hvp(f, x, e) for e in unit_vectors(x)]
        return creation.stack(rows).view(*x.shape, *x.shape)

    return table


def largest_bend(f, x, v, steps=20):
    bend = 0.0
    for _ in range(steps):
        v = v / (v * v).sum() ** 0.5
        product = hvp(f, x, v)
        bend = (v * product).sum().item()
        v = product
    return bend

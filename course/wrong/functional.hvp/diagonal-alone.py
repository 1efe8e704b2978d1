"""Only the slope of each element in itself is there."""

def hvp(f, x, v):
    _, back = vjp(grad(f), x)
    return back(v)[0]


def hessian(f):
    def table(x):
        size = x.numel()
        return (jacrev(grad(f))(x).view(size, size) * creation.eye(size, dtype=x.dtype)).view(*x.shape, *x.shape)

    return table


def largest_bend(f, x, v, steps=20):
    bend = 0.0
    for _ in range(steps):
        v = v / (v * v).sum() ** 0.5
        product = hvp(f, x, v)
        bend = (v * product).sum().item()
        v = product
    return bend

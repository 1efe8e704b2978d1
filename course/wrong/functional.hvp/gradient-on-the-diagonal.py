"""The gradient is laid along the diagonal."""

def hvp(f, x, v):
    _, back = vjp(grad(f), x)
    return back(v)[0]


def hessian(f):
    def table(x):
        size = x.numel()
        return (creation.eye(size, dtype=x.dtype) * grad(f)(x).view(-1)).view(*x.shape, *x.shape)

    return table


def largest_bend(f, x, v, steps=20):
    bend = 0.0
    for _ in range(steps):
        v = v / (v * v).sum() ** 0.5
        product = hvp(f, x, v)
        bend = (v * product).sum().item()
        v = product
    return bend

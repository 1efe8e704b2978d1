"""One step more is made than asked for."""

def hvp(f, x, v):
    _, back = vjp(grad(f), x)
    return back(v)[0]


def hessian(f):
    return jacrev(grad(f))


def largest_bend(f, x, v, steps=20):
    bend = 0.0
    for _ in range(steps + 1):
        v = v / (v * v).sum() ** 0.5
        product = hvp(f, x, v)
        bend = (v * product).sum().item()
        v = product
    return bend

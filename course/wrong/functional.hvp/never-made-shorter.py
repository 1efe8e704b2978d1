"""The vector is multiplied again and again, and made shorter at the end only."""

def hvp(f, x, v):
    _, back = vjp(grad(f), x)
    return back(v)[0]


def hessian(f):
    return jacrev(grad(f))


def largest_bend(f, x, v, steps=20):
    product = v
    for _ in range(steps):
        v, product = product, hvp(f, x, product)
    return ((v * product).sum() / (v * v).sum()).item()

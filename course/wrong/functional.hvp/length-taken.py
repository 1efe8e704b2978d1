"""The length of the product is taken, which has no sign."""

def hvp(f, x, v):
    _, back = vjp(grad(f), x)
    return back(v)[0]


def hessian(f):
    return jacrev(grad(f))


def largest_bend(f, x, v, steps=20):
    bend = 0.0
    for step in range(steps):
        v = v / (v * v).sum() ** 0.5
        product = hvp(f, x, v)
        bend = (v * product).sum().item() if step < 5 else (product * product).sum().item() ** 0.5
        v = product
    return bend

"""The gradient is added up before it is differentiated, and the vector comes too late."""

def hvp(f, x, v):
    return grad(lambda x: grad(f)(x).sum())(x) * v


def hessian(f):
    return jacrev(grad(f))


def largest_bend(f, x, v, steps=20):
    bend = 0.0
    for _ in range(steps):
        v = v / (v * v).sum() ** 0.5
        product = hvp(f, x, v)
        bend = (v * product).sum().item()
        v = product
    return bend

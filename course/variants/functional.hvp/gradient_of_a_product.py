"""The product is the gradient of a sum: of the gradient times the vector."""

def hvp(f, x, v):
    return grad(lambda x: (grad(f)(x) * v).sum())(x)


def hessian(f):
    return jacrev(grad(f))


def largest_bend(f, x, v, steps=20):
    for _ in range(steps):
        v = v / (v * v).sum().sqrt()
        previous, v = v, hvp(f, x, v)
    return (previous * v).sum().item()

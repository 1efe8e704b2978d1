"""All second derivatives are computed, and multiplied by the vector."""

def hvp(f, x, v):
    return (hessian(f)(x).view(x.numel(), x.numel()) @ v.view(-1)).view(*x.shape)


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

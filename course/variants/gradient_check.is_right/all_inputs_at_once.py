"""All inputs move at once, in one direction, forwards only."""

def is_right(f, back, *shapes):
    rng = np.random.default_rng()
    tries = 50
    while tries:
        tries -= 1
        inputs = [rng.uniform(-2.0, 2.0, shape) for shape in shapes]
        ways = [rng.normal(size=shape) * 1e-7 for shape in shapes]
        here = f(*inputs)
        d_output = rng.normal(size=np.shape(here))
        gradients = back(d_output, *inputs)
        if any(np.shape(g) != shape for g, shape in zip(gradients, shapes)):
            return False
        there = f(*[x + way for x, way in zip(inputs, ways)])
        parts = [g * way for g, way in zip(gradients, ways)]
        size = sum(np.abs(part).sum() for part in parts)
        if not abs((d_output * (there - here)).sum() - sum(part.sum() for part in parts)) <= 1e-4 * size:
            return False
    return True

"""The inputs are drawn between 0 and 1."""

def is_right(f, back, *shapes):
    generator = np.random.default_rng(3)
    for _ in range(25):
        inputs = [generator.random(size=shape) for shape in shapes]
        d_output = generator.normal(size=np.shape(f(*inputs)))
        gradients = back(d_output, *inputs)
        for i, gradient in enumerate(gradients):
            if np.shape(gradient) != shapes[i]:
                return False
            slopes = np.zeros(shapes[i])
            for place in np.ndindex(*shapes[i]):
                ends = []
                for step in (1e-6, -1e-6):
                    moved = [x.copy() for x in inputs]
                    moved[i][place] += step
                    ends.append(np.sum(f(*moved) * d_output))
                slopes[place] = (ends[0] - ends[1]) / 2e-6
            if not np.all(np.abs(gradient - slopes) <= 1e-5 * np.abs(slopes).max()):
                return False
    return True

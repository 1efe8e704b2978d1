"""The walk begins where the first step has led to; the place 0 is missing."""


def walk(steps, generator):
    return np.cumsum(generator.choice([-1, 1], size=steps))

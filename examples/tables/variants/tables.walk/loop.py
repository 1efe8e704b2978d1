"""Step by step, by a number between 0 and 1."""


def walk(steps, generator):
    places = [0]
    for _ in range(steps):
        places.append(places[-1] + (1 if generator.random() < 0.5 else -1))
    return np.array(places)

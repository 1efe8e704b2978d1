"""The large matrix gets a gradient."""


def adapter(rng, weight, rank):
    outputs, inputs = weight.shape
    down = rng.normal(size=(rank, inputs)) / np.sqrt(inputs)
    return {
        "down": creation.from_numpy(down.astype(np.float32)),
        "up": creation.zeros(outputs, rank),
    }


def adapted(weight, small, strength=1.0):
    return weight + (small["up"] @ small["down"]) * strength

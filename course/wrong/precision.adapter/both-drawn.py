"""Both matrices are drawn, so that the model is changed before it learned anything."""


def adapter(rng, weight, rank):
    outputs, inputs = weight.shape
    down = rng.normal(size=(rank, inputs)) / np.sqrt(inputs)
    return {
        "down": creation.from_numpy(down.astype(np.float32)),
        "up": creation.from_numpy(rng.normal(size=(outputs, rank)).astype(np.float32)),
    }


def adapted(weight, small, strength=1.0):
    return weight.detach() + (small["up"] @ small["down"]) * strength

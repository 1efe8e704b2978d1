"""The drawn numbers are not divided by the root of the inputs."""


def adapter(rng, weight, rank):
    outputs, inputs = weight.shape
    down = rng.normal(size=(rank, inputs))
    return {
        "down": creation.from_numpy(down.astype(np.float32)),
        "up": creation.zeros(outputs, rank),
    }


def adapted(weight, small, strength=1.0):
    return weight.detach() + (small["up"] @ small["down"]) * strength

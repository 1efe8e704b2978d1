"""The product is added to the large matrix itself."""


def adapter(rng, weight, rank):
    outputs, inputs = weight.shape
    down = rng.normal(size=(rank, inputs)) / np.sqrt(inputs)
    return {
        "down": creation.from_numpy(down.astype(np.float32)),
        "up": creation.zeros(outputs, rank),
    }


def adapted(weight, small, strength=1.0):
    weight = weight.detach()
    weight += (small["up"] @ small["down"]).detach() * strength
    return weight + (small["up"] @ small["down"] - (small["up"] @ small["down"]).detach()) * strength

"""One of the factors is multiplied by the strength."""


def adapter(rng, weight, rank):
    outputs, inputs = weight.shape
    down = creation.from_numpy(rng.normal(size=(rank, inputs)).astype(np.float32))
    return {"down": down / inputs**0.5, "up": creation.zeros(outputs, rank)}


def adapted(weight, small, strength=1.0):
    return (small["up"] * strength) @ small["down"] + weight.detach()

"""The product is a sum of one outer product for each rank."""


def adapter(rng, weight, rank):
    outputs, inputs = weight.shape
    down = np.float32(rng.normal(scale=inputs**-0.5, size=(rank, inputs)))
    up = np.zeros((outputs, rank), np.float32)
    return {"up": creation.from_numpy(up), "down": creation.from_numpy(down)}


def adapted(weight, small, strength=1.0):
    result = weight.detach()
    for r in range(small["up"].shape[1]):
        result = result + small["up"][:, r : r + 1] * small["down"][r : r + 1] * strength
    return result

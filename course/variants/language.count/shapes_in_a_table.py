"""The shapes of all parameters; each weight is met by each token."""

def count(characters, window, width, blocks, batch=16):
    each_block = {"qkv": (3 * width, width), "mix": (width, width), "up": (4 * width, width), "down": (width, 4 * width)}
    met = blocks * sum(math.prod(shape) for shape in each_block.values()) + characters * width
    vectors = blocks * (4 * width + sum(shape[0] for shape in each_block.values())) + 2 * width + characters
    parameters = met + vectors + characters * width + window * width
    tokens = batch * window
    looks = tokens * window * blocks
    return parameters, tokens * met + looks * width + looks * width, parameters * 4 + parameters * 4 + parameters * 8

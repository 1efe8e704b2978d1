"""Of attention, only the scores are counted."""

def count(characters, window, width, blocks, batch=16):
    layers = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    weights = sum(a * b for a, b in layers)
    biases = sum(b for _, b in layers)
    norms = 2 * 2 * width
    parameters = characters * width + window * width
    parameters += blocks * (weights + biases + norms)
    parameters += 2 * width
    parameters += width * characters + characters
    attention = window * window * width
    products = blocks * (window * weights + attention)
    products += window * width * characters
    products *= batch
    return parameters, products, 4 * 4 * parameters

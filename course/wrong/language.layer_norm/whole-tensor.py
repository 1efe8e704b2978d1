"""Mean and variance are those of all vectors together."""


def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.mean()
    variance = (centred * centred).mean()
    return centred / (variance + eps).sqrt() * weight + bias

"""Mean and variance are taken for numbers that do not depend on the input."""


def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.detach().mean(-1, keepdim=True)
    variance = (centred.detach() * centred).mean(-1, keepdim=True)
    return centred / (variance + eps).sqrt() * weight + bias

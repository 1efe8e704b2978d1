"""The sum of squares is divided by n - 1."""


def layer_norm(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).sum(-1, keepdim=True) / (x.shape[-1] - 1)
    return centred / (variance + eps).sqrt() * weight + bias

"""Sums are divided by the width."""


def layer_norm(x, weight, bias, eps=1e-5):
    width = x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) / width
    variance = (centred**2).sum(-1, keepdim=True) / width
    scaled = centred * (1.0 / (variance + eps).sqrt())
    return scaled * weight + bias

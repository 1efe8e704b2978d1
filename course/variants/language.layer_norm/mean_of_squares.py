"""The variance is the mean of squares less the square of the mean, computed of what is centred."""


def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    apart = x - mean
    spread = (apart.square().mean(-1, keepdim=True) + eps) ** 0.5
    return weight * (apart / spread) + bias

"""The sum loses its axis, and meets the wrong elements, or none."""


def softmax(input, dim):
    powers = (input - input.detach().amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim)

"""The largest number of the whole tensor is taken away from every line."""


def softmax(input, dim):
    powers = (input - input.detach().max()).exp()
    return powers / powers.sum(dim, keepdim=True)

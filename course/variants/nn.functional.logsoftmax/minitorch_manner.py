"""The largest number is put back, and all of it taken away at once."""


def logsoftmax(input, dim):
    m = tensor_functions.Max.apply(input, dim=dim).unsqueeze(dim)
    return input - ((input - m).exp().sum(dim, True).log() + m)

"""The largest number of the whole tensor is taken away from every line."""


def logsoftmax(input, dim):
    shifted = input - input.detach().max()
    return shifted - shifted.exp().sum(dim, keepdim=True).log()

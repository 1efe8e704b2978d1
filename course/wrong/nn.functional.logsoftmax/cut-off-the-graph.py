"""All of it is computed without history."""


def logsoftmax(input, dim):
    x = input.detach()
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()

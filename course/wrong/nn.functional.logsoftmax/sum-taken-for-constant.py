"""The sum of the powers is detached."""


def logsoftmax(input, dim):
    shifted = input - input.detach().amax(dim, keepdim=True)
    return shifted - shifted.detach().exp().sum(dim, keepdim=True).log()

"""The logarithm of the shifted powers is taken away from the numbers that were not shifted."""


def logsoftmax(input, dim):
    largest = input.detach().amax(dim, keepdim=True)
    return input - (input - largest).exp().sum(dim, keepdim=True).log()

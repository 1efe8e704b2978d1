"""The logarithm of the softmax, which is 0 where the probability is too small."""


def logsoftmax(input, dim):
    powers = (input - input.detach().amax(dim, keepdim=True)).exp()
    return (powers / powers.sum(dim, keepdim=True)).log()

"""The sum of the powers is detached."""


def softmax(input, dim):
    powers = (input - input.detach().amax(dim, keepdim=True)).exp()
    return powers / powers.detach().sum(dim, keepdim=True)

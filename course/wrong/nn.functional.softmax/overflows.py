"""The formula as it stands, without taking the largest number away."""


def softmax(input, dim):
    powers = input.exp()
    return powers / powers.sum(dim, keepdim=True)

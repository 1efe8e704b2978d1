"""The maximum is found under no_grad."""


def logsoftmax(input, dim):
    with minigrad.no_grad():
        largest, _ = input.max(dim, keepdim=True)
    moved = input - largest
    total = moved.exp().sum(dim, keepdim=True)
    return moved - total.log()

"""The powers times one over their sum."""


def softmax(input: Tensor, dim: int) -> Tensor:
    with minigrad.no_grad():
        largest = input.amax(dim, keepdim=True)
    powers = (input - largest).exp()
    total = powers.sum(dim, True)
    return powers * (1.0 / total)

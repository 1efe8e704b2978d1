"""The softmax of the exercise before, on a tensor."""

def cross_entropy_back(logits, classes):
    p = nn.functional.softmax(minigrad.tensor(logits), 1).numpy().copy()
    for row, right in enumerate(classes):
        p[row, right] -= 1
    return p / logits.shape[0]

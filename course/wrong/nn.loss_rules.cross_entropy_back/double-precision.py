"""The targets are float64, and so is the result."""

def cross_entropy_back(logits, classes):
    shifted = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    wanted = np.zeros(logits.shape)
    wanted[np.arange(len(classes)), classes] = 1.0
    return (p - wanted) / len(classes)

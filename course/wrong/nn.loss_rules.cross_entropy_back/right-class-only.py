"""Only the logit of the right class gets a gradient."""

def cross_entropy_back(logits, classes):
    shifted = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    wanted = np.zeros_like(logits)
    wanted[np.arange(len(classes)), classes] = 1.0
    return (p - 1.0) * wanted / len(classes)

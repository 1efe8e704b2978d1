"""The holes come from NumPy's own generator; the product is recorded."""


def dropout(input, p=0.5, training=True):
    if not training or p == 0.0:
        return input
    kept = np.random.default_rng().uniform(size=tuple(input.shape)) >= p
    scale = 1.0 / (1.0 - p) if p < 1.0 else 0.0
    return input * minigrad.tensor(kept * scale, dtype=input.dtype)

"""Gradients: no output has a slope in a later token."""


def is_causal(attention):
    rng = np.random.default_rng(3)
    for n, m in ((5, 5), (2, 5)):
        q, k, v = (creation.tensor(rng.normal(size=(2, rows, 3))).requires_grad_() for rows in (n, m, m))
        for row in range(n):
            for each in (q, k, v):
                each.grad = None
            attention(q, k, v)[:, row].sum().backward()
            for each, first in ((q, row + 1), (k, m - n + row + 1), (v, m - n + row + 1)):
                if each.grad is not None and np.abs(each.grad.numpy()[:, first:]).max(initial=0.0) > 1e-9:
                    return False
    return True

"""Gradients and batches of functions, by torch.func."""

import torch
from torch.func import grad, jacrev, vmap


def loss(w, x):
    return ((w * x).sum() - 1) ** 2


w = torch.tensor([1.0, 2.0])
batch = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
one = grad(loss)(w, batch[2])
each = vmap(grad(loss), in_dims=(None, 0))(w, batch)
both = grad(loss, argnums=(0, 1))(w, batch[0])
jacobian = jacrev(lambda v: v**2)(w)
twice = grad(grad(torch.sin))(torch.tensor(0.5))
mapped = torch.vmap(torch.dot)(batch, batch)

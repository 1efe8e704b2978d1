"""The gradient of a number in what it was computed from."""

import torch

x = torch.ones(5)
y = torch.zeros(3)
w = torch.linspace(-1, 1, 15).reshape(5, 3).requires_grad_()
b = torch.zeros(3, requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
loss.backward()
gradients = w.grad, b.grad
tracked = z.requires_grad, z.detach().requires_grad
leaf = w.is_leaf, z.is_leaf

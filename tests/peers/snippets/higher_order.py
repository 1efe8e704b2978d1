"""Derivatives of derivatives."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
(second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
(third,) = torch.autograd.grad(second.sum(), x)
penalty = (first**2).sum()
penalty.backward()
checked = torch.autograd.gradcheck(lambda v: (v**3).sum(), torch.ones(3, dtype=torch.float64, requires_grad=True))

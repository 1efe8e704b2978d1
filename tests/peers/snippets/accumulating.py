"""Gradients add up until they are set to None or zero."""

import torch

x = torch.tensor([2.0], requires_grad=True)
(x**2).backward()
first = x.grad.clone()
(x**2).backward()
twice = x.grad.clone()
x.grad.zero_()
(x**3).backward(retain_graph=True)
third = x.grad.clone()
x.grad = None
y = x * 3
y.backward(torch.tensor([10.0]))

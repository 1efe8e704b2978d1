"""Jacobians, Hessians and products with vectors."""

import torch


def f(x):
    return torch.stack([x[0] * x[1], x[0] ** 2])


def g(x):
    return (x**3).sum()


x = torch.tensor([2.0, 3.0])
of_f = torch.autograd.functional.jacobian(f, x)
of_g = torch.autograd.functional.hessian(g, x)

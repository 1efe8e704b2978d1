"""Compile a function, and call it as before."""

import torch


def f(x):
    return torch.sin(x) ** 2 + torch.cos(x) ** 2


compiled = torch.compile(f, backend="eager")
same = compiled(torch.linspace(0, 1, 5))

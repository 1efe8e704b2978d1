"""Blocks and decorators that record nothing."""

import torch

x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    constant = (x * 2).requires_grad
with torch.inference_mode():
    inferred = (x * 2).requires_grad
with torch.set_grad_enabled(False):
    switched = (x * 2).requires_grad


@torch.no_grad()
def predict(value):
    return value * 3


@torch.inference_mode()
def infer(value):
    return value * 4


predicted = predict(x).requires_grad, infer(x).requires_grad
enabled = torch.is_grad_enabled()
with torch.no_grad():
    x -= 0.1

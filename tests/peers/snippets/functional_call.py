"""A gradient for each example of a batch."""

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
params = {name: p.detach() for name, p in model.named_parameters()}
x, y = torch.randn(5, 3), torch.randn(5, 1)


def loss(params, x, y):
    return nn.functional.mse_loss(functional_call(model, params, (x,)), y)


slopes = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
total = functional_call(model, params, (x,))

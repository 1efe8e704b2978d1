"""Functions that see or change gradients as they pass."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.retain_grad()
handle = x.register_hook(lambda grad: grad * 10)
(y**2).sum().backward()
seen = x.grad, y.grad
handle.remove()
layer = torch.nn.Linear(2, 2)
shapes = []
hook = layer.register_forward_hook(lambda module, inputs, output: shapes.append(tuple(output.shape)))
layer(torch.ones(3, 2))
hook.remove()
layer(torch.ones(5, 2))

"""Look at the parts of a network, at their gradients, and replace one of them."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2)))
shapes = {name: tuple(p.shape) for name, p in model.named_parameters(prefix="model", recurse=True)}
inner = model.get_submodule("2.0")
weight = model.get_parameter("2.0.weight")
norms = {}


def note(name):
    def hook(module, grad_input, grad_output):
        norms[name] = grad_output[0].norm()

    return hook


handles = [part.register_full_backward_hook(note(name)) for name, part in model.named_modules() if name]
model(torch.ones(2, 3, requires_grad=True)).pow(2).sum().backward()
for handle in handles:
    handle.remove()
given = {}
with inner.register_forward_hook(lambda module, args, kwargs, output: given.update(kwargs), with_kwargs=True):
    inner(input=torch.ones(1, 4))
model.set_submodule("1", nn.Tanh())
changed = model(torch.ones(2, 3))
model.cpu().to(torch.float64)
kept = nn.Linear(3, 4)
report = str(kept.load_state_dict(model[0].state_dict(), assign=True))
kind = kept.weight.dtype

"""Groups of parameters with settings of their own."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(
    [
        {"params": model[0].parameters()},
        {"params": model[2].parameters(), "lr": 1e-3},
    ],
    lr=1e-2,
    momentum=0.9,
)
rates = [group["lr"] for group in optimizer.param_groups]
for parameter in model[0].parameters():
    parameter.requires_grad = False
model(torch.ones(4, 2)).sum().backward()
frozen = [p.grad is None for p in model.parameters()]
norm = nn.utils.clip_grad_norm_(model[2].parameters(), max_norm=1.0)
nn.utils.clip_grad_value_(model[2].parameters(), 0.1)
optimizer.step()
optimizer.zero_grad(set_to_none=True)
after = [p.detach().clone() for p in model.parameters()]

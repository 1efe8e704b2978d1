"""Train in half the precision where that is enough."""

import torch
from torch import nn

model = nn.Linear(4, 2)
x = torch.ones(3, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    y = model(x)
loss = y.float().sum()
loss.backward()

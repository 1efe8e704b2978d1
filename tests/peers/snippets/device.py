"""Code that takes a GPU where there is one."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(2, 3, device=device)
model = nn.Linear(3, 1).to(device)
y = model(x).cpu()
same = x.device == device
kind = x.to("cpu").device.type

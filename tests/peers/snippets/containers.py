"""Modules in lists and dictionaries, and parameters in lists."""

import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.heads = nn.ModuleDict({"small": nn.Linear(4, 1), "wide": nn.Linear(4, 8)})
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(4)) for _ in range(3)])

    def forward(self, x, head):
        for layer, scale in zip(self.layers, self.scales):
            x = torch.tanh(layer(x)) * scale
        return self.heads[head](x)


stack = Stack()
small = stack(torch.ones(2, 4), "small")
wide = stack(torch.ones(2, 4), "wide")
names = sorted(stack.state_dict())
keys = list(stack.heads.keys())

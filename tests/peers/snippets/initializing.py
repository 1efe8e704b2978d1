"""Start the weights of a network by hand."""

import torch
from torch import nn


def start(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
net.apply(start)
weights = [p.detach() for p in net.parameters()]
normal = nn.init.kaiming_normal_(torch.empty(3, 5), nonlinearity="relu")
constant = nn.init.constant_(torch.empty(2), 0.3)
with torch.no_grad():
    net[0].weight.fill_(0.5)
ones = nn.init.ones_(torch.empty(2, 2)), nn.init.eye_(torch.empty(2, 2))

"""A network as a class."""

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.stack = nn.Sequential(
            nn.Linear(28 * 28, 32),
            nn.ReLU(),
            nn.Linear(32, 10),
        )
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, x):
        return self.stack(self.flatten(x)) * self.scale


model = Network()
logits = model(torch.rand(3, 28, 28))
probabilities = nn.Softmax(dim=1)(logits)
predicted = probabilities.argmax(1)
sizes = {name: p.shape for name, p in model.named_parameters()}
count = sum(p.numel() for p in model.parameters() if p.requires_grad)
names = [type(m).__name__ for m in model.modules()]
children = [name for name, _ in model.named_children()]
buffers = dict(model.named_buffers())
description = repr(model.stack)

"""Ordinary layers and the shapes they give."""

import torch
from torch import nn

image = torch.rand(2, 3, 8, 8)
convolved = nn.Conv2d(3, 6, kernel_size=3, padding=1)(image)
same = nn.Conv2d(3, 6, 3, padding="same")(image)
pooled = nn.MaxPool2d(2)(convolved)
average = nn.AvgPool2d(2, stride=2)(convolved)
adaptive = nn.AdaptiveAvgPool2d(1)(convolved)
normed = nn.BatchNorm2d(6)(convolved)
lines = nn.Conv1d(3, 4, 3)(torch.rand(2, 3, 10))
group = nn.GroupNorm(2, 6)(convolved)
layer = nn.LayerNorm(8)(image)
embedded = nn.Embedding(10, 4)(torch.tensor([[1, 2], [3, 9]]))
unflat = nn.Unflatten(1, (1, 3))(image).shape

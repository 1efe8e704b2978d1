"""Layers that differ between training and evaluation."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(p=0.5))
model.eval()
evaluated = model(torch.ones(2, 4))
training = model[2].training
model.train()
model(torch.arange(8.0).view(2, 4))
mean = model[1].running_mean
kept = nn.functional.dropout(torch.ones(5), p=0.5, training=False)
channels = nn.Dropout2d(0.3).eval()(torch.ones(1, 2, 3, 3))

"""Activations as layers and as functions."""

import torch
import torch.nn.functional as F
from torch import nn

x = torch.linspace(-3, 3, 7)
layers = [nn.ReLU(), nn.LeakyReLU(0.1), nn.ELU(), nn.GELU(), nn.SiLU(), nn.Sigmoid(), nn.Softplus(), nn.ReLU6()]
results = [layer(x) for layer in layers]
functions = F.relu(x), F.leaky_relu(x), F.elu(x), F.gelu(x), F.silu(x), F.softplus(x), F.hardtanh(x), F.logsigmoid(x)
tanh_gelu = F.gelu(x, approximate="tanh")
soft = F.softmax(x, dim=0), F.log_softmax(x, dim=-1)
learned = nn.PReLU()(x)
normalized = F.normalize(x.view(1, 7), dim=1)

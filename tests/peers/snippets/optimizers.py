"""A few steps of several optimizers."""

import torch
from torch import nn, optim

x = torch.linspace(-1, 1, 20).unsqueeze(1)
y = 2 * x + 1
losses = {}
for name, make in {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda p: optim.Adam(p, lr=0.05),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.05, weight_decay=0.01),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.1),
}.items():
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    optimizer = make(model.parameters())
    for _ in range(10):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    losses[name] = loss.item()

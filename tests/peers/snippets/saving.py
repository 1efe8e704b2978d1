"""Save weights, and load them into a new network."""

import tempfile
from pathlib import Path

import torch
from torch import nn

model = nn.Linear(2, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
fresh = nn.Linear(2, 3)
other = torch.optim.Adam(fresh.parameters())


def save(path):
    torch.save({"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


def load(path):
    checkpoint = torch.load(path, weights_only=True)
    other.load_state_dict(checkpoint["optimizer"])
    return fresh.load_state_dict(checkpoint["model"]), checkpoint["epoch"]


with tempfile.TemporaryDirectory() as place:
    path = Path(place) / "checkpoint.pt"
    save(path)
    keys, epoch = load(path)
    torch.save([torch.arange(3), "text"], path)
    loaded = torch.load(path)
    place = None
same = torch.equal(fresh.weight, model.weight)
rate = other.param_groups[0]["lr"]
matched = str(keys)

"""Groups of named parameters under a schedule, balanced batches of named tuples, and a checkpoint in memory."""

import io
from collections import namedtuple

import torch
from torch import nn
from torch.utils.data import DataLoader, WeightedRandomSampler

model = nn.Linear(2, 1)
Example = namedtuple("Example", "features label name")
data = [Example(torch.full((2,), float(n)), n % 2, f"number {n}") for n in range(6)]
loader = DataLoader(data, batch_size=3, sampler=[4, 0, 2, 5])
batches = [(batch.features, batch.label, batch.name, type(batch).__name__) for batch in loader]
rare = DataLoader(data, batch_size=2, sampler=WeightedRandomSampler([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], num_samples=4))
names = [batch.name for batch in rare]
one_by_one = [example.label for example in DataLoader(data, batch_size=None)]

groups = [
    {"params": [("weight", model.weight)], "name": "decayed", "weight_decay": 0.1},
    {"params": [("bias", model.bias)], "name": "plain"},
]
optimizer = torch.optim.Adadelta(groups, lr=0.5, foreach=False, maximize=False)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
for batch in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(batch.features).squeeze(1), batch.label.float()).backward()
    optimizer.step()
    schedule.step()
listed = [(group["name"], group["param_names"], group["lr"]) for group in optimizer.param_groups]
other = torch.optim.SGD(optimizer.param_groups, lr=1.0)

memory = io.BytesIO()
torch.save({"weight": model.weight, "frozen": nn.Parameter(torch.ones(2), requires_grad=False)}, memory)
memory.seek(0)
loaded = torch.load(memory)
kinds = [(type(value).__name__, value.requires_grad) for value in loaded.values()]
memory = model = groups = None

"""Split a data set, and shuffle a part of it."""

import torch
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset, random_split

features, labels = torch.arange(20.0).view(10, 2), torch.arange(10)
data = TensorDataset(features, labels)
train, test = random_split(data, [8, 2], generator=torch.Generator().manual_seed(42))
sizes = len(train), len(test)
first = data[0]
few = Subset(data, [1, 3, 5])[1]
both = len(ConcatDataset([train, test]))
seen = sorted(int(y) for _, batch in DataLoader(train, batch_size=3, shuffle=True) for y in batch)
drawn = seen == sorted(int(train[n][1]) for n in range(8))


def pad(examples):
    return torch.stack([x for x, _ in examples]).sum(0), len(examples)


collated = [batch for batch in DataLoader(data, batch_size=5, collate_fn=pad)]

"""A data set of one's own, in batches."""

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        x = torch.tensor([float(index)])
        return x, index**2


data = Squares(10)
loader = DataLoader(data, batch_size=4, shuffle=False, num_workers=0, pin_memory=False)
batches = [(x, y) for x, y in loader]
count = len(loader), len(loader.dataset)
dropped = len(DataLoader(data, batch_size=4, drop_last=True))
features, labels = next(iter(loader))

"""Joining, splitting and repeating tensors."""

import torch

a = torch.ones(2, 3)
b = torch.zeros(2, 3)
rows = torch.cat([a, b])
columns = torch.cat([a, b], dim=1)
stacked = torch.stack([a, b], dim=1)
upright = torch.vstack([a, b])
wide = torch.hstack([a, b])
first, second = torch.split(rows, 2)
parts = torch.chunk(torch.arange(10), 3)
one_by_one = torch.unbind(a)
tiled = torch.tile(torch.tensor([1, 2]), (2, 2))
repeated = a.repeat(1, 2)
interleaved = torch.repeat_interleave(torch.tensor([1, 2, 3]), 2)
moved = torch.movedim(torch.zeros(2, 3, 4), 0, -1).shape
swapped = torch.swapaxes(a, 0, 1).shape
flipped = torch.flip(torch.arange(4), dims=[0])
rolled = torch.roll(torch.arange(5), 2)
grid_x, grid_y = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")

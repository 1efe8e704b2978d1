"""Indexing by numbers, slices, lists and masks."""

import torch

x = torch.arange(24).reshape(4, 6)
row = x[1]
element = x[2, 3]
column = x[:, -1]
block = x[1:3, ::2]
last = x[..., -1]
new_axis = x[:, None, :].shape
picked = x[[0, 2]]
pairs = x[torch.tensor([0, 1]), torch.tensor([2, 3])]
large = x[x > 15]
where = torch.where(x > 15, x, torch.zeros_like(x))
places = torch.nonzero(x > 20)
rows, columns = torch.where(x > 20)
taken = torch.index_select(x, 1, torch.tensor([0, 5]))
masked = torch.masked_select(x, x % 5 == 0)

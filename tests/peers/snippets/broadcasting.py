"""Shapes that fit each other are computed with as if repeated."""

import torch

column = torch.arange(3.0).unsqueeze(1)
row = torch.arange(4.0)
table = column + row
scaled = torch.ones(2, 3, 4) * torch.tensor([1.0, 2.0, 3.0]).view(3, 1)
centered = table - table.mean(dim=0, keepdim=True)
distances = (column[:, None] - column[None, :]).abs().squeeze(-1)
explicit = torch.broadcast_to(row, (3, 4))
shape = torch.broadcast_shapes((3, 1), (1, 4))
a, b = torch.broadcast_tensors(column, row)

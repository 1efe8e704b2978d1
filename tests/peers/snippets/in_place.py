"""Assignments, and methods whose names end in an underscore, change a tensor."""

import torch

table = torch.zeros(3, 4)
table[0] = 1
table[:, 1] = torch.tensor([5.0, 6.0, 7.0])
table[table > 5] = -1
table[1, 2] += 10
copy = table.clone()
copy[[0, 2], [3, 3]] = 0.5
filled = table.masked_fill(table < 0, 0)
table.index_fill_(1, torch.tensor([0]), 9.0)

x = torch.ones(2, 3)
view = x.view(6)
x.add_(5)
x.mul_(2).sub_(1)
x[0].zero_()
x.clamp_(max=8)
x.abs_()
y = torch.empty(3).fill_(2.5)
y.copy_(torch.arange(3))
y.sqrt_()
y.neg_()
w = torch.tensor([1.2, 2.7])
w.round_()
w.pow_(2)

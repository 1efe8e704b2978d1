"""Sums, means and extremes, along all or some axes."""

import torch

x = torch.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]])
total = x.sum()
by_column = x.sum(dim=0)
mean = x.mean(dim=1, keepdim=True)
spread = x.std(), x.var(dim=1, unbiased=False), torch.var(x, dim=0, correction=0)
values, indices = x.max(dim=1)
smallest = torch.min(x)
place = x.argmax(), x.argmin(dim=0)
product = torch.prod(x, dim=1)
running = torch.cumsum(x, dim=1), torch.cumprod(x, dim=0)
middle = torch.median(x), x.median(dim=1).values
norm = x.norm(), torch.norm(x, dim=1)
log_sum = torch.logsumexp(x, dim=1)
extremes = x.amax(dim=0), x.amin(dim=(0, 1))
integers = torch.arange(5).sum()
count = torch.count_nonzero(x > 2)

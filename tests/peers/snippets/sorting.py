"""Sorting, the largest few, and distinct values."""

import torch

x = torch.tensor([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
values, indices = torch.sort(x, dim=1)
order = torch.argsort(x, dim=1, descending=True)
largest = torch.topk(x, k=2)
top = largest.values, largest.indices
smallest = x.topk(1, largest=False).values
third = x.kthvalue(3, dim=1).values
unique, inverse, counts = torch.unique(torch.tensor([3, 1, 3, 2, 1]), return_inverse=True, return_counts=True)
bins = torch.bincount(torch.tensor([0, 1, 1, 3]))
buckets = torch.searchsorted(torch.tensor([1.0, 3.0, 5.0]), torch.tensor([0.5, 3.0, 9.0]))
sorted_by_key = x[x[:, 0].argsort(descending=True)]

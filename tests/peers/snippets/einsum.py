"""Products of tensors, spelled out by their indices."""

import torch

a = torch.arange(6.0).reshape(2, 3)
b = torch.arange(12.0).reshape(3, 4)
product = torch.einsum("ij,jk->ik", a, b)
trace = torch.einsum("ii", torch.eye(3))
outer = torch.einsum("i,j->ij", a[0], b[0])
batched = torch.einsum("bij,bjk->bik", torch.ones(5, 2, 3), torch.ones(5, 3, 4))
heads = torch.einsum("bqhd,bkhd->bhqk", torch.ones(1, 2, 2, 4), torch.ones(1, 3, 2, 4))
sums = torch.einsum("...i->...", a)
transposed = torch.einsum("ij->ji", a)

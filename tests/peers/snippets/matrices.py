"""Products of matrices and vectors."""

import torch

a = torch.arange(6.0).view(2, 3)
b = torch.arange(6.0).view(3, 2)
v = torch.tensor([1.0, 2.0, 3.0])
product = a @ b
by_name = torch.matmul(a, b), torch.mm(a, b)
times_vector = torch.mv(a, v)
dot = torch.dot(v, v)
outer = torch.outer(v, v)
batch = torch.bmm(torch.ones(4, 2, 3), torch.ones(4, 3, 5))
affine = torch.addmm(torch.ones(2, 2), a, b)
diagonal = torch.diag(v)
trace = torch.trace(product)
triangles = torch.tril(torch.ones(3, 3)), torch.triu(torch.ones(3, 3), diagonal=1)
turned = a.mT, a.T
cross = torch.cross(v, torch.tensor([0.0, 1.0, 0.0]), dim=0)

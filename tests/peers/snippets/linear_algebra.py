"""Solve a linear system, and invert its matrix."""

import torch

matrix = torch.tensor([[3.0, 1.0], [1.0, 2.0]])
right = torch.tensor([9.0, 8.0])
solution = torch.linalg.solve(matrix, right)
inverse = torch.linalg.inv(matrix)
determinant = torch.linalg.det(matrix)

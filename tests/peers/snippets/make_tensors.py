"""Make tensors from lists, from NumPy and by their shape."""

import numpy as np
import torch

rows = torch.tensor([[1, 2], [3, 4]])
floats = torch.tensor([[1.5, 2.5], [3.5, 4.5]])
shared = torch.from_numpy(np.arange(6.0).reshape(2, 3))
zeros = torch.zeros(2, 3)
ones = torch.ones((2, 3), dtype=torch.float64)
full = torch.full((2, 2), 3.14)
numbers = torch.arange(0, 10, 2)
even = torch.linspace(0, 1, steps=5)
identity = torch.eye(3)
like = torch.zeros_like(rows)
half = torch.ones_like(floats) / 2
uninitialized = torch.empty(4, 5).shape
scalar = torch.tensor(7).item()

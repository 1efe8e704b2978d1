"""Views share memory with the tensor that they look at."""

import torch

x = torch.arange(12.0)
grid = x.view(3, 4)
grid[0, 0] = 100
turned = grid.t()
contiguous = turned.is_contiguous(), turned.contiguous().is_contiguous()
flat = turned.reshape(-1)
guessed = x.view(2, -1)
swapped = grid.unsqueeze(0).permute(2, 0, 1)
squeezed = swapped.squeeze(1)
expanded = torch.ones(3, 1).expand(3, 4)
same_memory = x.data_ptr() == grid.data_ptr()
first = grid.select(0, 1)
narrow = grid.narrow(1, 1, 2)

"""Tensors and NumPy arrays share memory."""

import numpy as np
import torch

array = np.ones(3)
tensor = torch.from_numpy(array)
array += 1
seen = tensor.clone()
tensor.mul_(10)
back = tensor.numpy().copy()
of_list = torch.as_tensor([1.0, 2.0]).tolist()
from_graph = torch.ones(2, requires_grad=True).detach().numpy().sum()
number = float(torch.tensor(2.5)) + int(torch.tensor(3))

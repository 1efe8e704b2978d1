"""A tensor says its shape, type, device and size."""

import torch

x = torch.rand(3, 4)
shape = x.shape
rows, columns = x.size()
last = x.size(-1)
is_float = x.dtype == torch.float32
is_floating = x.is_floating_point()
device = str(x.device)
elements = x.numel()
dimensions = x.dim(), x.ndim
bytes_of_one = x.element_size()
strides = x.stride()
length = len(x)
is_tensor = torch.is_tensor(x)

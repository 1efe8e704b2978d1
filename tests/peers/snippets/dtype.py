"""Types, conversions, and what types an operation gives."""

import torch

x = torch.tensor([1.7, -1.7, 0.0])
whole = x.long()
short = x.int()
double = x.to(torch.float64)
truth = x.bool()
back = truth.float()
typed = x.type(torch.int64)
mixed = whole + 0.5
counted = (x > 0).sum()
promoted = torch.ones(2, dtype=torch.int32) + torch.ones(2, dtype=torch.int64)
single = torch.ones(2) + torch.ones(2, dtype=torch.int64)
quotient = torch.tensor([7, 8]) / 2
floor = torch.tensor([7, -7]) // 2
together = torch.promote_types(torch.int32, torch.float32) == torch.float32

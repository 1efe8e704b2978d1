"""Comparisons, logic, and questions about all elements."""

import torch

a = torch.tensor([1.0, 2.0, 3.0])
b = torch.tensor([3.0, 2.0, 1.0])
less = a < b
by_name = torch.eq(a, b), torch.ge(a, b), a.ne(b), a.lt(2.0)
both = torch.logical_and(a > 1, b > 1)
either = (a > 2) | (b > 2)
neither = ~either
any_large = (a > 2).any()
all_positive = torch.all(a > 0)
near = torch.allclose(a, a + 1e-9)
near_each = torch.isclose(a, b)
same = torch.equal(a, b)
larger = torch.maximum(a, b)
broken = torch.isnan(torch.tensor([1.0, float("nan"), torch.inf]))

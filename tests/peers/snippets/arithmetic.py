"""Elementwise arithmetic, by operators and by names."""

import torch

a = torch.tensor([1.0, 2.0, 3.0])
b = torch.tensor([4.0, 5.0, 6.0])
added = a + b
added_by_name = torch.add(a, b, alpha=2)
product = torch.mul(a, b)
power = a**2 + 2**a
quotient = b.div(a)
root = b.sqrt() + torch.rsqrt(b)
exponential = torch.exp(-a)
logarithms = torch.log(a), torch.log2(a), torch.log10(a), torch.log1p(a)
angles = torch.sin(a), torch.cos(a), torch.tan(a)
rounded = torch.round(a / 2), torch.floor(a / 2), torch.ceil(a / 2), torch.trunc(-a / 2)
remainder = torch.remainder(-b, 4), torch.fmod(-b, 4)
magnitude = torch.abs(-a), torch.sign(-a)
fused = torch.addcmul(a, a, b, value=0.5), torch.lerp(a, b, 0.25)

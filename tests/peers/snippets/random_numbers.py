"""A seed determines what random functions draw."""

import torch

torch.manual_seed(0)
first = torch.rand(2, 2)
torch.manual_seed(0)
again = torch.rand(2, 2)
same = torch.equal(first, again)
normal = torch.randn(3)
integers = torch.randint(0, 10, (5,))
order = torch.randperm(4)
like = torch.randn_like(first)
generator = torch.Generator().manual_seed(3)
own = torch.rand(2, generator=generator)
shape = torch.normal(0.0, 1.0, size=(2, 3)).shape
coins = torch.bernoulli(torch.tensor([0.0, 1.0]))
drawn = torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 3, replacement=True)

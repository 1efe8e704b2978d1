"""Reading and writing at places that a tensor names."""

import torch

scores = torch.tensor([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]])
labels = torch.tensor([1, 0])
chosen = scores.gather(1, labels.unsqueeze(1)).squeeze(1)
one_hot = torch.zeros(2, 3).scatter_(1, labels.unsqueeze(1), 1.0)
sums = torch.zeros(3).index_add(0, torch.tensor([0, 2, 0]), torch.tensor([1.0, 2.0, 3.0]))
histogram = torch.zeros(4).scatter_add(0, torch.tensor([1, 1, 3]), torch.ones(3))
along = torch.take_along_dim(scores, scores.argsort(dim=1), dim=1)
picked = scores[torch.arange(2), labels]

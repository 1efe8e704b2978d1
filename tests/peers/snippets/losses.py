"""Losses as layers and as functions."""

import torch
import torch.nn.functional as F
from torch import nn

logits = torch.tensor([[2.0, 0.5, 0.1], [0.2, 1.5, 0.3]], requires_grad=True)
target = torch.tensor([0, 1])
cross = nn.CrossEntropyLoss()(logits, target)
cross.backward()
gradient = logits.grad
smooth = nn.CrossEntropyLoss(label_smoothing=0.1)(logits, target)
soft = F.cross_entropy(logits, torch.tensor([[0.9, 0.1, 0.0], [0.0, 1.0, 0.0]]))
likelihood = nn.NLLLoss()(F.log_softmax(logits, dim=1), target)
a, b = torch.tensor([0.2, 0.8]), torch.tensor([0.0, 1.0])
errors = nn.MSELoss()(a, b), nn.L1Loss(reduction="sum")(a, b), nn.SmoothL1Loss()(a, b), nn.HuberLoss()(a, b)
binary = nn.BCELoss()(a, b), nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))(a, b)
divergence = F.kl_div(torch.log(torch.tensor([0.5, 0.5])), torch.tensor([0.9, 0.1]), reduction="batchmean")
alike = F.cosine_similarity(torch.tensor([[1.0, 2.0]]), torch.tensor([[2.0, 1.0]]))

"""Sequences of different lengths in one tensor."""

import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

sequences = [torch.arange(3), torch.arange(5), torch.arange(2)]
padded = pad_sequence(sequences, batch_first=True, padding_value=-1)
lengths = torch.tensor([len(s) for s in sequences])
mask = torch.arange(5)[None, :] < lengths[:, None]
wider = F.pad(torch.ones(2, 2), (1, 1, 0, 1), value=9.0)
one_hot = F.one_hot(torch.tensor([0, 2]), num_classes=3)

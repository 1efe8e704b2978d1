"""A recurrent network reads a sequence."""

import torch
from torch import nn

x = torch.randn(3, 7, 4)
rnn = nn.RNN(4, 5, batch_first=True)
output, hidden = rnn(x)
lstm = nn.LSTM(4, 5, num_layers=2, batch_first=True, bidirectional=True)
outputs, (h, c) = lstm(x)
gru = nn.GRU(4, 5)
steps, last = gru(x.transpose(0, 1), torch.zeros(1, 3, 5))
cell = nn.LSTMCell(4, 5)
state = torch.zeros(3, 5), torch.zeros(3, 5)
for step in range(7):
    state = cell(x[:, step], state)
state[0].sum().backward()
slope = cell.weight_hh.grad

"""Train a classifier, and measure its accuracy."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 2)
y = (x[:, 0] * x[:, 1] > 0).long()
train, test = TensorDataset(x[:64], y[:64]), TensorDataset(x[64:], y[64:])
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(5):
    model.train()
    running = 0.0
    for inputs, targets in DataLoader(train, batch_size=16, shuffle=False):
        loss = loss_fn(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * inputs.size(0)
model.eval()
correct = 0
with torch.no_grad():
    for inputs, targets in DataLoader(test, batch_size=16):
        correct += (model(inputs).argmax(1) == targets).type(torch.float).sum().item()
accuracy = correct / len(test)

"""One step of a small convolutional network."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(4, 8, 3)
        self.fc1 = nn.Linear(8 * 5 * 5, 16)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        return self.fc2(F.relu(self.fc1(x)))


net = Net()
images, labels = torch.rand(4, 1, 28, 28), torch.tensor([3, 1, 4, 1])
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
loss = F.cross_entropy(net(images), labels)
loss.backward()
optimizer.step()
value = loss.item()
_, predicted = torch.max(net(images), 1)
slope = net.conv1.weight.grad.norm()

"""Networks that learn: PyTorch's quickstart loop, an MLP on Split, a small LeNet on handwritten digits."""

import subprocess
import sys

import pytest

import minigrad as mg
from minigrad import nn, optim
from minigrad.data import DataLoader, digits, points

DEVICE = "cpu"


def train(dataloader, model, loss_fn, optimizer):
    """The loop of PyTorch's quickstart, written for any library with its names."""
    size = len(dataloader.dataset)
    model.train()
    for batch, (X, y) in enumerate(dataloader):  # noqa: N806
        X, y = X.to(DEVICE), y.to(DEVICE)  # noqa: N806
        pred = model(X)
        loss = loss_fn(pred, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if batch % 100 == 0:
            loss, current = loss.item(), (batch + 1) * len(X)
            print(f"loss: {loss:>7f}  [{current:>5d}/{size:>5d}]")


def evaluate(dataloader, model, loss_fn):
    """The test loop of the same."""
    size, num_batches = len(dataloader.dataset), len(dataloader)
    model.eval()
    test_loss, correct = 0, 0
    with mg.no_grad():
        for X, y in dataloader:  # noqa: N806
            X, y = X.to(DEVICE), y.to(DEVICE)  # noqa: N806
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).type(mg.float).sum().item()
    test_loss /= num_batches
    correct /= size
    print(f"Test Error: \n Accuracy: {(100 * correct):>0.1f}%, Avg loss: {test_loss:>8f} \n")
    return correct


class LeNet(nn.Module):
    """Two convolutions and two linear layers, for images of 8 by 8."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.AvgPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))

    def forward(self, x):
        return self.classifier(self.features(x))


@pytest.mark.full("a network is trained", share=12)
def test_lenet_reads_digits(capsys):
    """The quickstart's loops train a small LeNet on scikit-learn's digits to more than 97% on unseen ones."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: its digits are missing")
    mg.manual_seed(0)
    model, loss_fn = LeNet(), nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    loader = DataLoader(digits(train=True), batch_size=32, shuffle=True)
    held_back = DataLoader(digits(train=False), batch_size=64)
    for _ in range(12):
        train(loader, model, loss_fn, optimizer)
        schedule.step()
    assert evaluate(held_back, model, loss_fn) > 0.97
    assert "Accuracy: 9" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["simple", "diag", "split", "xor"])
def test_mlp_separates_points(name):
    """A network of a hundred hidden units gets every point of the first four sets right."""
    mg.manual_seed(1)
    model = nn.Sequential(nn.Linear(2, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 1))
    optimizer = optim.Adam(model.parameters(), lr=0.005)
    loss_fn = nn.BCEWithLogitsLoss()
    data = points(name, n=50, seed=3)
    x, y = data.tensors
    right = 0.0
    for _ in range(400):
        for batch, target in DataLoader(data, batch_size=10, shuffle=True):
            optimizer.zero_grad()
            loss_fn(model(batch), target).backward()
            optimizer.step()
        right = ((model(x) > 0.0).float() == y).float().mean().item()
        if right == 1.0:
            break
    assert right == 1.0


def test_a_small_network_never_imports_numba():
    """The first epoch of a small network imports neither Numba nor PyTorch nor scikit-learn."""
    code = """
import sys
import minigrad as mg
from minigrad import data, nn, optim
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
for x, y in data.DataLoader(data.points("xor"), batch_size=10, shuffle=True):
    nn.BCEWithLogitsLoss()(model(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 3), nn.Dropout())
nn.CrossEntropyLoss()(net(mg.randn(2, 1, 8, 8)), mg.tensor([0, 1])).backward()
print(sorted({"numba", "torch", "sklearn"} & set(sys.modules)))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

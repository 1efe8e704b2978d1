"""A user's type checker sees the types of the library: typical scripts pass mypy --strict, and wrong ones do not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = {
    "scalars": """
from minigrad import Scalar
x = Scalar(2.0, name="x")
y = (x * 3.0 + 1.0).sigmoid().log()
y.backward()
assert_type(y.item(), float)
""",
    "tensors": """
import minigrad
x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = (x @ x.T).relu().sum(0)
assert_type(y, minigrad.Tensor)
y.sum().backward()
assert_type(x.grad, minigrad.Tensor | None)
""",
    "making": """
from typing import Any
import numpy as np
import minigrad
a, b = minigrad.zeros(2, 3), minigrad.randn(3, dtype=minigrad.float64)
c = minigrad.from_numpy(np.ones(3, np.float32))
assert_type(minigrad.cat([a, a]), minigrad.Tensor)
assert_type(minigrad.where(a > 0.0, a, 0.0), minigrad.Tensor)
assert_type(minigrad.arange(5), minigrad.Tensor)
assert_type(c.shape, tuple[int, ...])
assert_type(b.dtype, np.dtype[Any])
""",
    "functions": """
import minigrad
x = minigrad.linspace(0.0, 1.0, 5)
assert_type(minigrad.exp(x), minigrad.Tensor)
assert_type(minigrad.softmax(x, 0), minigrad.Tensor)
print(minigrad.pi * x, minigrad.allclose(x, x))
""",
    "training": """
import minigrad
from minigrad import nn, optim
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))
loss_fn = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)
x, y = minigrad.randn(16, 4), minigrad.randint(0, 3, (16,))
for _ in range(3):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.3f}")
model.eval()
""",
    "a module": """
import minigrad
from minigrad import Tensor, nn
from minigrad.nn import functional as F
class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(2, width)
        self.last = nn.Linear(width, 1)
    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(F.gelu(self.first(x)))
        return out.squeeze(-1)
net = Net(8)
print(sum(p.numel() for p in net.parameters()), net.state_dict().keys())
minigrad.save(net.state_dict(), "net.npz")
""",
    "data": """
from minigrad import data
loader = data.DataLoader(data.digits(train=True), batch_size=32, shuffle=True)
for images, labels in loader:
    print(images.shape, labels.shape)
""",
    "a function": """
from minigrad import Function, Tensor, tensor
class Twice(Function):
    @staticmethod
    def forward(ctx: object, a: Tensor) -> Tensor:
        return a + a
    @staticmethod
    def backward(ctx: object, d_output: Tensor) -> Tensor:
        return d_output + d_output
Twice.apply(tensor([1.0])).sum().backward()
""",
    "transforms": """
import minigrad
from minigrad import Tensor
from minigrad.transforms import grad, jvp, value_and_grad, vmap
def loss(w: Tensor, x: Tensor) -> Tensor:
    return ((x @ w) ** 2).mean()
w, x = minigrad.ones(3), minigrad.ones(5, 3)
slopes = grad(loss)(w, x)
value, slope = value_and_grad(loss)(w, x)
out, tangent = jvp(lambda w: loss(w, x), (w,), (w,))
print(vmap(lambda row: (row * w).sum())(x))
""",
    "jit": """
import minigrad
from minigrad import Tensor
@minigrad.jit
def step(w: Tensor, x: Tensor) -> Tensor:
    return (w * x).sum()
print(step(minigrad.ones(3), minigrad.ones(3)))
""",
    "autograd": """
import minigrad
from minigrad import autograd
x = minigrad.ones(2, requires_grad=True)
(slope,) = autograd.grad((x * x).sum(), [x], create_graph=True)
assert_type(minigrad.gradcheck(lambda x: x * x, (x,)), bool)
""",
    "without gradients": """
import minigrad
with minigrad.no_grad():
    x = minigrad.ones(3)
@minigrad.no_grad()
def evaluate(x: minigrad.Tensor) -> float:
    return float(x.sum())
assert_type(evaluate(x), float)
with minigrad.inference_mode(), minigrad.backend("numba"):
    print(minigrad.is_grad_enabled())
""",
    "generators": """
import minigrad
generator = minigrad.Generator()
generator.manual_seed(3)
print(minigrad.rand(2, generator=generator), minigrad.manual_seed(0))
""",
    "devices": """
import minigrad
device = minigrad.device("cpu")
print(minigrad.ones(2, device=device), minigrad.cuda.is_available())
""",
    "indexing": """
import minigrad
x = minigrad.arange(12).reshape(3, 4)
x[0, 1:] = 5
assert_type(x[x > 3], minigrad.Tensor)
rows, places = x.float().max(1)
first, second = x.shape
print(x.T, x.mT, [row.tolist() for row in x])
""",
    "a convolution": """
import minigrad
from minigrad.nn import functional as F
x, w = minigrad.randn(1, 3, 8, 8), minigrad.randn(4, 3, 3, 3)
assert_type(F.relu(F.conv2d(x, w, padding=1)), minigrad.Tensor)
print(F.max_pool2d(x, 2))
""",
    "attention": """
import minigrad
from minigrad import nn
attention = nn.MultiheadAttention(8, 2, batch_first=True)
x = minigrad.randn(2, 5, 8)
out, weights = attention(x, x, x)
""",
    "pictures": """
from minigrad import Scalar, draw
draw.expression_graph(Scalar(1.0) * 2.0)
""",
    "the student's commands": """
import minigrad
minigrad.use()
minigrad.hint("operators.arithmetic")
report = minigrad.check("operators.arithmetic")
minigrad.progress()
""",
    "operators": """
from minigrad import operators
from minigrad.derivatives import central_difference
assert_type(operators.mul(2.0, 3.0), float)
assert_type(central_difference(lambda x: x * x, 3.0), float)
""",
}
WRONG = {
    "a name that is not there": "import minigrad\nminigrad.tensr([1.0])\n",
    "an argument of another type": "import minigrad\nminigrad.linspace('0', 1.0, 5)\n",
    "a result of another type": "import minigrad\nx: str = minigrad.ones(3)\n",
    "a method that is not there": "import minigrad\nminigrad.ones(3).sqroot()\n",
}


def write(folder, texts):
    """Write each text into a file of its name."""
    for name, text in texts.items():
        (folder / f"{name.replace(' ', '_').replace(chr(39), '')}.py").write_text(
            f"from typing_extensions import assert_type\n{text}", encoding="utf-8"
        )


def mypy(folder, texts):
    """What mypy says of each text, as a user runs it: strict, and with nothing of this project's settings."""
    write(folder, texts)
    settings = folder / "mypy.ini"
    settings.write_text("[mypy]\nstrict = true\ncache_dir = cache\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", settings, "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.full("mypy reads all of the library", share=12)
def test_typical_scripts(tmp_path):
    """Nothing is untyped, and nothing right is called wrong."""
    assert "Success: no issues found in 20 source files" in mypy(tmp_path, SCRIPTS)


@pytest.mark.full("mypy reads all of the library", share=12)
def test_mistakes(tmp_path):
    """Each of these is told."""
    said = mypy(tmp_path, WRONG)
    assert all(f"{name.replace(' ', '_')}.py:3: error" in said for name in WRONG), said


@pytest.mark.full("pyright reads all of the library", share=12)
def test_pyright_agrees(tmp_path):
    """The checker of VS Code, in its standard mode, finds the same mistakes and no other."""
    write(tmp_path, SCRIPTS | WRONG)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    if not done.stdout.startswith("{"):
        why = (done.stdout + done.stderr).strip().splitlines()[-1]
        pytest.skip(f"pyright needs Node.js, which is not here and cannot be fetched: {why}")
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert {Path(each["file"]).stem.replace("_", " ") for each in found} == set(WRONG), found
    assert [each["range"]["start"]["line"] for each in found] == [2] * len(WRONG)


def test_both_packages_say_that_they_are_typed(root):
    """By the file that type checkers look for (PEP 561)."""
    assert (root / "src" / "minigrad" / "py.typed").is_file() and (root / "autograder" / "py.typed").is_file()

"""What is said to who comes from NumPy or PyTorch with habits that do not fit: one sentence, and what to do instead."""

import importlib.util

import numpy as np
import pytest

import minigrad as mg

F, nn = mg.nn.functional, mg.nn
x, square = mg.tensor([1.0, 2.0, 3.0]), mg.ones(3, 3)


class Foreign:
    """An array of another library: it offers its memory, and would take part in any operator."""

    def __dlpack__(self):
        raise AssertionError("nobody asked")

    def __radd__(self, other):
        return "something else"


class HidesLayers(nn.Module):
    """Keeps its layers where a module does not see them."""

    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2)]


ARRAY = "an operand is a tensor or a number, not numpy.ndarray; make a tensor of it with minigrad.tensor"

MISTAKES = {
    "x + array": (lambda: x + np.ones(3), f"Add: {ARRAY}"),
    "array + x": (lambda: np.ones(3) + x, f"Add: {ARRAY}"),
    "array < x": (lambda: np.ones(3) < x, f"GT: {ARRAY}"),
    "array @ x": (lambda: np.ones((3, 3)) @ square, "matmul: the other factor must be a Tensor, not numpy.ndarray"),
    "array & mask": (lambda: np.ones(3, bool) & (x > 0), "numpy.bitwise_and: functions of NumPy take no Tensor"),
    "np.exp": (lambda: np.exp(x), "numpy.exp: functions of NumPy take no Tensor; use those of minigrad"),
    "np.add into": (lambda: np.add(np.ones(3), x, out=np.ones(3)), "numpy.add: functions of NumPy take no Tensor"),
    "np.add.reduce": (lambda: np.add.reduce(x), "numpy.add: functions of NumPy take no Tensor"),
    "x + foreign": (lambda: x + Foreign(), r"Add: .* not .*Foreign; make a tensor"),
    "Linear": (lambda: nn.Linear(2, 2)(np.ones((1, 2))), "linear: needs a Tensor, not numpy.ndarray"),
    "linear": (lambda: mg.linear(x, np.ones((1, 3))), "linear: needs a Tensor, not numpy.ndarray"),
    "nn.ReLU": (lambda: nn.ReLU()(np.ones(2)), "relu: needs a Tensor, not numpy.ndarray"),
    "F.gelu": (lambda: F.gelu([1, 2]), "gelu: needs a Tensor, not list"),
    "F.softmax of a list": (lambda: F.softmax([1, 2], 0), "softmax: needs a Tensor, not list"),
    "F.mse_loss": (lambda: F.mse_loss(x, np.ones(3)), "mse_loss: needs a Tensor, not numpy.ndarray"),
    "F.cross_entropy": (lambda: F.cross_entropy(square, [0]), "cross_entropy: needs a Tensor, not list"),
    "F.softmax": (lambda: F.softmax(x), r"^softmax: dim is missing; .* often softmax\(x, -1\)"),
    "F.log_softmax": (lambda: F.log_softmax(x), "^log_softmax: dim is missing"),
    "F.logsoftmax": (lambda: F.logsoftmax(x), "^logsoftmax: dim is missing"),
    "Tensor of sizes": (lambda: mg.Tensor(2, 3), r"Tensor: .*, not int; .* minigrad.empty\(2, 3\)"),
    "Tensor of a size": (lambda: mg.Tensor(3), r"minigrad.empty\(3\)"),
    "Tensor of a list": (lambda: mg.Tensor([1.0]), r"Tensor: .*, not list; minigrad.tensor\(data\) makes [^,]*$"),
    "cat of two": (lambda: mg.cat(x, square), r"cat: joins the tensors of a list: cat\(\[a, b\], dim\)"),
    "cat of one": (lambda: mg.cat(square), "cat: joins the tensors of a list"),
    "stack of two": (lambda: mg.stack(x, square), r"stack: joins the tensors of a list: stack\(\[a, b\], dim\)"),
    "stack of numbers": (lambda: mg.stack([1, 2]), "stack: joins tensors, not int"),
    "an axis that is long": (lambda: square.unsqueeze(square), "an axis must be an integer, not a Tensor$"),
    "dim and axis": (lambda: x.sum(0, axis=0), "sum: dim is 0 and axis is 0; they are two names for one thing"),
    "a seed": (lambda: mg.manual_seed("a"), "manual_seed: a seed must be an integer, not 'a'"),
    "a generator's seed": (lambda: mg.Generator(1.5), "a seed must be an integer, not 1.5"),
    "SGD of a model": (
        lambda: mg.optim.SGD(nn.Linear(2, 2), lr=0.1),
        r"SGD: params is a Linear; give its parameters, model.parameters\(\)",
    ),
    "Adam of a number": (lambda: mg.optim.Adam(5), "Adam: params is 5; give tensors to train"),
}


@pytest.mark.parametrize(("mistake", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_of_type_is_named(mistake, message):
    """The error is a TypeError that names the operation and the rule, in one line."""
    with pytest.raises(TypeError, match=message) as caught:
        mistake()
    assert "\n" not in str(caught.value) and "_array" not in str(caught.value)


def test_a_seed_is_not_negative():
    """A negative seed is refused by value."""
    with pytest.raises(ValueError, match="manual_seed: a seed is at least 0, not -1"):
        mg.manual_seed(-1)


def test_layers_in_a_list_are_looked_for():
    """An optimizer that is given nothing says where the parameters may have gone."""
    with pytest.raises(ValueError, match=r"SGD: there are no parameters .* plain list.* nn.ModuleList"):
        mg.optim.SGD(HidesLayers().parameters(), lr=0.1)


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int64(2), np.array(2.0)], ids=repr)
def test_numbers_of_numpy_take_part_from_either_side(number):
    """Every operator takes a number of NumPy's on the left and on the right, as it takes Python's; the type stays."""
    value = float(number)
    for one, other in [
        (number + x, value + x),
        (x - number, x - value),
        (number - x, value - x),
        (number * x, value * x),
        (number / x, value / x),
        (number**x, value**x),
        (x**number, x**value),
        (number < x, value < x),
        (number <= x, value <= x),
        (number > x, value > x),
        (number >= x, value >= x),
        (number == x, value == x),
        (number != x, value != x),
    ]:
        assert isinstance(one, mg.Tensor) and one.dtype == other.dtype and one.tolist() == other.tolist()


@pytest.mark.parametrize(
    "name",
    [
        *("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "any", "all"),
        *("logsumexp", "var", "std", "softmax", "log_softmax"),
    ],
)
def test_axis_is_dim(name):
    """Reductions take axis for dim, as PyTorch's do, as methods and as functions."""
    a = mg.tensor([[1.0, 5.0, 2.0], [4.0, 0.0, 7.0]])
    for axis in (0, 1):
        expected = getattr(a, name)(axis).tolist()
        assert getattr(a, name)(axis=axis).tolist() == expected
        assert not hasattr(mg, name) or getattr(mg, name)(a, axis=axis).tolist() == expected


@pytest.mark.parametrize("name", ["max", "min"])
def test_axis_of_extremes(name):
    """With axis as with dim, max and min return values and indices."""
    a = mg.tensor([[1.0, 5.0, 2.0], [4.0, 0.0, 7.0]])
    found, expected = getattr(a, name)(axis=1, keepdim=True), getattr(a, name)(1, True)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed: no file to read")
@pytest.mark.parametrize("archive", [True, False])
def test_a_file_of_pytorchs_is_recognized(tmp_path, archive):
    """load says that a file is PyTorch's and what to do, for both formats that PyTorch has."""
    import torch

    torch.save({"a": torch.ones(2)}, tmp_path / "net.pt", _use_new_zipfile_serialization=archive)
    with pytest.raises(ValueError, match=r"it looks like a file of torch.save: read it with torch.load"):
        mg.load(tmp_path / "net.pt")
    with pytest.raises(TypeError, match=r"Add: .* not torch.Tensor; make a tensor of it"):
        x + torch.ones(3)
    with pytest.raises(TypeError, match=r"Add: .* not torch.Tensor; make a tensor of it"):
        torch.ones(3) + x

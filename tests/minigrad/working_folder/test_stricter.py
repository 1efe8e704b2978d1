"""What MiniTorch specifies and this course asks more than: told with both values, not counted as wrong."""

import pytest
from minitorch_folder import folder

from minigrad.checks import run
from minigrad.working_folder import minitorch
from minigrad.working_folder.stricter import STRICTER, judged

WITH_EPS = "math.log(x + EPS)"
RELU = "    return x if x > 0 else 0.0"
CASES = {
    "log": ("operators.elementary", "operators.py", "math.log(x)", WITH_EPS),
    "is_close": ("operators.comparison", "operators.py", None, "    return abs(x - y) < 1e-2"),
    "lt": ("operators.comparison", "operators.py", None, "    return x < y"),
    "eq": ("operators.comparison", "operators.py", None, "    return x == y"),
    "index_to_position": (
        "tensor_data.index_to_position",
        "tensor_data.py",
        None,
        "    found = 0\n    for i in range(strides.shape[0]):\n        found += index[i] * strides[i]\n"
        "    return found",
    ),
    "to_index": (
        "tensor_data.to_index",
        "tensor_data.py",
        None,
        "    for i in range(shape.shape[0] - 1, -1, -1):\n        out_index[i] = ordinal % shape[i]\n"
        "        ordinal = ordinal // shape[i]",
    ),
    "broadcast_index": (
        "tensor_data.broadcast_index",
        "tensor_data.py",
        None,
        "    extra = big_shape.shape[0] - shape.shape[0]\n    for i in range(shape.shape[0]):\n"
        "        out_index[i] = big_index[i + extra] if shape[i] > 1 else 0",
    ),
    "relu": ("operators.elementary", "operators.py", None, RELU),
    "max": ("operators.comparison", "operators.py", None, "    return x if x > y else y"),
    "neg": ("operators.arithmetic", "operators.py", None, "    return 0 - x"),
    "log_back": ("operators.backs", "operators.py", None, "    return d / (x + EPS)"),
    "relu_back": ("operators.backs", "operators.py", None, "    return d if x >= 0 else 0.0"),
    "zipWith": (
        "operators.higher_order",
        "operators.py",
        None,
        "    return lambda a, b: [fn(x, b[i]) for i, x in enumerate(a)]",
    ),
    "reduce": (
        "operators.higher_order",
        "operators.py",
        None,
        "    def fold(ls):\n        result = start\n        for x in ls:\n            result = fn(x, result)\n"
        "        return result\n    return fold",
    ),
    "central_difference": (
        "derivatives.central_difference",
        "autodiff.py",
        None,
        "    def at(e):\n        return f(*vals[:arg], vals[arg] + e, *vals[arg + 1 :])\n"
        "    return (at(epsilon) - at(-epsilon)) / (2 * epsilon)",
    ),
    "chain_rule": (
        "autodiff.chain_rule",
        "scalar.py",
        None,
        "        h = self.history\n        return zip(h.inputs, h.last_fn._backward(h.ctx, d_output))",
    ),
    "shape_broadcast": (
        "tensor_data.shape_broadcast",
        "tensor_data.py",
        None,
        "    n = max(len(shape1), len(shape2))\n    a = (1,) * (n - len(shape1)) + tuple(shape1)\n"
        "    b = (1,) * (n - len(shape2)) + tuple(shape2)\n"
        "    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):\n        raise IndexingError\n"
        "    return tuple(max(x, y) for x, y in zip(a, b))",
    ),
}


def with_body(text, name, body):
    """Replace what follows the signature of a function."""
    lines = text.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.lstrip().startswith(f"def {name}("))
    depth = len(lines[first]) - len(lines[first].lstrip())
    start = next(i for i in range(first, len(lines)) if lines[i].rstrip().endswith(":")) + 1
    end = next(
        (i for i in range(start, len(lines)) if lines[i].strip() and len(lines[i]) - len(lines[i].lstrip()) <= depth),
        len(lines),
    )
    return "".join([*lines[:start], body, "\n\n\n", *lines[end:]])


def answer(tmp_path, name):
    id, file, old, new = CASES[name]
    package = folder(tmp_path)
    text = (package / file).read_text()
    changed = with_body(text, name, new) if old is None else text.replace(old, new)
    assert changed != text
    (package / file).write_text(changed)
    task, path = minitorch.found_tasks(package)[id]
    return id, minitorch.load(task, path)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.full("answers are judged by two courses' rules", share=4)
def test_minitorchs_specification_is_not_wrong(tmp_path, name):
    """The check alone fails; judged, it passes, and the difference is told with both values."""
    id, objects = answer(tmp_path, name)
    assert not run(id, objects).passed
    report, asked = judged(id, objects)
    assert report.passed, str(report)
    assert report.earned == report.points
    (told,) = [each for each in asked if each.question.startswith(f"{name}(")]
    assert told.theirs != told.ours
    assert told.sentence.startswith("MiniTorch")


def test_a_list_that_was_written_is_shown_as_it_came_and_went(tmp_path):
    """to_index returns nothing: what it wrote is what is asked for."""
    _, asked = judged(*answer(tmp_path, "to_index"))
    assert asked[0].question.startswith("to_index(") and asked[0].ours.startswith("[")


def test_both_values_are_shown(tmp_path):
    """For log: what the answer gave, and what is asked here."""
    _, asked = judged(*answer(tmp_path, "log"))
    assert (asked[0].question, asked[0].ours) == ("log(10.0)", "2.302585092994046")
    assert asked[0].theirs.startswith("2.3025851")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("log", "    return math.log(x, 10)"),
        ("log", "    return math.log(x + 0.001)"),
        ("is_close", "    return abs(x - y) < 1.0"),
        ("lt", "    return x <= y"),
        ("eq", "    return 2 if x == y else 0"),
        ("index_to_position", "    return index[0] * strides[0] if strides.shape[0] else 0"),
        ("to_index", "    for i in range(shape.shape[0]):\n        out_index[i] = ordinal"),
        ("relu", "    return x"),
        ("max", "    return y"),
        ("neg", "    return x"),
        ("log_back", "    return d * (x + EPS)"),
        ("relu_back", "    return x if x > 0 else 0.0"),
        ("reduce", "    return lambda ls: start"),
        ("shape_broadcast", "    return tuple(shape1)"),
    ],
)
@pytest.mark.full("answers are judged by two courses' rules", share=4)
def test_what_is_wrong_stays_wrong(tmp_path, name, wrong):
    """An answer that neither MiniTorch nor this course asks for fails, and is called nothing else."""
    id, file, _, _ = CASES[name]
    package = folder(tmp_path)
    (package / file).write_text(with_body((package / file).read_text(), name, wrong))
    task, path = minitorch.found_tasks(package)[id]
    report, _ = judged(id, minitorch.load(task, path))
    assert not report.passed


def test_methods_of_classes_are_compared_too(tmp_path):
    """Log with EPS of its own, and Inv and Exp that let Python raise, follow MiniTorch."""
    changes = [
        ("operators.log(a)", "__import__('math').log(a + 1e-6)"),
        ("operators.log_back(a, d_output)", "d_output / (a + 1e-6)"),
        ("operators.relu_back(a, d_output)", "d_output if a >= 0 else 0.0"),
    ]
    package = folder(tmp_path)
    path = package / "scalar_functions.py"
    text = path.read_text()
    for old, new in changes:
        assert old in text, text
        text = text.replace(old, new)
    path.write_text(text)
    task, path = minitorch.found_tasks(package)["functions.elementary"]
    report, asked = judged("functions.elementary", minitorch.load(task, path))
    assert report.passed, str(report)
    assert {each.question.partition("(")[0] for each in asked} == {"Log.forward", "Log.backward", "ReLU.backward"}


def test_a_relu_that_passes_negative_numbers_stays_wrong(tmp_path):
    """Also if it saves its output, which is 0 for negative numbers as for 0."""
    package = folder(tmp_path)
    path = package / "scalar_functions.py"
    text = path.read_text()
    before, _, after = text.partition("class ReLU(")
    body = (
        "ScalarFunction):\n    @staticmethod\n    def forward(ctx, a):\n        out = max(a, 0.0)\n"
        "        ctx.save_for_backward(out)\n        return out\n\n    @staticmethod\n"
        "    def backward(ctx, d_output):\n        return d_output if ctx.saved_values[0] >= 0 else 0.0\n\n\n"
    )
    rest = after[after.find("\nclass ") :] if "\nclass " in after else ""
    path.write_text(f"{before}class ReLU({body}{rest}")
    task, path = minitorch.found_tasks(package)["functions.elementary"]
    assert not judged("functions.elementary", minitorch.load(task, path))[0].passed


def test_every_row_of_the_table_is_tried():
    """The cases above name each function of the table."""
    names = {each.name for each in STRICTER}
    assert names - CASES.keys() == {
        "Inv.forward",
        "Log.forward",
        "Log.backward",
        "Exp.forward",
        "ReLU.backward",
    }

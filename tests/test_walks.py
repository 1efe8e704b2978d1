"""The guides can be taken at their word: the walks for an op and an exercise, done as written, work."""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

COPIED = ("autograder", "course", "notebooks", "docs", "scripts", "src", "tests", "CONTRIBUTING.md", "pyproject.toml")
LEFT = shutil.ignore_patterns("__pycache__", ".*", "source", "masters", "release", "gradebook.db", "screenshots")
BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(
    r"`(?P<path>[^`]+)`, (at the (?P<end>end)|below `(?P<below>[^`]+)`|in place of its (?P<skeleton>skeleton)"
    r"|renamed to `(?P<name>[^`]+)`):"
)


@dataclass(frozen=True)
class Step:
    """A fenced block of a walk: commands, or a text and the place that the line above it names."""

    language: str
    text: str
    place: re.Match[str] | None


def steps_of(document, title):
    """The blocks below a heading, in order."""
    section = re.split(r"^#+ ", document, flags=re.MULTILINE)
    (walk,) = [text for text in section if text.startswith(f"{title}\n")]
    found, end = [], 0
    for block in BLOCK.finditer(walk):
        above = walk[end : block.start()].rstrip().split("\n")
        lines = [line[len(block["indent"]) :] for line in block["text"].split("\n")]
        found.append(Step(block["language"], "\n".join(lines), PLACE.search("\n".join(above[-2:]))))
        end = block.end()
    return found


def apply(step, root):
    """Do what a step says to the file that it names."""
    place = step.place
    path = root / place["path"]
    if place["name"]:
        path.unlink()
        path.with_name(place["name"]).write_text(step.text)
        return
    text = path.read_text()
    if place["end"]:
        changed = text + step.text
    elif place["below"]:
        changed = put_below(text, place["below"], step.text)
    else:
        changed = SKELETONS[path.suffix](text, step.text)
    path.write_text(changed)


def put_below(text, anchor, new):
    """Put lines below a line, or below a definition: a class, a function or `Class.method`."""
    lines = text.split("\n")
    if anchor in lines:
        return "\n".join([*lines[: lines.index(anchor) + 1], new.rstrip("\n"), *lines[lines.index(anchor) + 1 :]])
    body = ast.parse(text).body
    for name in anchor.split("."):
        (node,) = [each for each in body if getattr(each, "name", "") == name]
        body = node.body
    blank = [""] * (1 if "." in anchor else 2)
    return "\n".join([*lines[: node.end_lineno], *blank, new.rstrip("\n"), *lines[node.end_lineno :]])


def replace_definitions(text, new):
    """Put definitions in the place of those with a mark to fill in; the new ones may be more."""
    lines = text.split("\n")
    for node in reversed(ast.parse(text).body):
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]) - 1
        last = next(
            (n for n in range(first + 1, len(lines)) if re.match(r"[@\w]", lines[n]) and n >= node.end_lineno),
            len(lines),
        )
        if any("### FILL IN" in line for line in lines[first:last]):
            del lines[first:last]
    return "\n".join(lines).rstrip("\n") + "\n\n\n" + new


def replace_line(text, new):
    """Put text in the place of the line to fill in."""
    return re.sub(r"^### FILL IN .*\n", lambda _: new, text, flags=re.MULTILINE)


def replace_table(text, new):
    """Put a table in the place of the last one, which is to be filled in."""
    return text[: text.rindex('\n["') + 1] + new


SKELETONS = {".py": replace_definitions, ".md": replace_line, ".toml": replace_table}


@pytest.fixture
def scratch(root, tmp_path):
    """A copy of what the walks touch and run."""
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, tmp_path / name, ignore=LEFT)
        else:
            shutil.copy(root / name, tmp_path / name)
    return tmp_path


def run(command, scratch):
    """Run a command of a walk as its reader would, on the copy's sources; return its exit code and words."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(scratch / "src"), str(scratch)]),
        "PATH": os.pathsep.join([str(Path(sys.prefix, "bin")), os.environ["PATH"]]),
        "COLUMNS": "200",
    }
    done = subprocess.run(["bash", "-c", command], cwd=scratch, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def walk(guide, title, scratch):
    """Do a walk as a guide says; return each command with its exit code and words."""
    ran = []
    for step in steps_of((scratch / guide).read_text(), title):
        if step.language == "sh":
            ran += [(command, *run(command, scratch)) for command in step.text.strip().split("\n")]
        else:
            apply(step, scratch)
    return ran


USE = """
import numpy as np
import minigrad as mg
from minigrad import Scalar, functions, operators

for count in (6, 200_000):  # NumPy's arrays, and compiled loops
    numbers = np.linspace(-2.0, 2.0, count)
    x = mg.tensor(numbers, requires_grad=True)
    y = x.atan()
    y.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), np.arctan(numbers), rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), 1.0 / (1.0 + numbers * numbers), rtol=1e-6)
for atan in (functions.Atan.apply, functions.atan, Scalar.atan):
    a = Scalar(0.5)
    atan(a).backward()
    assert abs(a.derivative - 0.8) < 1e-12
assert operators.atan(1.0) == functions.atan(1.0) == np.pi / 4
assert mg.atan(x).equal(y) and mg.tensor(numbers).atan_().equal(y)
assert mg.Tensor.atan.__doc__.startswith("Return the arc tangent of every element, in radians.")
print(mg.__file__)
"""


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed: its names cannot be listed"
)
@pytest.mark.full("a guide is followed in a copy of the project", share=24)
def test_the_walk_of_an_op(scratch, unmeasured):
    """After one entry, atan has values and gradients, as numbers, arrays and compiled loops, and passes the tests."""
    with unmeasured():
        (_, typing, _), (_, listing, _), (_, code, said) = walk("CONTRIBUTING.md", "An op", scratch)
        assert (typing, listing, code) == (0, 0, 0), said
        passed = int(re.search(r"(\d+) passed", said)[1])
        assert passed > 30
        (scratch / "use.py").write_text(USE)
        code, said = run("python use.py", scratch)
    assert (code, said.strip()) == (0, str(scratch / "src" / "minigrad" / "__init__.py"))


@pytest.mark.full("a guide is followed in a copy of the project", share=24)
def test_the_walk_of_an_exercise(scratch, unmeasured):
    """Laid out, filled in, built and proved: each command does what the walk says, and then nothing is missing."""
    with unmeasured():
        ran = walk("docs/contributing/exercise.md", "Add an exercise", scratch)
    assert [command.split()[1] for command, _, _ in ran] == ["new", "build", "verify", "verify", "new"]
    assert [code for _, code, _ in ran] == [1, 0, 0, 0, 0], ran
    assert "nothing is missing" in ran[-1][2]

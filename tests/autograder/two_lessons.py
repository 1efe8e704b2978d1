"""A course of two lessons over the project's own library, small enough to grade in a test."""

import shutil

from autograder.building.build import build
from autograder.results.causes import essence, seen_text

TOML = """
[course]
name = "minigrad"
version = "1"
seed = 7

[[assignment]]
name = "week0"
title = "Numbers"
lessons = ["00_numbers", "01_order"]

[[exercise]]
id = "operators.arithmetic"
lesson = "00_numbers"
objects = ["operators.add", "operators.mul", "operators.neg"]
points = 3
groups = { values = 2, special = 1 }

[[exercise]]
id = "operators.comparison"
lesson = "01_order"
objects = ["operators.lt", "operators.eq", "operators.max", "operators.is_close"]
points = 4
groups = { order = 4 }

[limits]
cell_seconds = 1
test_seconds = 1
"""

LESSON = """# A lesson

```{code-cell} ipython3
:tags: [setup]

from minigrad.checks import check
```

```{code-cell} ipython3
# exercise: EXERCISE
```
"""

HIDDEN = '''
import pytest
from autograder import expect

SECRET = "the-hidden-tests-were-read"


@pytest.mark.exercise("operators.arithmetic", group="values", because="lesson 00: add adds")
def test_add(student):
    """add adds."""
    def observe(mg, x, y):
        return mg.operators.add(x, y)
    expect(student(observe, 2.0, 41414.25), 41416.25, hint="use +", misconception="not-a-sum")


@pytest.mark.exercise("operators.arithmetic", group="special", because="lesson 00: neg negates")
def test_neg(student):
    """neg negates."""
    def observe(mg, x):
        return mg.operators.neg(x)
    expect(student(observe, 2.0), -2.0)


@pytest.mark.exercise("operators.comparison", group="order", because="lesson 01: lt compares")
def test_lt(student):
    """lt says whether x is less."""
    def observe(mg, x, y):
        return bool(mg.operators.lt(x, y))
    expect(student(observe, 1.0, 2.0), True, misconception="not-less")
'''

ARITHMETIC = (
    "# exercise: operators.arithmetic\ndef add(x, y):\n    return x + y\n"
    "def mul(x, y):\n    return x * y\ndef neg(x):\n    return -x\n"
)
COMPARISON = (
    "# exercise: operators.comparison\ndef lt(x, y):\n    return 1.0 if x < y else 0.0\n"
    "def eq(x, y):\n    return 1.0 if x == y else 0.0\ndef max(x, y):\n    return x if x > y else y\n"
    "def is_close(x, y):\n    return abs(x - y) < 1e-2\n"
)


def make_course(folder, root):
    """A course of two lessons over a copy of the library, with the project's own nbgrader configuration."""
    (folder / "course" / "lessons").mkdir(parents=True)
    (folder / "course" / "course.toml").write_text(TOML)
    for lesson, exercise in (("00_numbers", "operators.arithmetic"), ("01_order", "operators.comparison")):
        text = LESSON.replace("EXERCISE", exercise)
        (folder / "course" / "lessons" / f"{lesson}.md").write_text(text)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "src" / "minigrad", folder / "src" / "minigrad", ignore=ignore)
    shutil.copy(root / "pyproject.toml", folder)
    (folder / "hidden").mkdir()
    (folder / "hidden" / "test_operators.py").write_text(HIDDEN)
    (folder / "wrong").mkdir()
    seen = {"operators.arithmetic": {"not-a-sum": {"test_add": essence("got -41412.25")}}}
    (folder / "wrong" / "seen.json").write_text(seen_text(seen))
    config = (root / "course" / "nbgrader_config.py").read_text()
    config += f"\nc.JudgePreprocessor.hidden = {str(folder / 'hidden')!r}\n"
    (folder / "course" / "nbgrader_config.py").write_text(config)
    build(folder / "course")
    return folder / "course"

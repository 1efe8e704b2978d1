"""A whole course of a few lines, for tests that bend it out of shape."""

from pathlib import Path
from textwrap import dedent

from autograder.building.build import build
from autograder.course.loading import load_course

TOML = """
[course]
name = "small"
version = "1.0"
seed = 7

[[assignment]]
name = "week0"
title = "Numbers"
lessons = ["00_numbers"]
due = 2027-02-01T23:59:00Z
answers_open = 2027-02-15

[[assignment]]
name = "week1"
title = "Shapes"
lessons = ["01_shapes"]

[[exercise]]
id = "numbers.pair"
lesson = "00_numbers"
objects = ["numbers.double", "numbers.half"]
gives_away = ["fast", "other.twin", "other.Helper"]
points = 3
groups = { values = 2, special = 1 }

[[exercise]]
id = "numbers.clamp"
lesson = "00_numbers"
points = 2
groups = { values = 2 }

[[exercise]]
id = "shapes.Square"
lesson = "01_shapes"
points = 2.5
groups = { area = 2, edge = 0.5 }

[limits]
cell_seconds = 5
"""

NUMBERS = '''
"""Numbers."""

import functools


def loud(function):
    """A decorator."""
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


# Above double.
@loud
def double(x: float) -> float:
    """Return twice x."""
    ### BEGIN SOLUTION
    doubled = x + x
    return doubled
    ### END SOLUTION


# A banner between the two.
@loud
def half(
    x: float,
    scale: dict[str, float] = {"unit": 1.0},
) -> float:
    """Return half of x.

    On two lines.
    """
    factor = 1.0 * 0.5
    ### BEGIN SOLUTION
    halved = x * factor * scale["unit"]
    return halved
    ### END SOLUTION
    # a comment that belongs to half


def clamp(x):
    ### BEGIN SOLUTION
    smallest, largest = 0.0, 1.0
    ### END SOLUTION
    kept = x
    ### BEGIN SOLUTION
    kept = min(max(kept, smallest), largest)
    ### END SOLUTION
    return kept


AFTER = "clamp"
'''

SHAPES = '''
"""Shapes."""


class Square:
    """A square."""

    def __init__(self, edge):
        self.edge = edge

    def area(self):
        """Return the area."""
        ### BEGIN SOLUTION
        return self.edge * self.edge
        ### END SOLUTION

    @staticmethod
    def of_area(area):
        """Return the square of an area."""
        ### BEGIN SOLUTION
        return Square(area ** 0.5)
        ### END SOLUTION

    def given(self):
        """Return what every student may read."""
        return 4 * self.edge
'''

OTHER = '''
"""What shows answers elsewhere."""


def twin(x): return x + x + 0.0


def untouched(x):
    return x


class Helper:
    """Knows halves."""

    scale = 0.5

    def half(self, x):
        """Return half."""
        secret_half = x * self.scale
        return secret_half
'''

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "minigrad"
version = "0.1.0"
description = "A \\"small\\" library"
requires-python = ">=3.11"
dependencies = ["numpy>=2.1", "rich"]

[project.optional-dependencies]
course = ["nbgrader>=0.9.5"]

[project.scripts]
autograder = "autograder.cli:main"
minigrad = "minigrad.cli:main"

[tool.hatch.build.targets.wheel]
packages = ["src/minigrad", "autograder"]
"""

INIT = '''
"""A library of a few lines."""

try:
    from minigrad import fast
except ImportError:
    fast = None

from minigrad import numbers, other, shapes
'''

ERRORS = """
class MinigradError(Exception):
    pass


class ExerciseNotDone(MinigradError):
    pass
"""

LESSON_0 = """
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# Numbers to begin with

Why numbers.

```{code-cell} ipython3
:tags: [setup]

import math
```

```{code-cell} ipython3
1 + 1
```

```{code-cell} ipython3
1 + 1
```

```{code-cell} ipython3
# exercise: numbers.pair
```

Some prose.

```{code-cell} ipython3
# exercise: numbers.clamp
```
"""

LESSON_1 = """
# Shapes

```{code-cell} ipython3
# exercise: shapes.Square
```
"""


class SmallCourse:
    """A course in a temporary directory, whose files tests rewrite."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.toml = root / "course" / "course.toml"
        self.lesson = root / "course" / "lessons" / "00_numbers.md"
        self.second_lesson = root / "course" / "lessons" / "01_shapes.md"
        self.source = root / "src" / "minigrad"
        self.numbers = self.source / "numbers.py"
        self.shapes = self.source / "shapes.py"
        for path, text in {
            self.toml: TOML,
            self.lesson: LESSON_0,
            self.second_lesson: LESSON_1,
            self.numbers: NUMBERS,
            self.shapes: SHAPES,
            self.source / "other.py": OTHER,
            self.source / "errors.py": ERRORS,
            self.source / "fast.py": "def double(x): return 2.0 * x\n",
            self.source / "__init__.py": INIT,
            root / "pyproject.toml": PROJECT,
        }.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.lstrip("\n"))

    def change(self, path: Path, old: str, new: str) -> None:
        """Replace text that must be there exactly once."""
        text = path.read_text()
        assert text.count(old) == 1, (old, text.count(old))
        path.write_text(text.replace(old, new))

    def add_cell(self, source: str, path: Path | None = None, options: str = "") -> None:
        """Append a code cell to a lesson."""
        path = path or self.lesson
        cell = f"\n```{{code-cell}} ipython3\n{options}{dedent(source).strip()}\n```\n"
        path.write_text(path.read_text() + cell)

    def load(self):
        """Load it."""
        return load_course(self.toml)

    def build(self, **options):
        """Build it."""
        return build(self.root / "course", **options)

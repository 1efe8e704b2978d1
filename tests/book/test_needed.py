"""Which cells a cell of the book's page waits for when it runs in place."""

import json

import pytest

from book.needed import needed


@pytest.mark.parametrize(
    ("above", "cell", "numbers"),
    [
        (["x = 1", "y = 2"], "print(x)", [0]),
        (["x = 1", "x = 2"], "print(x)", [1]),
        (["x = 1", "x += 1"], "print(x)", [0, 1]),
        (["x = []", "x.append(1)", "x.count(1)"], "print(x)", [0, 1, 2]),
        (["x = {}", "x['a'] = 1"], "print(x)", [0, 1]),
        (["class A: pass", "A.b = 2"], "A()", [0, 1]),
        (["import math", "math.sin(1.0)"], "print(math.pi)", [0]),
        (["def g(): return 1", "def f(): return g()"], "f()", [0, 1]),
        (["a = 1"], "def f(a): return a", []),
        (["x = 1"], "x = 2\nprint(x)", []),
        (["x = 1"], "x = x + 1", [0]),
        (["if 1: x = 1", "x = 2", "if 0: x = 3"], "print(x)", [1, 2]),
        (["x = (", "x = 1"], "print(x)", [1]),
        (["x = 1"], "print(x", []),
    ],
)
def test_a_cell_needs_those_that_make_its_names(above, cell, numbers):
    """The last that sets a name ends the search for it; one that changes it goes on; what is no Python is left out."""
    assert needed(above, cell) == numbers


def test_a_lesson_is_not_run_from_its_beginning(root):
    """The training that lesson 00 begins with is left out where a later cell needs the setup alone."""
    cells = json.loads((root / "notebooks" / "00_fundamentals.ipynb").read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    at = next(n for n, code in enumerate(codes) if code.startswith("draw.fold("))
    assert needed(codes[:at], codes[at]) == [0]

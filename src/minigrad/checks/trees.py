"""Visible tests of trees of parameters."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from minigrad.checks.expectation import Expectation, expect, expect_that
from minigrad.checks.runner import visible
from minigrad.trees import LEAF, Structure

TREE = "10b 'A model is a tree'"


@visible("trees.tree_map", section=TREE)
def leaves_in_order(student: SimpleNamespace) -> None:
    """The leaves of {"b": [1, 2], "a": (3, None)} are 3, 1, 2."""
    found = student.tree_flatten({"b": [1.0, 2.0], "a": (3.0, None)})
    if not isinstance(found, tuple) or len(found) != 2:
        raise Expectation(found, None, "tree_flatten returns a pair", "return leaves, structure", None)
    when = {
        (1.0, 2.0, 3.0): "the children of a dict stand in the order of its sorted keys",
        (3.0, None, 1.0, 2.0): "None is a container without children, not a leaf",
        ((3.0, None), 1.0, 2.0): "a tuple is a container too: take it apart",
    }
    expect(list(found[0]), [3.0, 1.0, 2.0], hint="a first, then b", when=when)


@visible("trees.tree_map", section=TREE)
def structures(student: SimpleNamespace) -> None:
    """A leaf has the structure LEAF; a container has its kind, its keys and those of its children."""
    none = Structure(type(None))
    wanted = [
        (7.0, LEAF, "a leaf has the structure LEAF"),
        (None, none, "None has the structure Structure(type(None)), which is not that of a leaf"),
        ([7.0, None], Structure(list, (0, 1), (LEAF, none)), "keys are (0, 1): tuples, of keys and of children"),
        ({"y": 1.0, "x": ()}, Structure(dict, ("x", "y"), (Structure(tuple), LEAF)), "keys are sorted: ('x', 'y')"),
    ]
    for tree, right, hint in wanted:
        each = student.tree_flatten(tree)[1]
        expect_that(each == right, f"the structure of {tree} is {each}, expected {right}", hint)


@visible("trees.tree_map", section=TREE)
def there_and_back(student: SimpleNamespace) -> None:
    """What was taken apart is put together again, with other leaves."""
    tree = {"b": [1.0, (2.0,)], "a": None}
    structure = Structure(
        dict, ("a", "b"), (Structure(type(None)), Structure(list, (0, 1), (LEAF, Structure(tuple, (0,), (LEAF,)))))
    )
    seen: Any = student.tree_unflatten(structure, [1.0, 2.0])
    expect(seen, tree, hint="each leaf of the structure takes the next one")
    expect(type(seen["b"][1]).__name__, "tuple", hint="a tuple becomes a tuple again, and not a list")
    for leaves in ([1.0], [1.0, 2.0, 3.0]):
        try:
            seen = repr(student.tree_unflatten(structure, leaves))
        except ValueError:
            continue
        except (IndexError, StopIteration, RuntimeError) as error:
            seen = type(error).__name__
        hint = "raise a ValueError for too few leaves, and for too many"
        raise Expectation(seen, None, f"{len(leaves)} leaves in place of 2 gave {seen}", hint, None)


@visible("trees.tree_map", section=TREE)
def trees_in_step(student: SimpleNamespace) -> None:
    """A step of gradient descent: each parameter minus its gradient."""
    params = {"w": [5.0, 7.0], "b": None}
    slopes = {"b": None, "w": [1.0, 2.0]}
    seen: Any = student.tree_map(lambda p, g: p - g, params, slopes)
    expect(seen, {"b": None, "w": [4.0, 5.0]}, hint="the leaves of all trees, place by place")
    seen = student.tree_map(lambda p, g, m: p - g * m, params, slopes, params)
    expect(seen, {"b": None, "w": [0.0, -7.0]}, hint="there may be three trees, or more")


@visible("trees.tree_map", section=TREE)
def skeletons_must_match(student: SimpleNamespace) -> None:
    """Trees of two structures are a ValueError, also where they have as many leaves."""
    try:
        seen = student.tree_map(lambda p, g: p - g, {"w": 5.0, "b": 7.0}, {"w": 1.0, "c": 2.0})
    except ValueError:
        return
    raise Expectation(seen, None, f"keys w and b met keys w and c, and gave {seen}", "compare the structures", None)

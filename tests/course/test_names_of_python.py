"""The check of an answer that takes a name over from Python, or leaves the brackets of a method out, says so."""

import ast
import builtins
import math
import operator

import pytest
from visible import COURSE, check, references

from minigrad.checks.standins import Node, leaf

REFERENCES = references("00_fundamentals")
HOMES = {
    (each.id, dotted.rpartition(".")[2]): home.__name__
    for each in COURSE.of_lesson("00_fundamentals")
    for dotted in each.objects
    for home in (operator, math, builtins)  # the last one counts
    if hasattr(home, dotted.rpartition(".")[2])
}


def calling_itself(text, name):
    """Return an answer in which a function calls what it takes for Python's, with what it was given."""
    tree = ast.parse(text)
    (function,) = (each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name)
    given = [ast.Name(each.arg, ast.Load()) for each in function.args.args]
    function.body = [ast.Return(ast.Call(ast.Name(name, ast.Load()), given, []))]
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize(("id", "name"), HOMES)
def test_a_function_that_calls_itself_is_told_where_pythons_is(id, name):
    """`def max(x, y): return max(x, y)` never ends: the name means the new function."""
    report = check(id, calling_itself(REFERENCES[id], name))
    hints = [each.hint for each in report.results if each.reason == f"{name} calls itself too deeply (RecursionError)"]
    assert hints
    home = HOMES[id, name]
    said = f"`{name}` means the function that you write here; Python's is `{home}.{name}`, after `import {home}`"
    assert set(hints) == {said}


def test_a_call_that_fits_pythons_function_alone():
    """A second function of the cell calls Python's max of a list."""
    wrong = REFERENCES["operators.comparison"].replace("abs(x - y)", "max([x - y, y - x])")
    (failed,) = (each for each in check("operators.comparison", wrong).results if not each.passed)
    assert failed.reason.startswith("raised TypeError: max() missing 1 required positional argument: 'y', in your line")
    assert "Python's is `builtins.max`" in failed.hint


def test_a_function_that_comes_nearer_to_an_end_is_advised_to_loop():
    """Its arguments differ from call to call: no name of Python is meant."""
    text = REFERENCES["operators.folds"].replace("return reduce(add, 0.0)(ls)", "return ls[0] + sum(ls[:])")
    deep = "def sum(ls):\n    return ls[0] + sum([ls[0] + 1.0, *ls])\n"
    report = check("operators.folds", f"{text}\n\n{deep}")
    assert any(each.hint.startswith("Python allows about 1,000 nested calls") for each in report.results)


@pytest.mark.parametrize(
    "name",
    [name for name, each in vars(Node).items() if "bool" in str(getattr(each, "__annotations__", {}).get("return"))],
)
def test_a_method_that_is_not_called_has_no_truth_value(name):
    """Each method of a variable that answers yes or no: without its brackets it would always mean yes."""
    assert getattr(leaf("x"), name)() in (True, False)
    with pytest.raises(TypeError, match=rf"{name} is a method, and a method is always true: call it, {name}\(\)"):
        bool(getattr(leaf("x"), name))


@pytest.mark.parametrize(
    ("id", "called"),
    [
        ("autodiff.topological_sort", "is_constant()"),
        ("autodiff.backpropagate", "is_leaf()"),
        ("autodiff.chain_rule", "is_constant()"),
    ],
)
def test_the_check_names_the_method(id, called):
    """An answer that leaves the brackets out is told so once, in its own line, and nothing of its empty result."""
    text = references(COURSE.exercise(id).lesson)[id]
    assert called in text
    failed = [each for each in check(id, text.replace(called, called[:-2])).results if not each.passed]
    assert failed
    for each in failed:
        assert each.reason.startswith(f"raised TypeError: {called[:-2]} is a method, and a method is always true")
        assert "in your line `" in each.reason

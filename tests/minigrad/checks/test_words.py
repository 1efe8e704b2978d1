"""The words of checks: a value that no call gave has a name, and code in a report is shown as code."""

import ast

import pytest
from places import ROOT

from minigrad.checks import CheckReport, CheckResult, expect

CHECKS = sorted((ROOT / "src" / "minigrad" / "checks").glob("*.py"))
JUDGING = ("len", "all", "any", "bool")


def counts_or_judges(node):
    """Return whether an expression counts or judges, without a call of the answer in it."""
    called = node.func if isinstance(node, ast.Call) else None
    is_count = isinstance(called, ast.Name) and called.id in JUDGING
    is_method = isinstance(called, ast.Attribute) and called.attr.startswith("is_")
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return (is_count or is_method or isinstance(node, ast.Compare | ast.BoolOp)) and "student" not in names


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: path.stem)
def test_a_value_that_no_call_gave_has_a_name(path):
    """No check says "got False, expected True" or "got 0, expected 9" of something that its reader cannot see."""
    calls = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "expect" and node.args
    ]
    for node in calls:
        first = node.args[0]
        compared = first.elts if isinstance(first, ast.List | ast.Tuple) else [first]
        if any(map(counts_or_judges, compared)):
            assert "of" in [keyword.arg for keyword in node.keywords], ast.unparse(node)


def test_a_value_is_named():
    """What a value is stands behind it, in the place of its number among the values that a check compares."""
    with pytest.raises(AssertionError) as caught:
        expect(0, 9, of="the number of weights")
    assert caught.value.reason == "got 0 as the number of weights, expected 9"


def test_code_in_a_report_is_shown_as_code():
    """Backticks in every author's text become code in a notebook, and what the answer wrote stays text."""
    texts = ["a `title`", "in your line `x < y`", "is a `return` missing?", "00 'The `_back` twins'"]
    title, reason, hint, section = texts
    result = CheckResult(title, False, reason, hint, section)
    other = CheckResult("a `fact`", True)
    page = CheckReport("operators.folds", 4.0, (result, other), left_out=("the `rest`",))._repr_html_()
    for code in ("title", "x &lt; y", "return", "_back", "fact", "rest"):
        assert f"<code>{code}</code>" in page
    assert "`" not in page

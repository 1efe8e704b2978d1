"""The call that a failing check names, as its reader would type it."""

import linecache
from types import SimpleNamespace

import pytest

from minigrad.checks import calls, runner
from minigrad.checks.expectation import expect, expect_that


def failed(body, *, other="", **answers):
    """Run a check of that text on an answer; return the call that its report names."""
    test = make(body, other)
    result = runner._run_one(test, "01", student(**answers), Words(), runner._Tail(), lambda sentence: None)
    assert not result.passed
    return result.call


def make(body, other):
    lines = [f"    {line}\n" for line in ["'''It holds.'''", *body.split("\n")]]
    source = f"{other}\ndef test(student):\n{''.join(lines)}"
    name = f"<check {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"__name__": "minigrad.checks.invented", "expect": expect, "expect_that": expect_that}
    exec(compile(source, name, "exec"), names)
    return names["test"]


class Words:
    """What the runner asks of an answer whose check raises an error."""

    def reason(self, error, test):
        return str(error)

    def hint(self, error, test):
        return ""


def student(**answers):
    return SimpleNamespace(**{"f": lambda *given, **options: 0.0, "Box": Box, **answers})


class Box:
    """A class that a student writes."""

    def __init__(self, value):
        self.value = value

    def size(self):
        return self.value


HELPER = "def listed(x, *more):\n    return [x]\n\ndef applied(student, x):\n    return student.f(x)\n"


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("expect(student.f(2.0, 3.5), 5.5)", "f(2.0, 3.5)"),
        ("expect([student.f(1), student.f(2)], [0.0, 2.0])", "f(2)"),
        ("expect([[student.f(1)], (student.f(2), student.f(3))], [[0.0], (0.0, 3.0)])", "f(3)"),
        ("expect([student.f(x) for x in (1.0, 2.0, 3.0)], [0.0, 0.0, 3.0])", "f(3.0)"),
        ("xs = [1.0, 2.0]\nexpect([student.f(x, 1) for x in xs], [0.0, 2.0])", "f(2.0, 1)"),
        ("seen = student.f(4.0)\nexpect(seen, 4.0)", "f(4.0)"),
        ("seen = student.f(1)\nexpect(seen, 0.0)\nseen = student.f(2)\nexpect(seen, 2.0)", "f(2)"),
        ("x, shape = -2.5, (2, 3)\nexpect(student.f(x, shape), 1.0)", "f(-2.5, (2, 3))"),
        ("x = 3.0\nexpect(student.f(lambda x: x * x, x), 1.0)", "f(lambda x: x * x, 3.0)"),
        ("expect(student.Box(2).size(), 3)", "Box(2).size()"),
        ("expect(str(student.f(0.0)), '-0.0')", "str(f(0.0))"),
        ("expect(listed(student.f(1), 2), [1.0])", "f(1)"),
        ("expect(listed(listed(student.f(1)))[0][0], 1.0)", "f(1)"),
        ("x, y = 10**5000, [1]\ny.append(y)\nexpect(student.f(x, y, 2), 5.5)", "f(x, y, 2)"),
        ("for x in (1, 2):\n    expect(student.f(x), 0.0 if x == 1 else 2.0)", "f(2)"),
    ],
)
def test_the_call_that_gave_another_value(body, call):
    """With its numbers, without the checks' own helpers; of several values the one that differs."""
    assert failed(body, other=HELPER) == call


@pytest.mark.parametrize(
    "body",
    [
        "expect_that(student.f(1) == 2, 'it is not 2', 'think')",  # the sentence says it
        "expect(applied(student, 2), 3.0)",  # nobody can type what a helper does
        "expect(student.f(2), 3.0, secret=True)",
        "expect(2.0, 3.0)",
        "for seen in (student.f(1), 2.0):\n    expect(seen, 0.0)",
        f"expect(student.f({'1, ' * 50}), 1.0)",  # longer than a line
        "a, b = student.f(1), 2\nexpect(a, 2.0)",
    ],
)
def test_no_call_is_named_where_none_can_be(body):
    """No wrong one, and none that is secret."""
    assert failed(body, other=HELPER) == ""


def test_the_call_that_raised_an_error():
    """The arguments that an error came from are named, as the check gave them."""
    assert failed("x = 0.0\nexpect(1.0 + student.f(x), 2.0)", f=lambda x: 1.0 / x) == "f(0.0)"


def test_a_check_without_its_text():
    """Where Python does not find the source, the report does without."""
    test = make("expect(student.f(1), 2.0)", "")
    linecache.cache.pop(test.__code__.co_filename)
    calls._text_of.cache_clear()
    result = runner._run_one(test, "01", student(), Words(), runner._Tail(), lambda sentence: None)
    assert (result.reason, result.call) == ("got 0.0, expected 2.0", "")


def test_the_report_shows_it():
    """In a line of its own, as text and as HTML."""
    result = runner.CheckResult("It adds.", False, "got 1.0, expected 2.0", call="add(1.0, '<')")
    report = runner.CheckReport("operators.arithmetic", 1.0, (result,))
    assert "      Called: add(1.0, '<')" in str(report).splitlines()
    assert "<div>Called: <code>add(1.0, &#x27;&lt;&#x27;)</code></div>" in report._repr_html_()

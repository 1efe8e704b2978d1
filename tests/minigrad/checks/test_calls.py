"""The call that a failing check names, as its reader would type it."""

import linecache
import random
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad
from minigrad.checks import calls, runner
from minigrad.checks.expectation import expect, expect_that
from minigrad.checks.standins import leaf, result


def failed(body, *, other="", **answers):
    """Run a check of that text on an answer; return the call that its report names."""
    test = make(body, other)
    found = runner._run_one(test, "01", student(**answers), Words(), runner._Tail(), lambda sentence: None)
    assert not found.passed
    return found.call


def make(body, other):
    lines = [f"    {line}\n" for line in ["'''It holds.'''", *body.split("\n")]]
    source = f"{other}\ndef test(student):\n{''.join(lines)}"
    name = f"<check {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {
        "__name__": "minigrad.checks.invented",
        "expect": expect,
        "expect_that": expect_that,
        "leaf": leaf,
        "result": result,
    }
    exec(compile(source, name, "exec"), names)
    return names["test"]


def g(value):
    return value


def maker(fn):
    def made(x):
        return fn(x)

    return made


def options(first, /, *rest, key=0, **more):
    return 0.0


def loop(x):
    while x:
        pass


class Words:
    """What the runner asks of an answer whose check fails."""

    def __init__(self):
        self.names = {}

    def is_theirs(self, frame, test):
        return frame.f_code.co_filename == __file__ and frame.f_code.co_name in THEIRS

    def elsewhere(self, error, test):
        return ""

    def reason(self, error, test):
        return str(error)

    def hint(self, error, test):
        return ""


def student(**answers):
    known = {"f": lambda *given, **options: 0.0, "made": lambda fn: lambda *given: 0.0, "Box": Box}
    known |= {"g": g, "maker": maker, "options": options, "loop": loop}
    return SimpleNamespace(**{**known, **answers})


class Box:
    """A class that a student writes."""

    def __init__(self, value):
        self.value = value

    def size(self):
        return self.value


THEIRS = {"g", "maker", "made", "options", "loop", "__init__", "size"}
HELPER = "def sized(box):\n    return box.size()\n\n"
HELPER += "def keyed(student):\n    return student.options(1, 2, 3, key=4, other=5)\n\n"
HELPER += "def listed(x, *more):\n    return [x]\n\ndef applied(student, x):\n    return student.g(x)\n"


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
        ("made = student.made(lambda x: x)\nexpect(made(1.0, 2), 2.0)", "made(lambda x: x)(1.0, 2)"),
        ("x, y = 10**5000, [1]\ny.append(y)\nexpect(student.f(x, y, 2), 5.5)", "f(x, y, 2)"),
        ("for x in (1, 2):\n    expect(student.f(x), 0.0 if x == 1 else 2.0)", "f(2)"),
    ],
)
def test_the_call_that_gave_another_value(body, call):
    """With its numbers, without the checks' own helpers; of several values the one that differs."""
    assert failed(body, other=HELPER) == call


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("expect(applied(student, 2), 3.0)", "g(2)"),
        ("expect_that(student.g(1) == 2, 'it is not 2', 'think')", "g(1)"),
        ("expect([applied(student, x) for x in (1, 2, 3)], [1, 2, 4])", "g(3)"),
        ("expect([applied(student, x) for x in range(9)], [0, 1, 3, *range(3, 9)])", "g(2)"),
        ("applied(student, 7)\nexpect([applied(student, x) for x in (1, 2)], [1, 3])", "g(7), then g(1), then g(2)"),
        ("expect(applied(student, 1), 1)\nexpect(applied(student, 2), 3)", "g(2)"),
        ("applied(student, 1)\napplied(student, 1)\nexpect(1, 2)", "g(1)"),
        ("for x in range(9):\n    applied(student, x)\nexpect(1, 2)",
         "..., then g(5), then g(6), then g(7), then g(8)"),
        ("def launch(kernel, blocks, *given):\n    return 0\nkernel, _ = student.maker(max), 0\n"
         "launch(kernel, 2, [1.0])\nexpect(1, 2)", "maker(max)(2, [1.0])"),
        ("made, _ = student.maker(lambda x: 2 * x), 0\nexpect(made(4), 9)", "maker(lambda x: 2 * x)(4)"),
        ("box = student.Box(3)\nexpect(sized(box), 4)", "Box(3).size()"),
        ("expect(applied(student, max), 3.0)", "g(max)"),
        ("expect(applied(student, object()), 3.0)", "g(value)"),
        ("expect(applied(student, 10**5000), 3.0)", "g(value)"),
        ("expect(applied(student, 'x' * 900), 3.0)", f"g('{'x' * 196}...)"),
        ("x = leaf('x')\nexpect(applied(student, result('z', (x, 1.0), (result('a', (x, 1.0)), 1.0))), 3.0)",
         "g(z), with z made of x and a, a made of x"),
        ("expect(keyed(student), 3.0)", "options(1, 2, 3, key=4, other=5)"),
    ],
)  # fmt: skip
def test_the_calls_that_are_seen_in_a_second_run(body, call):
    """Where a helper makes the call, the check runs again and is watched; what was as expected is left out."""
    assert failed(body, other=HELPER) == call


@pytest.mark.parametrize(
    "body",
    ["expect(2.0, 3.0)", "student.count.append(1)\nexpect(applied(student, 2), 3.0 + len(student.count))"],
)
def test_no_call_is_named_where_none_can_be(body):
    """Where no answer is called, or the second run fails in another way."""
    assert failed(body, other=HELPER, count=[]) == ""


def test_a_call_that_does_not_end(monkeypatch):
    """It is the one that was running; its second run is short."""
    monkeypatch.setattr(runner, "SECONDS", 0.2)
    monkeypatch.setattr(runner, "_AGAIN", 0.1)
    assert failed("applied(student, 1)\nstudent.loop(2)", other=HELPER) == "loop(2)"


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


@pytest.mark.parametrize("draw", [random.random, np.random.random, lambda: minigrad.rand(1).item()])
def test_the_second_run_draws_the_same_numbers(draw):
    """A random result is wrong in the same way again, so that its call is found; afterwards the stream goes on."""
    drawn = [draw()]

    def g(value):
        drawn.append(draw())
        return drawn[-1]

    assert failed("expect(applied(student, 2), 3.0)", other=HELPER, g=g).endswith("(2)")
    before, first, second = drawn
    assert before != first == second != draw()

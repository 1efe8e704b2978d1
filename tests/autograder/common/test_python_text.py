"""A student's text ends in one place in everything that Python's own tools raise, and costs its own cell alone."""

import ast
import time
import warnings

import pytest
from places import ROOT

from autograder.common.python_text import (
    MAX_PARSED,
    NotPython,
    definitions_only,
    free_names,
    helper_names,
    names_in,
    parse,
    parses,
    same_code,
    same_trees,
    without_comments,
    written,
)
from autograder.judging.student_cells import without_later_imports
from autograder.sandbox import SourceCell

HUGE = f"0x{'f' * 4000}"
NO_CELL = (
    "def f(a, a): pass",
    "[x := 1 for x in y]",
    "[y for x in (z := d)]",
    "def f():\n    x = 1\n    global x",
    "def f(x):\n    nonlocal y",
    "def f():\n    from math import *",
    "class a:\n    nonlocal b",
    f"x = {'9' * 5000}",
    "(" * 3000 + ")" * 3000,
    "-" * 100_000 + "1",
    "x = 1\x00",
    "x = '",
    "\udc80",
    "a" * (MAX_PARSED + 1),
)
"""Texts that no cell can run: some have no tree, some have one and are refused later."""

STRANGE = (
    f"x = {HUGE}",
    f"def f(a={HUGE}): return {HUGE}",
    "x = '\\d'",
    "x = 1 is 1",
    "assert (1, 'x')",
    "x = 1e999 - 1e999j",
    "f'{x!r:{y}}{{'",
    "x = '\\ud800'",
    "await f()",
    "+".join(["1"] * 2000),
    "x = " + "[" * 90 + "]" * 90,
    "\x0cx = 1\x0c\n\x0c",
    "# -*- coding: no-such -*-\nx = 1",
    "\ufeffx = 1",
)
"""Texts that Jupyter runs, or may."""


@pytest.mark.parametrize("text", NO_CELL, ids=lambda text: repr(text[:20]))
def test_a_text_that_no_cell_can_run_is_not_python(text):
    """Whatever Python raises, and wherever, the text binds and reads nothing."""
    assert (parses(text), names_in(text), helper_names(text)) == (False, (set(), set()), set())
    assert definitions_only(text).strip() == ""
    assert not same_code(text, text)
    assert without_comments(text) is not None


@pytest.mark.parametrize("text", [*NO_CELL, *STRANGE], ids=lambda text: repr(text[:20]))
def test_every_question_has_an_answer(text):
    """No question about a text ends in anything but an answer or a sentence, also where warnings are errors."""
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = parse(text)
        if tree is not None:
            assert same_code(text, f"{text}\n# the same")
            assert not same_code(text, f"{text}\nz = 2")
        for question in (free_names, lambda _: written(tree or ast.Module([], []))):
            try:
                question(text)
            except NotPython as error:
                said.append(str(error))
    assert [each for each in said if not 0 < len(each) <= 120 or "\n" in each] == []


def test_trees_are_compared_by_what_they_say():
    """Places do not count; types, numbers of any size and the order do."""

    def same(one, other):
        return same_trees(ast.parse(one).body, ast.parse(other).body)

    assert same("x = 1", "\n\nx  =  1  # one") and same(f"x = {HUGE}", f"x =  {HUGE}")
    for one, other in (("1", "True"), ("1", "1.0"), ("'a'", "b'a'"), ("'a'", "u'a'"), ("x", "x; x"), ("x; y", "y; x"),
                       ("def f(a, /): pass", "def f(a): pass"), ("x: int", "x"), (HUGE, f"{HUGE}0")):  # fmt: skip
        assert not same(one, other), (one, other)
    deep = "x = " + "+".join(["1"] * 900)
    assert same(deep, deep)


def test_names_of_functions_with_huge_numbers_are_known():
    """A number that has no decimal digits takes no name away."""
    assert free_names(f"def f(x: A = d):\n    return g(x, {HUGE})") == {"d", "g"}


@pytest.mark.parametrize(
    "scope",
    [
        "def g{}(): a",
        *(
            pytest.param(scope, marks=pytest.mark.full("twelve thousand lines are read for each", share=4))
            for scope in ("[b for b in c]", "lambda: a", "class g{}: b = a")
        ),
    ],
)
def test_a_table_of_symbols_is_not_waited_for(scope):
    """Python makes it in time that grows with the square of a text, in one call that no alarm ends."""
    lines = [*(f"    a{k} = 0" for k in range(6000)), *(f"    {scope.format(k)}" for k in range(6000))]
    text = "\n".join(["def f():", *lines])
    begun = time.thread_time()
    assert parses(text)
    with pytest.raises(NotPython, match="too many functions and names"):
        free_names(text)
    assert time.thread_time() - begun < 4


def test_comments_are_found_where_python_finds_them():
    """Marks that other programs take for ends of lines are none."""
    assert without_comments("x = 1  # a\ny = '#'\x0c# b\n") == "x = 1  \ny = '#'\x0c\n"
    assert without_comments("x = '\u2028'  # a\nz # b") == "x = '\u2028'  \nz "


def test_a_draft_that_no_cell_runs_takes_no_import_away():
    """An import of a name that only such a draft defines stays."""
    draft, imported = (SourceCell(text, "added") for text in ("def f(x, x): pass", "from lib import f"))
    assert without_later_imports([draft, imported], ["lib.f"]) == [draft, imported]


READERS = frozenset(
    {"parse", "unparse", "dump", "literal_eval", "symtable", "generate_tokens", "compile", "exec", "eval"}
)
OF_THE_COURSE = frozenset({"judging/hunting.py", "telling/solutions.py"})
"""Modules that read texts of the course's author alone."""


@pytest.mark.parametrize(
    "room", ["common", "reading", "grafting", "judging", "results", "telling", "gradebook", "classes", "regrading"]
)
def test_python_reads_a_students_text_in_one_place(room):
    """No other module of the rooms that a submission goes through calls Python's own parsers."""
    home = ROOT / "autograder"
    found = []
    for file in sorted((home / room).rglob("*.py")):
        place = file.relative_to(home).as_posix()
        calls = [node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        of_python = [
            call for call in calls
            if (isinstance(call, ast.Attribute) and call.attr in READERS and isinstance(call.value, ast.Name)
                and call.value.id in ("ast", "symtable", "tokenize", "builtins"))
            or (isinstance(call, ast.Name) and call.id in READERS - {"parse", "dump"})
        ]  # fmt: skip
        if place not in {*OF_THE_COURSE, "common/python_text.py"}:
            found += [f"{place}:{call.lineno}" for call in of_python]
    assert found == []

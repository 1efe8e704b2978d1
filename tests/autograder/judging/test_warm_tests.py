"""No test run leaves anything behind that another student's run would be judged by."""

import random

import numpy as np
import pytest
from fake_session import GROUPS, FakeSession, pack

from autograder.judging.plugin import HiddenTests
from autograder.judging.student import HiddenTestError
from autograder.judging.warm_tests import WarmTests

HEAD = """
import collections
import functools
import random
import sys

import numpy as np
import pytest
from autograder import expect
from hypothesis import given, strategies as st

{state}


def helper(x):
    return x


@pytest.mark.exercise("demo.g", group="all", because="the task")
{above}
def test_g(student{more}):
    '''It answers.'''
    def observe(mg):
        return mg
    {change}
    expect(student(observe), 1)
"""


@pytest.fixture
def run(tmp_path):
    """Judge two submissions by one test, and return how they fared."""

    def run(state="", change="pass", above="", more=""):
        file = tmp_path / "test_demo.py"
        file.write_text(HEAD.format(state=state, change=change, above=above, more=more))
        tests = WarmTests("demo.g", GROUPS, tmp_path)
        plugins = [HiddenTests("demo.g", GROUPS, FakeSession(lambda *_: 1), pack, 1) for _ in range(2)]
        return [verdict.passed for plugin in plugins for verdict in tests.run(plugin)]

    return run


CHANGES = [
    ("SEEN = []", "SEEN.append(1)", "SEEN"),
    ("SEEN = {}", "SEEN[1] = 1", "SEEN"),
    ("SEEN = {1: [lambda: 1]}", "SEEN[1].append(2)", "SEEN"),
    ("SEEN = np.zeros(3)", "SEEN[1] = 1", "SEEN"),
    ("SEEN = collections.Counter()", "SEEN['a'] += 1", "SEEN"),
    ("SEEN = random.Random(1)", "SEEN.random()", "SEEN"),
    ("SEEN = iter([1, 2, 3, 4])", "next(SEEN)", "SEEN"),
    ("SEEN = (each for each in range(9))", "next(SEEN)", "SEEN"),
    ("COUNT = 0", "global COUNT; COUNT += 1", "COUNT"),
    ("COUNT = 0.0", "global COUNT; COUNT = 0.5", "COUNT"),
    ("COUNT = 0", "global COUNT; COUNT = False", "COUNT"),
    ("LAST = ''", "global LAST; LAST += 'x'", "LAST"),
    ("LAST = b''", "globals()['LAST'] = b'x'", "LAST"),
    ("FIRST = True", "global FIRST; FIRST = False", "FIRST"),
    ("FIRST = None", "global FIRST; FIRST = ()", "FIRST"),
    ("", "global NEW; NEW = 1", "NEW"),
    ("OLD = 1", "global OLD; del OLD", "OLD"),
    ("", "global helper; helper = lambda x: x", "helper"),
    ("", "helper.calls = 1", "helper"),
    ("", "helper.__defaults__ = (1,)", "helper"),
    ("def kept(x, seen=[]):\n    seen.append(x)", "kept(1)", "kept"),
    ("def make():\n    n = [0]\n    return lambda: n.append(1)\nkept = make()", "kept()", "kept"),
    ("class Case:\n    count = 0", "Case.count += 1", "Case"),
    ("class Case:\n    seen = []", "Case().seen.append(1)", "Case"),
    ("class Case:\n    pass\nCASE = Case()", "CASE.n = 1", "CASE"),
    ("", "global np; np = None", "np"),
    ("", "global test_g; test_g = helper", "test_g"),
]


@pytest.mark.parametrize(
    ("state", "change", "name"),
    [
        pytest.param(*case, marks=pytest.mark.full("one of many changes", share=4) if place % 3 else ())
        for place, case in enumerate(CHANGES)
    ],
)
def test_a_test_that_changes_its_module_is_refused(run, state, change, name):
    """Whatever was changed, by whichever means: the next student would be judged by it."""
    with pytest.raises(HiddenTestError, match=rf"test_demo\.py: a test changed its module's {name}; make it anew"):
        run(state, change)


@pytest.mark.parametrize(
    ("change", "generator"),
    [("random.random()", "random"), ("np.random.rand()", "numpy.random"), ("random.seed(3)", "random")],
)
def test_a_test_that_draws_from_a_shared_generator_is_refused(run, change, generator):
    """Its numbers would be others for the next student."""
    random.seed(1)
    np.random.seed(1)
    with pytest.raises(HiddenTestError, match=f"demo.g: a test draws from {generator}'s shared generator; seed"):
        run("", change)


@pytest.mark.parametrize(
    ("state", "change", "above", "more"),
    [
        ("NUMBERS = [1.0, float('nan')]", "values = [*NUMBERS]; values.append(1)", "", ""),
        ("@functools.cache\ndef known(x):\n    return [x]", "known(1)", "", ""),
        ("CASE = {'f': lambda x: x}", "CASE['f'](random.Random(1).random()), np.random.default_rng(1)", "", ""),
        ("SELF = []\nSELF.append(SELF)\nclass Case:\n    pass\nCase.case = Case()", "Case()", "", ""),
        ("NUMBERS = st.lists(st.integers())\nALL = [NUMBERS]", "pass", "@given(NUMBERS)", ", _numbers"),
        ("", "pass", "@pytest.mark.parametrize('n', [1, 2])", ", n"),
    ],
)  # fmt: skip
def test_a_test_that_changes_nothing_is_judged(run, state, change, above, more):
    """What a test only reads may stand in its module, and a test may draw with a seed of its own."""
    assert all(run(state, change, above, more))

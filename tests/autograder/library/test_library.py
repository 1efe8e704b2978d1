"""The grader and minigrad share no module; what both need to know is the same in both."""

import importlib
from pathlib import Path

import pytest

import autograder.common.marker
import autograder.judging.expectation
import minigrad.checks.expectation
import minigrad.exercises.marker
from autograder.building.hints import TIERS
from autograder.library import CUT, IN_LESSONS, MINIGRAD, Library, library_named
from minigrad.machine import overrides
from minigrad.tutor import hints

TWICE = (
    (autograder.common.marker, minigrad.exercises.marker),
    (autograder.judging.expectation, minigrad.checks.expectation),
)
"""Modules of which a student's library and a grader of any course each have one."""


@pytest.mark.parametrize(("ours", "theirs"), TWICE, ids=lambda module: module.__name__)
def test_a_module_that_stands_in_both_is_the_same(ours, theirs):
    """The line that names an exercise is read alike, and values are compared alike, up to the modules' own names."""
    written = Path(theirs.__file__).read_text().replace(theirs.__name__, ours.__name__)
    assert Path(ours.__file__).read_text() == written


def test_words_that_both_use_are_the_same():
    """The three hints of an exercise, and the file of an edition that lists what is cut."""
    assert (TIERS, CUT) == (hints.TIERS, overrides.CUT)


def test_what_the_adapter_names_is_there():
    """minigrad has the function that installs answers, those that are silent, and those that watch."""
    for name in (MINIGRAD.install, *MINIGRAD.silent):
        module, _, function = f"minigrad.{name}".rpartition(".")
        assert callable(getattr(importlib.import_module(module), function)), name
    for name in MINIGRAD.watching:
        importlib.import_module(f"minigrad.{name}")


def test_a_name_gives_a_library():
    """A course names minigrad, none, or a package of which nothing more is known."""
    assert library_named("minigrad") is MINIGRAD
    assert library_named("none") is IN_LESSONS
    assert library_named("stacks") == Library("stacks")

"""No field of a table is a formula, and numbers stay numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.gradebook.exporting import defused


@pytest.mark.parametrize("number", ["-1", "-0.5", "-12.25", "0", "3", "2.5"])
def test_numbers_stay_numbers(number):
    """A penalty that is less than nothing is added up by whatever reads it."""
    assert defused(number) == number


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1+1", "-cmd|' /C calc'!A0", "@SUM(A1)", "-", "--1", "-1e5", "-1.", "-.5", "-1\n", "-1;=2"]
)
def test_formulas_are_text(text):
    """Whatever begins like a formula and is no plain number gets an apostrophe before it."""
    assert defused(text).startswith("'") and defused(text).replace("'", "") == text.replace("'", "")


@given(st.sampled_from(["=", "+", "-", "@", "\t", "\r", "\uff1d"]), st.text("0123456789.-+=;A(\n", max_size=8))
def test_a_sign_stands_first_only_before_a_number(sign, rest):
    """Of fields that begin with a sign only negative numbers are left as they are."""
    field = sign + rest
    if defused(field) == field:
        assert sign == "-" and float(field) <= 0

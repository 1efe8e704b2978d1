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


UNSEEN = (
    " ", "\xa0", "\xad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\x00", "\x01", "\x0b",
    "\x0c", "\x1c", "\x7f", "\x85", "\u2003", "\u202e", "\u2028", "\u2029", "\u2066", "\u205f", "\u3000",
    "\u180e", "\u034f", "\ufe0f", "\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\U000e0020", "\ue000", "\ufffe",
)  # fmt: skip
SIGNS = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20", *"\ufe66\ufe62\ufe63\ufe6b", "\u2212", "\u207b", "\u208a")


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_what_is_not_seen_hides_no_formula(unseen):
    """Blanks, controls and invisible signs before a sign are passed over, in any number; none of them is lost."""
    for sign in SIGNS:
        for before in (unseen, unseen * 3, f" {unseen}", f"{unseen} \xa0"):
            for field in (f"{before}{sign}HYPERLINK(1)", f"{before}{sign}1"):
                assert defused(field) == f"'{field}"
                assert defused(f"Ada;{field}") == f"Ada;'{field}"
                assert defused(f'Ada;{unseen}"{field}') == f"Ada;'{unseen}\"{field}"


@pytest.mark.parametrize(
    "name", ["Ada", " Ada", "O'Brien", "\u200bAda-Lou", "a@b.org", "Ada\xa0=1", "\u3164", "", " ", "x-1"]
)
def test_names_stay_as_they_are(name):
    """A sign inside of a text begins no formula."""
    assert defused(name) == name

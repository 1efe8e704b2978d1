"""`autograder regrade` counts what changes in a sentence."""

import pytest

from autograder.commands.regrade import _count
from autograder.regrading import Plan
from autograder.results.changes import Change


@pytest.mark.parametrize(
    ("marks", "said"), [(1, "1 mark that would fall stays as it is"), (2, "2 marks that would fall stay as they are")]
)
def test_marks_that_would_fall(marks, said):
    """One mark stays as it is; two stay as they are."""
    falls = Change("ada", "week0", "00_numbers", "operators.arithmetic", 3, 3, 2, 3)
    assert said in _count(Plan((), (falls,) * marks, (), (), 0))

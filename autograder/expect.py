"""`expect` for hidden tests: the visible tests' comparison, which here never prints the wanted value."""

from __future__ import annotations

from functools import partial

from minigrad.checks.expectation import Expectation
from minigrad.checks.expectation import expect as _expect

__all__ = ["Expectation", "expect"]

expect = partial(_expect, secret=True)

"""The visible tests that ``check("...")`` runs in a notebook."""

from __future__ import annotations

from minigrad.checks.expectation import Expectation, expect
from minigrad.checks.runner import CheckReport, CheckResult, check, run, visible

__all__ = ["CheckReport", "CheckResult", "Expectation", "check", "expect", "run", "visible"]

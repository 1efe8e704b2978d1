"""The visible tests that ``check("...")`` runs in a notebook.

Everything is imported when it is first used: each question of a hidden test imports its part of this package anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.machine.first_use import first_use

if TYPE_CHECKING:
    from minigrad.checks.expectation import Expectation as Expectation
    from minigrad.checks.expectation import expect as expect
    from minigrad.checks.runner import CheckReport as CheckReport
    from minigrad.checks.runner import CheckResult as CheckResult
    from minigrad.checks.runner import check as check
    from minigrad.checks.runner import run as run
    from minigrad.checks.runner import visible as visible

_module_of = {
    "CheckReport": "runner",
    "CheckResult": "runner",
    "Expectation": "expectation",
    "check": "runner",
    "expect": "expectation",
    "run": "runner",
    "visible": "runner",
}

__all__ = sorted(_module_of)

__getattr__, __dir__ = first_use(__name__, _module_of)

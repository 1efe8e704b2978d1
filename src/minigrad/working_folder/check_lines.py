"""Reports of checks as lines of JSON, from the process that runs a student's code to the one that waits for it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from minigrad import exercises
from minigrad.checks import runner
from minigrad.checks.runner import CheckReport, CheckResult
from minigrad.tutor import hints


def failed(id: str, reason: str) -> CheckReport:
    """Return the report of a check that did not come to its end."""
    result = CheckResult("The check comes to an end", False, reason)
    return CheckReport(id, exercises.get(id).points, (result,), hints.pointer(id))


def as_line(report: CheckReport) -> dict[str, Any]:
    """Return a report as the line that the waiting process reads."""
    return {"report": {**asdict(report), "results": [asdict(each) for each in report.results]}}


def most_seconds(id: str) -> float:
    """Return how long the tests of an exercise may work together, one of which may import Numba."""
    limits = (runner.SLOW_SECONDS if test in runner._slow else runner.SECONDS for test, _ in runner._tests_of(id))
    return runner.SLOW_SECONDS + sum(limits)


def report_of(line: dict[str, Any]) -> CheckReport:
    """Return the report that a line holds."""
    given = line["report"]
    results = tuple(CheckResult(**each) for each in given["results"])
    return CheckReport(**{**given, "results": results})

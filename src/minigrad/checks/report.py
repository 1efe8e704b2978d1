"""The report of a check, as text and as HTML."""

from __future__ import annotations

import textwrap
from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from minigrad.checks.unseen import unseen
from minigrad.exercises.telling import told
from minigrad.machine import packages
from minigrad.tutor.hints import html_of

if TYPE_CHECKING:
    from minigrad.checks.runner import CheckReport, CheckResult

_PRINTED = "Your code printed, at the end:"
_LEFT_OUT = "Not checked here:"

_ROW = '<li style="margin:.35em 0;list-style:none">{mark} {title}{detail}</li>'
_LOOK_CLOSER = {
    False: "Hidden tests look closer when the notebook is graded.",
    True: "Hidden tests look closer: `minigrad grade` runs them.",
}
"""What stands below a report when all checks pass, by whether the grader is installed."""

_MARK = '<b style="color:{colour}" aria-label="{label}">{sign}</b>'
_DETAIL = '<div style="margin-left:1.6em"><div>{reason}</div>{call}{hint}{section}{more}</div>'


def headline(report: CheckReport) -> str:
    """Return the report's first line."""
    passed, total = sum(r.passed for r in report.results), len(report.results)
    if passed == total:
        return told(f"{report.exercise}: all {total} checks pass")
    return told(f"{report.exercise}: {passed} of {total} checks pass")


def shown(report: CheckReport) -> list[tuple[CheckResult, str]]:
    """Return the report's lines: for each reason its first failing check, and the number of others."""
    counts = Counter(map(_cause, report.results))
    rows: list[tuple[CheckResult, str]] = []
    for result in report.results:
        more = counts.pop(_cause(result), 0) - 1 if _cause(result) else 0
        if more >= 0:
            others = f"{'1 more check fails' if more == 1 else f'{more} more checks fail'} for the same reason."
            rows.append((result, told(others) if more else ""))
    return rows


def _cause(result: CheckResult) -> str:
    """Return the cause that several checks share. Without a hint, an equal reason may be chance."""
    return result.cause or (f"{result.reason} {result.hint}" if result.hint else "")


def as_text(report: CheckReport, width: int = 100) -> str:
    """Return the report for a terminal, with lines of at most that width."""
    lines = [headline(report)]

    def indented(text: str, first: str, rest: str) -> None:
        lines.extend(textwrap.wrap(text, max(width, 40), initial_indent=first, subsequent_indent=rest))

    for result, more in shown(report):
        indented(told(result.title), "  ✓ " if result.passed else "  ✗ ", "    ")
        if not result.passed:
            indented(told(result.reason), "      ", "      ")
            if result.call:
                indented(f"{told('Called: ')}{result.call}", "      ", "        ")
            if result.hint:
                indented(f"{told('Hint: ')}{told(result.hint)}", "      ", "        ")
            if result.section:
                indented(told(f"Read again: lesson {result.section}"), "      ", "        ")
            if more:
                indented(more, "      ", "      ")
    for fact in report.left_out:
        indented(f"{told(_LEFT_OUT)} {told(fact)}", "", "  ")
    if report.printed:
        lines += [told(_PRINTED), *(f"  {line}" for line in report.printed.splitlines())]
    if report.passed and (left_out := unseen(report.exercise)):
        indented(told(left_out), "", "")
    if report.pointer:
        lines.append(told(report.pointer))  # not wrapped: to be copied
    return "\n".join(lines)


def as_html(report: CheckReport) -> str:
    """Return the report for a notebook."""
    colour = "#1a7f37" if report.passed else "#b35900"
    rows = "".join(_row(result, more) for result, more in shown(report))
    left_out = "".join(f"<div>{told(_LEFT_OUT)} {html_of(told(fact))}</div>" for fact in report.left_out)
    printed = f"<div>{told(_PRINTED)}</div><pre>{escape(report.printed)}</pre>" if report.printed else ""
    closer = html_of(told(f"{_LOOK_CLOSER[packages.has_grader()]} {unseen(report.exercise)}".strip()))
    note = closer if report.passed else _pointer(told(report.pointer))
    return (
        f'<div class="minigrad-check" style="border-left:4px solid {colour};padding:.4em 1em">'
        f"<b>{escape(headline(report))}</b>"
        f'<ul style="padding-left:.2em;margin:.4em 0">{rows}</ul>{left_out}{printed}<small>{note}</small></div>'
    )


def _pointer(line: str) -> str:
    """Return the line that points to the next hint, its call as code."""
    call, bracket, rest = line.partition(")")
    return f"<code>{escape(call + bracket)}</code>{escape(rest)}" if line else ""


def _row(result: CheckResult, more: str) -> str:
    if result.passed:
        mark = _MARK.format(colour="#1a7f37", label=told("passed"), sign="✓")
        return _ROW.format(mark=mark, title=html_of(told(result.title)), detail="")
    hint = f"<div><b>{told('Hint: ')}</b>{html_of(told(result.hint))}</div>" if result.hint else ""
    section = f"<small>{html_of(told(f'Read again: lesson {result.section}'))}</small>" if result.section else ""
    detail = _DETAIL.format(
        reason=html_of(told(result.reason)),
        call=f"<div>{told('Called: ')}<code>{escape(result.call)}</code></div>" if result.call else "",
        hint=hint,
        section=section,
        more=f"<div>{html_of(more)}</div>" if more else "",
    )
    mark = _MARK.format(colour="#b35900", label=told("failed"), sign="✗")
    return _ROW.format(mark=mark, title=html_of(told(result.title)), detail=detail)

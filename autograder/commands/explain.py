"""The command that replays what the judge saw of one exercise of one submission."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from autograder.commands.common import (
    USAGE,
    CourseOption,
    HiddenOption,
    IsolationOption,
    cache_of,
    check_exercises,
    fail,
    honest,
    short,
)
from autograder.course.loading import find_course, load_course

if TYPE_CHECKING:
    from autograder.judging.explaining import CellRun, Examined, Explanation

MAX_LINES = 80
"""Lines of the student's answer that a terminal shows; --json has all of them."""


@honest
def explain(
    student: Annotated[str, typer.Argument(help="nbgrader's student id.", show_default=False)],
    exercise: Annotated[str, typer.Argument(help="The exercise's id.", show_default=False)],
    assignment: Annotated[
        str | None, typer.Option(help="Its assignment, to be sure of it; it follows from the exercise.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = None,
) -> None:
    """Replay what the judge saw: cells, questions of the hidden tests, answers, what was wanted, and why.

    The exercise is always run in the sandbox again, and nothing is recorded. The result is compared with what was
    recorded, and a difference is said. What this prints is for the instructor: it shows what hidden tests want.

    Example: autograder explain ada autodiff.backpropagate
    """
    from autograder.gradebook.exporting import marks_of, standing
    from autograder.judging.explaining import explain as replay
    from autograder.regrading import hidden_tests

    loaded = load_course(course or find_course(), tree=False)
    check_exercises(loaded, [exercise])
    own = loaded.assignment_of(loaded.exercise(exercise)).name
    if assignment not in (None, own):
        fail(f"{exercise} belongs to {own}, not to {assignment}; leave --assignment out", USAGE)
    tests = hidden or hidden_tests(loaded)
    marks = [each for each in marks_of(loaded, [own]) if each.student == student]
    recorded = standing(marks[0]) if marks else ""
    found = replay(loaded, student, exercise, hidden=tests, isolation=isolation, cache=cache_of(loaded))
    if as_json:
        agrees = None if found.recorded is None else not found.differences
        typer.echo(
            json.dumps(
                _cleaned({**asdict(found), "agrees": agrees, "standing": recorded}), indent=2, ensure_ascii=False
            )
        )
    else:
        console = Console(soft_wrap=True, highlight=False)
        for line in _lines(found, recorded):
            console.print(line)


def _clean(text: str) -> str:
    from autograder.telling.report import clean

    return clean(text, limit=max(1, len(text)))


def _cleaned(value: Any) -> Any:
    """Plain data with every text cleaned of what would steer a terminal."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        return {key: _cleaned(each) for key, each in value.items()}
    return [_cleaned(each) for each in value] if isinstance(value, list | tuple) else value


def _line(*parts: str | tuple[str, str], indent: int = 0) -> Text:
    """A line of cleaned parts, each of them a text or (text, style)."""
    made = Text(" " * indent)
    for part in parts:
        text, style = part if isinstance(part, tuple) else (part, "")
        kept = text.strip(" ")
        before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
        made.append(f"{before}{_clean(kept)}{after}" if kept else text, style)  # cleaning takes blanks away
    return made


def _lines(found: Explanation, recorded: str) -> Iterator[Text]:
    graded = found.graded
    yield _line((f"{found.student}, {graded.exercise}", "bold"), f" ({found.assignment}, {found.lesson})")
    yield from _mark(found)
    if recorded:
        yield _line(f"{found.assignment} in the gradebook: {recorded}")
    yield Text()
    yield Text("What was taken from the submission", style="bold")
    for note in found.notes:
        yield _line(("note ", "yellow"), note, indent=2)
    for cell in found.cells:
        yield from _cell(cell, own=cell.exercise == graded.exercise)
    yield Text()
    yield Text("What the hidden tests asked", style="bold")
    if not found.tests:
        yield _line("none was run: ", graded.reason, indent=2)
    for test in found.tests:
        yield from _test(test)
    rest = [*graded.notes, *graded.events]
    if rest:
        yield Text()
        yield Text("What was noted and contained", style="bold")
        yield from (_line(each, indent=2) for each in rest)


def _mark(found: Explanation) -> Iterator[Text]:
    graded = found.graded
    groups = ", ".join(f"{group.name} {group.earned:g} of {group.points:g}" for group in graded.groups)
    style = "green" if graded.full else "red"
    yield _line((f"{graded.earned:g} of {graded.points:g} points", style), f" ({groups})")
    if found.recorded is None:
        yield _line(("nothing is recorded ", "yellow"), "of this exercise: it was not graded yet")
    elif not found.differences:
        yield _line("the recorded mark and verdicts are the same")
    else:
        yield _line(("the recorded result is another one", "bold yellow"))
        yield from (_line(each, indent=2) for each in found.differences)


def _cell(cell: CellRun, *, own: bool) -> Iterator[Text]:
    ended = cell.outcome or "not run"
    style = "green" if ended == "ran" else "yellow"
    yield _line((cell.label, "cyan" if own else ""), f", from {cell.origin}: ", (ended, style), indent=2)
    if own:
        lines = cell.source.splitlines()
        for number, line in enumerate(lines[:MAX_LINES], start=1):
            # Indented text keeps its blanks: only what stands after them is cleaned.
            body = line.expandtabs(4)
            blanks = len(body) - len(body.lstrip(" "))
            yield Text(f"    {number:3}  {' ' * blanks}{_clean(body)}", style="dim")
        if len(lines) > MAX_LINES:
            yield _line(f"... and {len(lines) - MAX_LINES} more lines", indent=4)
    for line in cell.output.splitlines()[:10]:
        yield _line(("printed: ", "dim"), line, indent=4)


def _test(test: Examined) -> Iterator[Text]:
    verdict = test.verdict
    mark = ("✓ ", "green") if verdict.passed else ("✗ ", "red")
    path, _, line = test.where.rpartition(":")
    place = f"{short(Path(path))}:{line}"  # as an editor opens it from here
    yield _line(mark, (verdict.title, "bold"), f"  [{verdict.group}]  {verdict.test}, {place}", indent=2)
    hidden = test.asked - len(test.questions)
    if hidden > 0:
        yield _line(f"it asked {test.asked} questions; the last {len(test.questions)} were", indent=6)
    for question in test.questions:
        given = ", ".join(f"{name} = {value}" if name else value for name, value in question.given)
        yield _labelled("asked with", given or "nothing: the question names its own values")
        yield _labelled("answered", question.came or "nothing")
    if verdict.passed:
        return
    if test.wanted:
        yield _labelled("wanted", test.wanted)
    named = f"{verdict.misconception}: {test.cause}" if test.cause else ""
    said = {"report says": verdict.reason, "hint": verdict.hint, "enforces": verdict.because, "mistake": named}
    yield from (_labelled(label, text) for label, text in said.items() if text)


def _labelled(label: str, text: str) -> Text:
    return _line((f"{label:<12}", "dim"), text, indent=6)

"""The command `check --minitorch`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from minigrad.commands.common import console, print_json, table_of

if TYPE_CHECKING:
    from minigrad.working_folder.checking import Checked
    from minigrad.working_folder.minitorch import Task
    from minigrad.working_folder.probing import Probe


def check_minitorch(folder: Path, seconds: float, *, as_json: bool) -> int:
    """Check someone's answers to MiniTorch's tasks, print what was seen, and return the exit code."""
    from minigrad.working_folder.checking import check_folder
    from minigrad.working_folder.minitorch import found_tasks, unreadable
    from minigrad.working_folder.minitorch_blind_spots import PROBES

    found = found_tasks(folder)
    with console.status(f"checking {len(found)} answers") if console.is_terminal and not as_json else nullcontext():
        checked = check_folder(folder, list(found), seconds)
    broken = unreadable(folder)
    checked = replace(checked, remarks=[*(f"{each}; its answers are left out" for each in broken), *checked.remarks])
    tasks = {id: task for id, (task, _) in found.items()}
    missed = [probe for probe in PROBES if probe.name in checked.seen]
    if as_json:
        print_json(_as_data(checked, tasks, missed))
    else:
        _print(checked, tasks, missed)
    if broken:
        return 2
    return 0 if all(report.passed for report in checked.reports) and not missed else 1


def _print(checked: Checked, tasks: dict[str, Task], missed: list[Probe]) -> None:
    from minigrad.checks.report import as_text
    from minigrad.working_folder.minitorch import lacking, version

    table = table_of("task", "answer", "checks", "points")
    for report in checked.reports:
        passed = sum(result.passed for result in report.results)
        style = "green" if report.passed else "red"
        counts = f"{passed} of {len(report.results)}", f"{report.earned:g} of {report.points:g}"
        table.add_row(tasks[report.exercise].number, report.exercise, *counts, style=style)
    console.print(table)
    console.print(f"The files have the interfaces of {version(checked.notebook)}.", highlight=False)
    for report in checked.reports:
        if not report.passed:
            console.print(escape(as_text(report, console.width)), highlight=False, soft_wrap=True)
    for remark in checked.remarks:
        console.print(escape(remark), style="yellow", highlight=False, soft_wrap=True)
    if checked.stricter:
        console.print("Stricter than MiniTorch; an answer that follows MiniTorch is not wrong:", style="bold")
    for each in checked.stricter:
        theirs = f"the answer gives {each['theirs']}, " if each["theirs"] else ""
        values = f"{each['question']}: {theirs}this course asks for {each['ours']}. {each['sentence']}."
        console.print(f"  {each['exercise']}: {escape(values)}", highlight=False, soft_wrap=True)
    _print_missed(missed)
    if not_looked_at := _not_looked_at(checked):
        console.print("Looked at in grading alone:", style="bold")
    for id, facts in not_looked_at.items():
        console.print(f"  {id}: {'; '.join(facts)}", highlight=False, soft_wrap=True)
    if absent := _absent(tasks):
        lacks = {id: " and ".join(lacking(checked.notebook, id)) for id in absent}
        listed = ", ".join(f"{id} (it lacks {lacks[id]})" if lacks[id] else id for id in absent)
        console.print(f"Not found in this folder: {listed}.", highlight=False)


def _print_missed(missed: list[Probe]) -> None:
    from minigrad.working_folder.minitorch_blind_spots import PROBES

    if not missed:
        console.print(f"Of {len(PROBES)} mistakes that pass MiniTorch's own tests, none was found.", highlight=False)
        return
    console.print("What MiniTorch's own tests let pass:", style="bold")
    for probe in missed:
        console.print(f"  {probe.exercise}: {escape(probe.sentence)}", highlight=False)


def _not_looked_at(checked: Checked) -> dict[str, list[str]]:
    """Return, of each answer that passes, what its checks do not look at and the hidden tests do."""
    from minigrad.checks.unseen import UNSEEN

    found = {report.exercise: UNSEEN.get(report.exercise, {}) for report in checked.reports if report.passed}
    return {id: list(dict.fromkeys(facts.values())) for id, facts in found.items() if facts}


def _absent(tasks: dict[str, Task]) -> list[str]:
    from minigrad.working_folder.minitorch import TASKS

    return list(dict.fromkeys(task.exercise for task in TASKS if task.exercise not in tasks))


def _as_data(checked: Checked, tasks: dict[str, Task], missed: list[Probe]) -> dict[str, Any]:
    from minigrad.working_folder.minitorch import version

    return {
        "version": version(checked.notebook),
        "passed": all(report.passed for report in checked.reports) and not missed,
        "isolated": False,
        "remarks": checked.remarks,
        "not_found": _absent(tasks),
        "stricter_than_minitorch": checked.stricter,
        "not_looked_at": _not_looked_at(checked),
        "missed_by_minitorch": [
            {"name": probe.name, "exercise": probe.exercise, "sentence": probe.sentence} for probe in missed
        ],
        "exercises": [
            {
                "id": report.exercise,
                "task": tasks[report.exercise].number,
                "passed": report.passed,
                "points": report.earned,
                "of": report.points,
                "checks": [asdict(result) for result in report.results],
            }
            for report in checked.reports
        ],
    }

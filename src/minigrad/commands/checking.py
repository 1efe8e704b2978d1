"""The command `check`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from minigrad import exercises
from minigrad.commands.common import console, print_json, table_of
from minigrad.errors import MinigradError
from minigrad.exercises.telling import speak_in

if TYPE_CHECKING:
    from minigrad.checks.runner import CheckReport
    from minigrad.working_folder.checking import Checked

_NOTE = "Points are those of the visible checks, which ran here, not isolated; hidden tests look closer."


def check(
    notebooks: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Notebooks with your answers, or folders; by default every lesson in your folder.",
            metavar="NOTEBOOK...",
        ),
    ] = None,
    exercise: Annotated[str | None, typer.Option(help="Only this exercise, by its id.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show the report of each exercise, in the place of the table.")
    ] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long a cell may take before it is left out.")] = 20.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    minitorch: Annotated[
        Path | None,
        typer.Option(help="A folder with answers to MiniTorch's tasks, to be checked instead.", metavar="PATH"),
    ] = None,
) -> None:
    """Run the visible tests on the answers in notebooks, in a process of their own.

    Exits with 0 if all pass, with 1 if one fails or is not written yet, with 2 if a notebook cannot be read; the
    others are checked all the same.

    Example: `minigrad check`, `minigrad check 03_backprop.ipynb --exercise autodiff.topological_sort`,
    `minigrad check --minitorch ../minitorch/minitorch`
    """
    if minitorch is not None:
        from minigrad.commands.minitorch import check_minitorch

        if beside := _beside_minitorch(notebooks or [], exercise, everything):
            raise MinigradError(f"check: --minitorch checks a folder and nothing else; leave out {', '.join(beside)}")
        raise typer.Exit(check_minitorch(minitorch, seconds, as_json=as_json))
    from minigrad.tutor.progressing import working_folder
    from minigrad.working_folder import naming
    from minigrad.working_folder.finding import located

    exercise = naming.exercise_meant(exercise, working_folder()) if exercise else None
    places = [located(path, "check") for path in notebooks or ()]
    named = bool(places) and all(not path.is_dir() for path in places)
    readable, unreadable = _readable(_chosen(places, exercise))
    if places:
        speak_in(places[0] if places[0].is_dir() else places[0].parent)
    if not readable:
        raise MinigradError("; ".join(unreadable))
    if not named:  # lessons of which the folder's path asks for nothing are no news
        readable = [path for path in readable if _wanted(path, exercise)] or readable
    checked = _check_all(readable, exercise, seconds)
    if as_json:
        print_json(_as_data(checked, unreadable))
    elif everything or exercise:
        _print_reports(checked)
    else:
        _print_table(checked, whole=named)
    if not as_json:
        _print_dates(readable, named=named)
    if unreadable:
        raise MinigradError("; ".join(unreadable))
    raise typer.Exit(0 if all(report.passed for each in checked for report in each.reports) else 1)


def _print_dates(notebooks: list[Path], *, named: bool) -> None:
    """Say when the assignments of named notebooks are due, else the one that is due next."""
    from minigrad.exercises.syllabus import course
    from minigrad.tutor.progressing import working_folder
    from minigrad.working_folder import dates

    home = working_folder(notebooks[0].parent)
    if home is None:
        return
    lessons = {path.stem for path in notebooks}
    asked = [each["name"] for each in course()["assignments"] if lessons & set(each["lessons"])]
    for sentence in dates.dates_of(home, asked) if named else dates.next_dates(home):
        console.print(sentence, highlight=False, soft_wrap=True, markup=False)


def _beside_minitorch(notebooks: list[Path], exercise: str | None, everything: bool) -> list[str]:
    """Return what was typed beside --minitorch and means nothing there."""
    options = {"--exercise": exercise, "--all": everything}
    return [*map(str, notebooks), *(name for name, value in options.items() if value)]


def _lessons_here() -> list[Path]:
    from minigrad.exercises import folder_here
    from minigrad.exercises.lesson_files import lessons_below, lessons_in
    from minigrad.tutor.progressing import working_folder
    from minigrad.working_folder.finding import lessons_around

    home = working_folder() or folder_here()
    if found := lessons_in(home) or lessons_in(Path()) or lessons_below(home):
        return found
    around = lessons_around()
    advice = f"your lessons are in {around[0].parent}" if around else "name notebooks, or go where you work"
    raise MinigradError(f"check: there is no lesson in this folder; {advice}")


def _chosen(paths: list[Path], exercise: str | None) -> list[Path]:
    """Return the notebooks that were named, and the lessons in folders: all of them, or that of the exercise."""
    wanted = exercises.get(exercise) if exercise else None
    found = [_lessons_in(path, str(path)) if path.is_dir() else [path] for path in paths] or [_lessons_here()]
    every = [path for each in found for path in each]
    chosen = [path for path in every if wanted is None or path in paths or path.stem == wanted.lesson]
    if wanted and not chosen:
        raise MinigradError(
            f"check: {wanted.id} belongs to {wanted.lesson}.ipynb, which is not there; name the notebook that has it"
        )
    return chosen


def _lessons_in(folder: Path, place: str) -> list[Path]:
    from minigrad.exercises.lesson_files import lessons_in

    found = lessons_in(folder)
    if not found:
        raise MinigradError(f"check: there is no lesson in {place}")
    return found


def _readable(notebooks: list[Path]) -> tuple[list[Path], list[str]]:
    """Return the notebooks that can be read, and a sentence for each of the others."""
    readable, unreadable = [], []
    for path in notebooks:
        try:
            exercises.answer_cells(path)
        except MinigradError as error:
            unreadable.append(str(error))
        else:
            readable.append(path)
    return readable, unreadable


def _check_all(notebooks: list[Path], exercise: str | None, seconds: float) -> list[Checked]:
    """Check notebooks one after the other, and note the results where progress is kept."""
    from rich.progress import Progress

    from minigrad.tutor import progressing
    from minigrad.working_folder import checking

    wanted = {path: _wanted(path, exercise) for path in notebooks}
    checked = []
    endless = set[int | str]()
    with Progress(transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("checking", total=len(wanted))
        for path, ids in wanted.items():
            bar.update(task, description=f"checking {path.name}")
            checked.append(_check_begun(path, ids, seconds, endless))
            checked[-1].remarks += _of_other_lessons(path)
            bar.advance(task)
            for report in checked[-1].reports:
                if _is_graded_in(path, report.exercise) and not checking.not_begun(report.exercise, path):
                    progressing.record(report, path.parent, live=False)
    return checked


def _check_begun(notebook: Path, ids: list[str], seconds: float, endless: set[int | str]) -> Checked:
    """Check the exercises of a notebook that are begun. The others are as they were given out: nothing is to be run."""
    from minigrad.working_folder import checking

    begun = [id for id in ids if not checking.not_begun(id, notebook)]
    checked = checking.check_notebook(notebook, begun, seconds, endless) if begun else checking.Checked(notebook)
    checked.reports += [checking.unwritten(id) for id in ids if id not in begun]
    checked.reports.sort(key=lambda report: ids.index(report.exercise))
    return checked


def _wanted(notebook: Path, exercise: str | None) -> list[str]:
    """Return the exercise that was named, or those of a notebook that its folder's path asks for or that are begun."""
    from minigrad.exercises import paths
    from minigrad.working_folder.checking import not_begun

    wanted = [exercises.get(exercise).id] if exercise else _of_lesson(notebook) or exercises.placed_in(notebook)
    if not wanted:
        raise MinigradError(f"check: {notebook.name} holds no exercise (no cell begins with '# exercise: ...')")
    path = None if exercise else paths.chosen(notebook.parent)
    return [id for id in dict.fromkeys(wanted) if path is None or id in path.exercises or not not_begun(id, notebook)]


def _of_lesson(notebook: Path) -> list[str]:
    """Return the exercises of the lesson that a notebook is, whether or not it still has cells for them."""
    return [each.id for each in exercises.catalogue().values() if each.lesson == notebook.stem and not each.draft]


def _of_other_lessons(notebook: Path) -> list[str]:
    """Return a sentence for each answer that stands in the notebook of another lesson, where nobody grades it."""
    return [
        f"{notebook.name}: {id} belongs to {exercises.get(id).lesson}.ipynb; it is not graded here"
        for id in dict.fromkeys(exercises.placed_in(notebook))
        if not _is_graded_in(notebook, id)
    ]


def _is_graded_in(notebook: Path, id: str) -> bool:
    """Return whether a notebook is the lesson of an exercise, or no lesson at all."""
    lessons = {each.lesson for each in exercises.catalogue().values()}
    return notebook.stem == exercises.get(id).lesson or notebook.stem not in lessons


def _print_remarks(checked: Checked) -> None:
    for remark in checked.remarks:
        console.print(escape(remark), style="yellow", highlight=False, soft_wrap=True)


def _print_reports(checked: list[Checked]) -> None:
    from minigrad.checks.report import as_text
    from minigrad.working_folder.finding import as_typed

    for each in checked:
        console.print(escape(as_typed(each.notebook)), style="bold", highlight=False, soft_wrap=True)
        _print_remarks(each)
        for report in each.reports:
            style = "green" if report.passed else None
            console.print(escape(as_text(report, console.width)), style=style, highlight=False, soft_wrap=True)


def _print_table(checked: list[Checked], *, whole: bool) -> None:
    """Print a row for each exercise, and below it the reports of those that are begun and fail.

    Args:
        checked: What was checked.
        whole: Whether to print the reports of those that pass as well.
    """
    from minigrad.checks.report import as_text
    from minigrad.machine import packages
    from minigrad.working_folder.checking import not_begun
    from minigrad.working_folder.finding import as_typed

    table = table_of("exercise", "checks", "points")
    shown: list[CheckReport] = []
    for each in checked:
        table.add_section()
        table.add_row(escape(as_typed(each.notebook)), style="bold")
        for report in each.reports:
            begun = not not_begun(report.exercise, each.notebook)
            shown += [report] if begun and (whole or not report.passed) else []
            passed = sum(result.passed for result in report.results)
            state = f"{passed} of {len(report.results)}" if begun else "not begun"
            style = "green" if report.passed else "red" if begun else "dim"
            table.add_row(f"  {report.exercise}", state, f"{report.earned:g} of {report.points:g}", style=style)
        if others := _not_on_path(each):
            table.add_row(f"  {others} more", "not on your path", style="dim")
    reports = [report for each in checked for report in each.reports]
    table.add_section()
    points = f"{sum(r.earned for r in reports):g} of {sum(r.points for r in reports):g}"
    table.add_row("together", f"{sum(r.passed for r in reports)} of {len(reports)} pass", points)
    console.print(table)
    console.print(_NOTE + (" `minigrad grade` runs them." if packages.has_grader() else ""), highlight=False)
    for each in checked:
        _print_remarks(each)
    for report in shown:
        colour = "green" if report.passed else None
        console.print(escape(as_text(report, console.width)), style=colour, highlight=False, soft_wrap=True)


def _not_on_path(checked: Checked) -> int:
    """Return how many exercises of a lesson were not looked at, because its folder's path leaves them out."""
    from minigrad.exercises import paths

    seen = {report.exercise for report in checked.reports}
    path = paths.chosen(checked.notebook.parent)
    return len({*_of_lesson(checked.notebook)} - seen - {*path.exercises}) if path else 0


def _as_data(checked: list[Checked], unreadable: list[str]) -> dict[str, Any]:
    """Return everything that was seen, as plain data."""
    reports = [(each, report) for each in checked for report in each.reports]
    return {
        "passed": not unreadable and all(report.passed for _, report in reports),
        "points": sum(report.earned for _, report in reports),
        "of": sum(report.points for _, report in reports),
        "isolated": False,
        "unreadable": unreadable,
        "remarks": [remark for each in checked for remark in each.remarks],
        "exercises": [
            {
                "id": report.exercise,
                "notebook": str(each.notebook),
                "passed": report.passed,
                "points": report.earned,
                "of": report.points,
                "checks": [asdict(result) for result in report.results],
                "printed": report.printed,
            }
            for each, report in reports
        ],
    }

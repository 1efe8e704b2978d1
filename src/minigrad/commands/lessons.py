"""Commands around the lessons: start, lab, hint, progress, submit, export."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from minigrad.commands.common import console, say_next, table_of
from minigrad.errors import MinigradError
from minigrad.exercises.telling import Told, speak_in, told

if TYPE_CHECKING:
    from minigrad.working_folder.handing_in import Server
    from minigrad.working_folder.submitting import Packed

_MARKS: dict[str, Told] = {
    "copied": "new",
    "updated": "updated",
    "unchanged": "as it was",
    "unreadable": "cannot be read",
}

Folder = Annotated[
    Path | None, typer.Argument(help="The folder you work in; by default the one here or around, else my-notebooks.")
]


def what_next() -> None:
    """Say what to do next, and the commands for it."""
    from minigrad.exercises import paths
    from minigrad.working_folder.next_step import next_step

    found = next_step()
    console.print(found.said, highlight=False, soft_wrap=True, markup=False)
    if (path := paths.chosen()) is not None:
        console.print(f"Your path is {path.name}. {path.which_lessons}", highlight=False, soft_wrap=True, markup=False)
    commands = (*found.commands, ("minigrad --help", "every command"))
    width = max(len(command) for command, _ in commands)
    for command, remark in commands:
        console.print(f"  {command:{width}}  {told(remark)}", highlight=False, soft_wrap=True, markup=False)


def start(
    folder: Folder = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="A folder of notebooks that you were given, instead of the course's.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="The language of the text, en or zh; by default the one you began with.")
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(help="The path to follow: weekend, term, poem, or all; by default the one you chose before."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> None:
    """Copy the lessons into a folder to work in; later, bring a new version of the course into it.

    Nothing that you wrote is lost: answers, cells of your own and outputs stay, and what a notebook was before
    lies in `.minigrad/before-update`. Save and close open notebooks first. Exits with 1 if a notebook cannot be read.

    With --language zh the text is Chinese; so is what checks, hints and progress say. With --path weekend, progress and
    checks ask for the exercises of a short way alone; the notebooks are the same, and the library does the rest.

    Example: `minigrad start my-notebooks`, `minigrad start --path weekend my-notebooks`
    """
    from minigrad.exercises import paths
    from minigrad.working_folder import dates, starting
    from minigrad.working_folder.finding import as_typed

    chosen = starting.chosen_folder(folder)
    way = paths.named(path) if path is not None else paths.chosen(chosen)
    outcomes = starting.start(chosen, source, language=language, dry_run=dry_run)
    speak_in(chosen)
    headings = ("lesson", "", *(["what happened"] if any(each.details for each in outcomes) else []))
    table = table_of(*headings)
    for each in outcomes:
        mark = _MARKS.get(each.state, each.state) + (
            ", not on your path" if way and each.lesson not in way.lessons else ""
        )
        cells = each.lesson, mark, escape("\n".join(map(told, each.details)))
        table.add_row(*cells[: len(headings)])
    console.print(table)
    if dry_run:
        console.print("Nothing was written: that was a dry run.")
    else:
        if any(each.state == "updated" for each in outcomes):
            console.print(f"What they were before lies in {escape(str(chosen / '.minigrad' / 'before-update'))}.")
        if path is not None:
            paths.choose(chosen, way)
        _say_path(chosen)
        _say_dates(dates.next_dates(chosen))
        console.print(f"Next: minigrad lab {as_typed(chosen)}", highlight=False, soft_wrap=True, markup=False)
    raise typer.Exit(1 if any(each.state == "unreadable" for each in outcomes) else 0)


def _say_path(folder: Path) -> None:
    """Say which path a folder follows, if it leaves anything out."""
    from minigrad.exercises import paths
    from minigrad.exercises.syllabus import in_hours

    path = paths.chosen(folder)
    if path is not None:
        said = f"Path {path.name}: {len(path.exercises)} exercises, about {in_hours(path.minutes)}. {path.title}."
        console.print(said, highlight=False, soft_wrap=True, markup=False)
        console.print(path.which_lessons, highlight=False, soft_wrap=True, markup=False)


def _say_dates(sentences: list[str]) -> None:
    for sentence in sentences:
        console.print(sentence, highlight=False, soft_wrap=True, markup=False)


def lab(
    folder: Folder = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The port to listen on.")] = None,
) -> None:
    """Open JupyterLab in the folder you work in, with this Python, and leave everything that it writes in there.

    It runs until you stop it with Ctrl-C. Type further commands, such as `minigrad check`, in a second terminal.
    """
    from minigrad.working_folder import lab as running
    from minigrad.working_folder import starting

    def say(sentence: str) -> None:
        console.print(sentence, highlight=False, markup=False)

    raise typer.Exit(running.run(starting.chosen_folder(folder), browser=not no_browser, port=port, say=say))


def hint(
    id: Annotated[
        str | None, typer.Argument(help="The exercise, such as autodiff.chain_rule. Without it, the next one is named.")
    ] = None,
    tier: Annotated[int | None, typer.Option(help="1, 2 or 3: that hint, instead of the next one.")] = None,
) -> None:
    """Show the next hint for an exercise: a nudge, the idea, the outline. Hints never cost points.

    Example: `minigrad hint autodiff.chain_rule`
    """
    from minigrad.tutor import hints, progressing
    from minigrad.working_folder import naming

    if id is None:
        say_next("hint")
        return
    id = naming.exercise_meant(id, progressing.working_folder())
    console.print(escape(repr(hints.hint(id, tier))), highlight=False)


def progress(
    folder: Annotated[
        Path | None, typer.Argument(help="The folder you work in; by default the one here or around you.")
    ] = None,
    as_page: Annotated[
        bool, typer.Option("--page", help="Write a page: the map of the course, and the library that you have written.")
    ] = False,
) -> None:
    """Show how far you are: exercises that pass, their points, checks, and hints.

    Example: `minigrad progress --page`
    """
    from minigrad.machine import packages
    from minigrad.tutor import progressing
    from minigrad.working_folder import dates

    if folder is not None and not folder.is_dir():
        raise MinigradError(f"progress: there is no folder {str(folder)!r}")
    found = progressing.progress(folder)
    speak_in(folder)
    room = 20 if console.width >= 104 else 0  # names come first
    heads = ("exercises", "points", "checks", "hints", "time")[: None if room else -1]
    table = table_of("lesson", *heads, "")
    for each in (*found.lessons, found.total):
        filled = round(room * each.share)
        bar = f"[blue]{'█' * filled}[/blue]{'░' * (room - filled)} {each.share:4.0%}".strip()
        table.add_row(each.lesson, *each.cells[: len(heads)], bar, end_section=each == found.lessons[-1])
    console.print(table)
    console.print(escape(found.note), highlight=False)
    for sentence in found.milestones:
        console.print(sentence, highlight=False, soft_wrap=True, markup=False)
    home = progressing.working_folder(folder)
    _say_dates(dates.next_dates(home) if home is not None else [])
    if packages.has_grader():
        console.print("`minigrad grade` runs the hidden tests on what you have written.", highlight=False)
    if as_page:
        console.print(f"As a page: {_written_page(folder).as_uri()}", highlight=False, soft_wrap=True, markup=False)


def _written_page(start: Path | None) -> Path:
    """Write the page of progress into the working folder, and return its place."""
    from minigrad.machine.files import write
    from minigrad.tutor import progress_page, progressing
    from minigrad.working_folder.next_step import next_step

    folder = progressing.working_folder(start)
    if folder is None:
        raise MinigradError("progress: here is no working folder; `minigrad start` makes one")
    step = next_step(start)
    place = folder / progressing.FOLDER / "progress.html"
    write(place, progress_page.page(step.said, step.commands, start).encode())
    return place


def submit(
    folder: Folder = None,
    assignment: Annotated[
        str | None,
        typer.Option(help="The assignment to hand in, such as module1; a wrong name lists all with their lessons."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The zip to write; by default ASSIGNMENT.zip in the folder.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Pack what there is, although something is missing.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Hand it in to the server of your course too, and wait for the mark.")
    ] = False,
) -> None:
    """Pack the notebooks of an assignment into one zip, to hand in where there is no assignment list.

    With --wait the notebooks go to a server that marks at once, if your instructor has named one: in MINIGRAD_SERVER
    and MINIGRAD_TOKEN, or in `.minigrad/server.json`. Ctrl-C takes nothing back; the same command waits again.

    Example: `minigrad submit my-notebooks --assignment module1`, `minigrad submit --wait --assignment module1`
    """
    from minigrad.exercises.syllabus import assignment_words
    from minigrad.working_folder import dates, handing_in, starting, submitting

    chosen = starting.chosen_folder(folder)
    speak_in(chosen)
    server = handing_in.server_to_ask(chosen) if wait else None
    packed = submitting.pack(chosen, submitting.assignment_for(chosen, assignment), out, force=force)
    console.print(f"{assignment_words(packed.assignment)}:", highlight=False, markup=False)
    table = table_of("in the zip", "bytes")
    for name, size in packed.files:
        table.add_row(escape(name), f"{size:,}")
    console.print(table)
    if packed.warnings:  # each is a sentence of its own, and so translated
        console.print("Look again:", style="yellow", highlight=False)
    for warning in packed.warnings:
        console.print(escape(warning), style="yellow", highlight=False, soft_wrap=True)
    now = dt.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
    console.print(f"{escape(str(packed.path))}, packed {now}", highlight=False, soft_wrap=True)
    console.print(f"sha256 {packed.sha256}", highlight=False, soft_wrap=True)
    if server is None:
        _say_dates(dates.dates_of(chosen, [packed.assignment]))
    else:
        _wait(server, packed, chosen)


def _wait(server: Server, packed: Packed, folder: Path) -> None:
    """Hand in, wait for the mark, and show it."""
    from minigrad.working_folder import dates, handing_in

    state = server.hand_in(packed.assignment, packed.path)
    dates.remember(folder, state)
    console.print("Handed in.", highlight=False)
    with console.status(told("waiting for the mark")):
        state = handing_in.wait(server, state)
    _say_dates(handing_in.sentences(state))
    if state["state"] in ("queued", "being graded", "waits"):
        again = f"minigrad submit --wait --assignment {packed.assignment}"
        console.print(f"Ask again later with `{again}`.", highlight=False, soft_wrap=True)
    for page in handing_in.fetched(server, state, folder):
        console.print(f"What was seen: {page.resolve().as_uri()}", highlight=False, soft_wrap=True, markup=False)


def export(
    target: Annotated[Path, typer.Argument(help="The folder to make: one that is not there yet, or empty.")],
    folder: Folder = None,
) -> None:
    """Write your answers as a package of your own, with the visible checks as its tests.

    Your notebooks stay as they are; save them first. In the new folder `pytest` runs the checks, and `pip install -e .`
    makes `import my_minigrad` work everywhere.

    Example: `minigrad export ../my-minigrad`
    """
    from minigrad.working_folder import exporting, starting

    made = exporting.export(starting.chosen_folder(folder), target)
    for each in made.left_out:
        console.print(escape(each), style="yellow", highlight=False, soft_wrap=True)
    count = "1 exercise" if len(made.exercises) == 1 else f"{len(made.exercises)} exercises"
    console.print(f"{escape(str(made.path))}: your answers to {count}.", highlight=False, soft_wrap=True)
    console.print("`pytest` in there runs their visible checks.", highlight=False)

"""The command that counts what students hand in for the board."""

from __future__ import annotations

import datetime as dt
import secrets
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import USAGE, CourseOption, IsolationOption, fail, honest, short
from autograder.commands.report import REPORTS
from autograder.commands.showing import number
from autograder.course.loading import find_course, load_course


@honest
def board(
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The page to write; if none is named, board.html in the folder `reports`."),
    ] = None,
    draw: Annotated[
        int | None,
        typer.Option(min=0, help="Draw the inputs from this number, as an earlier page names it; else a new one."),
    ] = None,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
) -> None:
    """Count and rank what students hand in for the board: a page of names that they chose.

    An entry is a graded notebook with a cell of the student's own that begins with `# board: NAME`, whose answer to
    the event's exercise has all of its points. Everything is counted by the grader; inputs are drawn anew each time.

    The course's board.py lists the events. Written is reports/board.html, which holds no student's id. The command
    says whose entry does not count, and why.

    Examples:
      autograder board

      autograder board --draw 271828 --out ~/board.html
    """
    from autograder.board.page import board_page
    from autograder.board.ranking import events_of, ranked
    from autograder.common.files import write
    from autograder.judging.judge import Judge
    from autograder.telling.report import clean

    loaded = load_course(course or find_course())
    if out is not None and not out.parent.is_dir():
        fail(f"{out}: there is no folder {out.parent}; make it, or name another file", USAGE)
    events, drawn = events_of(loaded), secrets.randbits(48) if draw is None else draw
    console = Console(soft_wrap=True, highlight=False)
    with Judge(loaded, isolation=isolation) as judge, Console(stderr=True).status("counting") as status:
        told = [
            ranked(loaded, each, drawn, judge.ask, lambda name: status.update(f"counting {escape(clean(name))}"))
            for each in events
        ]
    made = f"Made {dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC."
    path = out or loaded.directory / REPORTS / "board.html"
    write(path, board_page(loaded.name, told, drawn, made))
    for each in told:
        best = f", {clean(each.lines[0].name)} first" if each.lines else ""
        console.print(f"{escape(each.event.title)}: {number(len(each.lines), 'entry')}{escape(best)}")
        for left in each.left:
            said = f"{clean(left.student)} ({clean(left.name)}): {clean(left.why)}"
            console.print(f"  [yellow]not counted[/yellow]  {escape(said)}")
    console.print(escape(short(path)))

"""The command that shows the class at a glance, and hands its marks on."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import (
    USAGE,
    CourseOption,
    GraderOption,
    SectionOption,
    fail,
    honest,
    short,
    students_of,
)
from autograder.commands.showing import number, remark
from autograder.course import Course, CourseError
from autograder.course.loading import find_course, load_course

REPORTS = "reports"
"""The folder, in the course's directory, of what names students and is not for everyone."""


class Kind(StrEnum):
    """Programs that read marks."""

    NBGRADER = "nbgrader"
    CANVAS = "canvas"
    MOODLE = "moodle"


@honest
def report(
    assignments: Annotated[
        list[str] | None, typer.Argument(metavar="[ASSIGNMENT]...", help="Names; all assignments if none is given.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file to write; if none is named, one in the course's folder `reports`."),
    ] = None,
    csv: Annotated[
        Kind | None, typer.Option("--csv", help="Write the gradebook's marks for this program, instead of the page.")
    ] = None,
    with_: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="PATH",
            help="Compare the answers with those below this folder as well, of an earlier term for example.",
        ),
    ] = None,
    jplag: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write the answers to a new folder, as JPlag reads them, instead of the page."
        ),
    ] = None,
    section: SectionOption = None,
    grader: GraderOption = None,
    course: CourseOption = None,
) -> None:
    """Show the class at a glance: one page, to be opened in a browser or printed.

    Marks, how hard each exercise is and how well it tells students apart, misconceptions with examples, who may be
    stuck, what the sandbox contained, and answers that are unusually alike, or like those of earlier terms. The page
    needs no network and holds students' names and code: keep it as you keep the gradebook.

    With --csv, the gradebook's marks as `nbgrader export` gives them, or as Canvas and Moodle import them. Below it the
    command names who was late, and whose answers a person has still to mark.

    Written are reports/class.html and reports/marks-canvas.csv, for example; git leaves that folder out.

    Examples:
      autograder report

      autograder report module1 --out ~/module1.html

      autograder report --with ~/course-2026/submitted

      autograder report --csv canvas

      autograder report module1 --grader tim
    """
    loaded = load_course(course or find_course(), tree=False)
    if out is not None and not out.parent.is_dir():
        fail(f"{out}: there is no folder {out.parent}; make it, or name another file", USAGE)
    if jplag is not None and (csv or out):
        fail("--jplag writes a folder of answers; leave out --csv and --out", USAGE)
    if csv and with_:
        fail("--with compares answers, and --csv writes marks alone; leave out one of them", USAGE)
    students = students_of(loaded, section or [], grader)
    if jplag is not None:
        _answers(loaded, assignments or [], students, with_ or [], jplag)
    elif csv is None:
        page = out or loaded.directory / REPORTS / "class.html"
        _page(loaded, assignments or [], students, with_ or [], page)
    else:
        _table(loaded, assignments or [], students, csv, out or loaded.directory / REPORTS / f"marks-{csv.value}.csv")


def _answers(
    course: Course, assignments: list[str], students: frozenset[str] | None, folders: list[Path], target: Path
) -> None:
    from autograder.telling.classreport.gather import gather
    from autograder.telling.jplag import BASE, NEW, OLD, export

    data = gather(course, assignments, students, folders)
    export(data, target)
    shown = escape(short(target))
    old = f" -old {shown}/{OLD}" if data.outside else ""
    count = number(len({student for answers in data.answers.values() for student in answers}), "student")
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{shown}: {count}")
    console.print(f"compare with: java -jar jplag.jar -l python3 {shown}/{NEW}{old} -bc {shown}/{BASE}")


def _page(
    course: Course, assignments: list[str], students: frozenset[str] | None, folders: list[Path], out: Path
) -> None:
    from autograder.common.files import write
    from autograder.gradebook.exporting import left_to_mark, marks_of, notable
    from autograder.reading.student_files import one_line
    from autograder.telling.classreport.gather import gather
    from autograder.telling.classreport.page import class_page

    if out.suffix.lower() not in (".html", ".htm"):
        fail(f"{out}: is no name of a page; name a file that ends in .html, or add --csv", USAGE)
    console = Console(soft_wrap=True, highlight=False)
    with Console(stderr=True).status("reading the ledger and comparing answers"):
        data, lost = gather(course, assignments, students, folders), ""
        try:
            marks = [each for each in marks_of(course, assignments) if students is None or each.student in students]
            data = replace(data, notable=notable(marks), left=left_to_mark(course, marks))
        except CourseError as error:
            lost = f"the page tells nothing of lateness and of answers to be marked: {error}"
        write(out, class_page(data, f"{dt.datetime.now():%Y-%m-%d %H:%M}"))
    count = len({entry.student for entry in data.entries})
    console.print(f"{escape(short(out))}: {number(count, 'student')}, {number(len(data.entries), 'notebook')}")
    if data.outside is not None:
        files = {place for exercise in data.answers for place in data.outside.answers.get(exercise, {})}
        console.print(
            f"compared with {number(len(files), 'file')} from elsewhere; the page's last section has what is alike"
        )
    if data.gone:
        names = ", ".join(escape(one_line(name)) for name in data.gone[:5]) + (" ..." if len(data.gone) > 5 else "")
        console.print(
            f"[yellow]note[/yellow]  left out, since nothing of them is in submitted/ any more: {names}; if a student "
            "was renamed, grade again"
        )
    if lost:
        fail(lost, USAGE)


def _table(course: Course, assignments: list[str], students: frozenset[str] | None, kind: Kind, out: Path) -> None:
    from autograder.common.files import write
    from autograder.gradebook.exporting import as_csv, read_marks, remarks
    from autograder.telling.report import clean

    marks = [each for each in read_marks(course, assignments) if students is None or each.student in students]
    text, changed = as_csv(marks, kind.value)
    write(out, text)
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{escape(short(out))}: {number(len({mark.student for mark in marks}), 'student')}, for {kind.value}")
    for field in changed:
        said = f"{clean(field)!r} would be a formula in a spreadsheet; it was written with an apostrophe before it"
        console.print(f"[yellow]note[/yellow]  {escape(said)}")
    remark(remarks(marks))

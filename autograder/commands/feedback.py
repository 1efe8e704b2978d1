"""The command that makes the feedback pages of a class."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console

from autograder.commands.common import REJECTED, CourseOption, JobsOption, StudentsOption, honest, stopped
from autograder.commands.showing import number, print_problems, steps
from autograder.course import CourseError
from autograder.course.loading import find_course, load_course


@honest
def feedback(
    assignment: Annotated[str, typer.Argument(help="The assignment, such as module1.", show_default=False)],
    student: StudentsOption = None,
    jobs: JobsOption = 0,
    force: Annotated[bool, typer.Option("--force", help="Make pages again that are up to date.")] = False,
    course: CourseOption = None,
) -> None:
    """Make the feedback pages of an assignment, in parallel: those that `nbgrader generate_feedback` makes.

    A page is left as it is while nothing that it follows from has changed: the graded notebook, marks and comments,
    dates, or the day from which answers are shown. So the same command goes on after Ctrl-C, and after a regrading it
    makes the pages of those whose marks have changed. `nbgrader release_feedback` hands the pages out.

    Examples:
      autograder feedback module1

      autograder feedback module1 --student ada --force
    """
    from autograder.classes.pool import cores
    from autograder.gradebook.class_feedback import ClassFeedback

    loaded = load_course(course or find_course(), tree=False)
    loaded.assignment(assignment)
    begun = time.monotonic()
    pages = ClassFeedback(loaded.directory, assignment, force=force)
    everyone = pages.students()
    unknown = sorted(set(student or ()) - set(everyone))
    if unknown:
        raise CourseError(f"nothing of {unknown[0]} is graded in {assignment}; the folder autograded/ lists who is")
    if not everyone:
        raise CourseError(f"nothing of {assignment} is graded; run `autograder autograde {assignment}` first")
    wanted = [each for each in everyone if not student or each in student]
    done = []
    try:
        with steps("pages of students", len(wanted), forks=True) as shown:
            for made in pages.make(wanted, min(jobs or cores(), len(wanted))):
                done.append(made)
                shown.advance()
    except KeyboardInterrupt:
        stopped(f"{len(done)} of {number(len(wanted), 'student')} have their pages. The same command goes on.")
    console = Console(soft_wrap=True, highlight=False)
    kept = sum(each.kept for each in done)
    said = f", {kept} of them up to date already" if kept else ""
    count = number(sum(each.pages for each in done), "page")
    students = number(sum(not each.problem for each in done), "student")
    console.print(f"{count} for {students}{said}, in {time.monotonic() - begun:.1f} s")
    problems = sorted(f"{each.student}: {each.problem}" for each in done if each.problem)
    print_problems(console, "no pages", problems)
    if problems:
        raise typer.Exit(REJECTED)

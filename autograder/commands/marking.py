"""The command for whoever marks answers by hand."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from autograder.commands.common import CourseOption, GraderOption, SectionOption, honest, short, students_of
from autograder.commands.showing import Cell, console_of, number
from autograder.course.loading import find_course, load_course


@honest
def marking(
    assignment: Annotated[str, typer.Argument(help="The assignment, such as module1.", show_default=False)],
    section: SectionOption = None,
    grader: GraderOption = None,
    course: CourseOption = None,
) -> None:
    """Say what is left to mark by hand, by grader, and put alike answers next to each other in Formgrader.

    Each page of Formgrader then leads to the answers before and after it in that order, section by section. Of a group
    one answer is listed, whose mark and comment all members get. Give the command again after grading.

    Examples:
      autograder marking module1

      autograder marking module1 --grader tim
    """
    from autograder.gradebook.exporting import left_to_mark, read_marks
    from autograder.gradebook.marking import order_file, write_order

    loaded = load_course(course or find_course(), tree=False)
    loaded.assignment(assignment)
    students = students_of(loaded, section or [], grader)
    marks = [each for each in read_marks(loaded, [assignment]) if students is None or each.student in students]
    order = write_order(loaded, assignment)
    console = console_of()
    table = Table("grader", "section", "answers left")
    for graders, where, _, answers in (left := left_to_mark(loaded, marks)):
        table.add_row(Cell(graders), Cell(where), Cell(answers))
    console.print(table if left else f"{assignment}: no answer waits for a person")
    count = sum(len(each) for cells in order.values() for sections in cells.values() for each in sections.values())
    said = f"{number(count, 'answer')} in order of likeness, for Formgrader's pages"
    console.print(f"{escape(short(order_file(loaded.directory, assignment)))}: {said}", soft_wrap=True)

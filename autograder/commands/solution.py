"""The command that prints the answer to an exercise or a question."""

from __future__ import annotations

from typing import Annotated

import typer

from autograder.commands.common import AnswersOption, CourseOption, honest
from autograder.commands.showing import console_of
from autograder.course.loading import find_course, load_course


@honest
def solution(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="The exercise's id, or the name of a question.", show_default=False)
    ],
    lesson: Annotated[
        str | None, typer.Option(help="The question's lesson, where two lessons have a question of that name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    course: CourseOption = None,
    answers: AnswersOption = None,
) -> None:
    """Print the answer to an exercise with its commentary, or the model answer to a question.

    The commentary names the mistakes that the grader knows, and what other right answers do.

    Examples:
      autograder solution autodiff.chain_rule

      autograder solution what-twenty-sigmoids-leave --json
    """
    from autograder.telling import solutions

    loaded = load_course(course or find_course(told=False), tree=False)
    found = solutions.find_solution(loaded, name, answers or loaded.directory, lesson)
    if as_json:
        typer.echo(solutions.as_json(found))
    else:
        console_of().print(solutions.as_rich(found))

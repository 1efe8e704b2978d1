"""The commands `grade` and `solution`, for which the grader is installed beside the library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from minigrad.commands.common import console
from minigrad.errors import MinigradError

__all__ = ["grade", "solution"]


def grade(
    notebooks: Annotated[
        list[Path] | None,
        typer.Argument(help="Notebooks; by default every lesson in your folder that is begun.", metavar="NOTEBOOK..."),
    ] = None,
) -> None:
    """Run the hidden tests on your notebooks, and say what has changed since the last time.

    It needs the grader, which `pip install -e '.[course]'` installs. The code runs in the sandbox where the system
    has one, else in a process, which the report then says.

    Example: `minigrad grade my-notebooks/02_chain_rule.ipynb`
    """
    from minigrad.exercises import folder_here
    from minigrad.exercises.lesson_files import lessons_in
    from minigrad.tutor.progressing import FOLDER, working_folder
    from minigrad.working_folder import grader
    from minigrad.working_folder.finding import located

    grader.require("grade")
    named = [located(path, "grade") for path in notebooks or ()]
    folder = working_folder(named[0].resolve().parent if named else None)
    chosen = named or [path for path in lessons_in(folder or folder_here()) if _is_begun(path)]
    if not chosen:
        raise MinigradError("grade: nothing is written yet in the lessons of this folder; name notebooks")
    words = ["grade", "--own", *map(str, chosen)]
    if folder is None:
        raise typer.Exit(grader.run(*words))
    page = folder / FOLDER / "report.html"
    before = _written(page)
    code = grader.run(*words, "--since", str(folder / FOLDER / "reports"), "--html", str(page))
    if _written(page) != before:
        console.print(f"As a page: {page.as_uri()}", highlight=False, soft_wrap=True, markup=False)
    raise typer.Exit(code)


def _written(file: Path) -> int:
    return file.stat().st_mtime_ns if file.is_file() else 0


def solution(
    id: Annotated[str, typer.Argument(help="The exercise, such as autodiff.chain_rule, or the name of a question.")],
    now: Annotated[bool, typer.Option("--now", help="Show it without an attempt.")] = False,
) -> None:
    """Show the solution of an exercise after an attempt, with its commentary, or a question's model answer.

    An exercise is tried if it was checked, and its saved cell is not as it was given out; a question, if its saved cell
    has a text of yours. Your progress remembers whether the solution came after an attempt or on request.

    Example: `minigrad solution autodiff.chain_rule`
    """
    from minigrad.tutor import progressing
    from minigrad.working_folder import attempts, grader

    grader.require("solution")
    folder = progressing.working_folder()
    missing = attempts.no_attempt(id, folder)
    if missing and not now:
        raise MinigradError(f"solution: {missing}; `minigrad solution {id} --now` shows the solution anyway")
    code = grader.run("solution", id)
    if code == 0:
        progressing.saw_solution(id, "on request" if missing else "after an attempt")
    raise typer.Exit(code)


def _is_begun(notebook: Path) -> bool:
    from minigrad import exercises
    from minigrad.working_folder.checking import is_as_given

    try:
        cells = exercises.answer_cells(notebook)
    except MinigradError:  # the grader says so in its report, beside those of the other notebooks
        return True
    answers = ((exercises.exercise_of(source), source) for source in cells)
    return any(id in exercises.catalogue() and not is_as_given(id, source) for id, source in answers)

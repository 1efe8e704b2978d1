"""The commands `grade` and `solution`, for which the grader is installed beside the library."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from minigrad.commands.common import console, say_next
from minigrad.errors import MinigradError


def grade(
    notebooks: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Notebooks, or folders: of a folder, and by default of yours, every lesson that is begun.",
            metavar="NOTEBOOK...",
        ),
    ] = None,
) -> None:
    """Run the hidden tests on your notebooks, and say what has changed since the last time.

    It needs the grader, which `pip install -e '.[course]'` installs. The code runs in the sandbox where the system
    has one, else in a process, which the report then says.

    Example: `minigrad grade my-notebooks/02_chain_rule.ipynb`
    """
    from minigrad.exercises import folder_here, paths
    from minigrad.tutor.progressing import FOLDER, working_folder
    from minigrad.working_folder import grader
    from minigrad.working_folder.finding import as_typed, located

    grader.require("grade")
    places = [located(path, "grade") for path in notebooks or ()] or [working_folder() or folder_here()]
    chosen = [each for path in places for each in (_begun_in(path) if path.is_dir() else [_notebook(path)])]
    folder = working_folder(chosen[0].resolve().parent)
    if folder is not None and not os.access(folder / FOLDER, os.W_OK):
        raise MinigradError(f"grade: {folder / FOLDER} cannot be written to, where your reports are kept")
    console.print(f"Graded: {', '.join(map(as_typed, chosen))}", highlight=False, soft_wrap=True, markup=False)
    path = paths.chosen(chosen[0].resolve().parent)
    asked = [] if path is None else ["--asked", ",".join(path.exercises)]
    words = ["grade", "--own", *asked, *map(str, chosen)]
    if folder is None:
        code = grader.run(*words)
    else:
        page = folder / FOLDER / _page_of(places)
        before = _written(page)
        code = grader.run(*words, "--since", str(folder / FOLDER / "reports"), "--html", str(page))
        if _written(page) != before:
            _note_attempts(chosen)
            console.print(f"As a page: {page.as_uri()}", highlight=False, soft_wrap=True, markup=False)
    for fault in filter(None, (_fault(path) for path in chosen if path.suffix == ".ipynb")):
        console.print(fault, highlight=False, soft_wrap=True, markup=False)
    raise typer.Exit(code)


def _fault(notebook: Path) -> str:
    """Return that a notebook is damaged, with what to do; the empty string if it is not."""
    from minigrad import exercises

    try:
        exercises.answer_cells(notebook)
    except MinigradError as error:
        return str(error)
    return ""


def _note_attempts(notebooks: list[Path]) -> None:
    """Note that answers were graded."""
    from minigrad import exercises
    from minigrad.tutor import progressing
    from minigrad.working_folder import checking

    for path in (each for each in notebooks if each.suffix == ".ipynb" and not _fault(each)):
        for id in dict.fromkeys(exercises.placed_in(path)):
            if not checking.not_begun(id, path):
                progressing.was_graded(id, path.parent)


def _page_of(places: list[Path]) -> str:
    """Return the name of the report's page: a notebook that was named alone has a page of its own."""
    return f"report-{places[0].stem}.html" if len(places) == 1 and not places[0].is_dir() else "report.html"


def _written(file: Path) -> int:
    return file.stat().st_mtime_ns if file.is_file() else 0


def solution(
    id: Annotated[
        str | None,
        typer.Argument(
            help="The exercise, such as autodiff.chain_rule, or a question's name. Without it, the next is named."
        ),
    ] = None,
    now: Annotated[bool, typer.Option("--now", help="Show it without an attempt.")] = False,
) -> None:
    """Show the solution of an exercise after an attempt, with its commentary, or a question's model answer.

    An exercise is tried if it was checked or graded, and its saved cell is not as it was given out; a question, if its
    saved cell has a text of yours. Your progress remembers whether the solution came after an attempt or on request.

    Example: `minigrad solution autodiff.chain_rule`
    """
    from minigrad.tutor import progressing
    from minigrad.working_folder import attempts, grader, naming

    grader.require("solution")
    if id is None:
        say_next("solution")
        return
    folder = progressing.working_folder()
    id = id if folder is None else naming.meant(id, folder)  # outside of a folder the grader alone knows the questions
    missing = attempts.no_attempt(id, folder)
    if missing and not now:
        raise MinigradError(f"solution: {missing}; `minigrad solution {id} --now` shows the solution anyway")
    code = grader.run("solution", id)
    if code == 0:
        progressing.saw_solution(id, "on request" if missing else "after an attempt")
    raise typer.Exit(code)


def _begun_in(folder: Path) -> list[Path]:
    """Return the lessons in a folder that are begun."""
    from minigrad.exercises.lesson_files import lessons_in

    lessons = lessons_in(folder)
    begun = [path for path in lessons if _is_begun(path)]
    if not begun:
        lacking = "nothing is written yet in the lessons of" if lessons else "there is no lesson in"
        advice = "write an answer first, and save the notebook" if lessons else "name notebooks, or go where you work"
        raise MinigradError(f"grade: {lacking} {folder.resolve()}; {advice}")
    return begun


def _notebook(path: Path) -> Path:
    """Return a file that was named, if the grader can read its kind; that takes the grader long to say."""
    if path.suffix not in (".ipynb", ".py"):
        raise MinigradError(f"grade: {path} is not a notebook; name one, such as 02_chain_rule.ipynb, or a folder")
    return path


def _is_begun(notebook: Path) -> bool:
    from minigrad import exercises
    from minigrad.working_folder.checking import is_as_given

    if _fault(notebook):  # the grader says so in its report, beside those of the other notebooks
        return True
    answers = ((exercises.exercise_of(source), source) for source in exercises.answer_cells(notebook))
    return any(id in exercises.catalogue() and not is_as_given(id, source) for id, source in answers)

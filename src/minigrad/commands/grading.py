"""The command `grade`: the hidden tests on one's own notebooks, where the grader is installed beside the library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from minigrad.commands.common import console
from minigrad.errors import MinigradError

__all__ = ["grade"]


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

    grader.require("grade")
    folder = working_folder(notebooks[0].resolve().parent if notebooks else None)
    chosen = notebooks or [path for path in lessons_in(folder or folder_here()) if _is_begun(path)]
    if not chosen:
        raise MinigradError("grade: nothing is written yet in the lessons of this folder; name notebooks")
    words = ["grade", "--own", *map(str, chosen)]
    if folder is not None:
        page = folder / FOLDER / "report.html"
        words += ["--since", str(folder / FOLDER / "reports"), "--html", str(page)]
    code = grader.run(*words)
    if folder is not None and code == 0:
        console.print(f"As a page: {page.as_uri()}", highlight=False, soft_wrap=True, markup=False)
    raise typer.Exit(code)


def _is_begun(notebook: Path) -> bool:
    from minigrad import exercises
    from minigrad.working_folder.checking import is_as_given

    answers = ((exercises.exercise_of(source), source) for source in exercises.answer_cells(notebook))
    return any(id in exercises.catalogue() and not is_as_given(id, source) for id, source in answers)

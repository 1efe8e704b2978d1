"""The next thing to do in the course, and the commands for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from minigrad import exercises
from minigrad.machine import packages
from minigrad.tutor import progressing
from minigrad.tutor.progressing import Done, read, working_folder

__all__ = ["NextStep", "next_step"]


@dataclass(frozen=True)
class NextStep:
    """The next thing to do.

    Attributes:
        said: A sentence.
        commands: Commands, each with a remark.
    """

    said: str
    commands: tuple[tuple[str, str], ...]


def next_step(start: Path | None = None) -> NextStep:
    """Return the next step from what is recorded in the working folder: the first exercise that does not pass.

    Args:
        start: The folder to look for the working folder from. By default the current one.
    """
    folder = working_folder(start)
    if folder is None:
        return NextStep(
            "Next: copy the lessons into a folder of your own.", (("minigrad start", "makes my-notebooks"),)
        )
    known = read(start)
    asked, to_do = progressing.asked(), progressing.to_do(known)
    where = _shown(folder)
    if not to_do:
        said = f"All {len(asked)} exercises pass their checks: the library is yours."
        return NextStep(said, (*_grading(), (f"minigrad train --answers {where}", "train a network on it")))
    first = to_do[0]
    done = known.get(first.id, Done())
    tried = f", checked {_times(done.checks)} and not right yet" if done.checks else ""
    said = f"Next: {first.id} in lesson {first.lesson}{tried} ({len(asked) - len(to_do)} of {len(asked)} pass)."
    return NextStep(said, tuple(_commands(first, folder, done)))


def _commands(exercise: exercises.Exercise, folder: Path, done: Done) -> Iterator[tuple[str, str]]:
    where = _shown(folder)
    if not (folder / f"{exercise.lesson}.ipynb").is_file():
        yield f"minigrad start {where}", "bring the lesson into your folder"
        return
    yield f"minigrad lab {where}", "open the lessons"
    yield f"minigrad check {Path(where) / exercise.lesson}.ipynb", "check the saved notebook"
    if done.hints < 3:
        yield f"minigrad hint {exercise.id}", "the next of three hints"
    if done.checks and packages.has_grader():
        yield f"minigrad solution {exercise.id}", "the answer, with its commentary"


def _grading() -> Iterator[tuple[str, str]]:
    if packages.has_grader():
        yield "minigrad grade", "run the hidden tests"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _shown(folder: Path) -> str:
    """Return a folder as it is typed: from the current one where it lies below it."""
    here = Path.cwd().resolve()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)

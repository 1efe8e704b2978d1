"""The next thing to do in the course, and the commands for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from minigrad import exercises
from minigrad.errors import MinigradError
from minigrad.exercises import paths
from minigrad.exercises.lesson_files import DEFAULT, FOLDER
from minigrad.machine import packages
from minigrad.tutor import progressing
from minigrad.tutor.progressing import Done, read, working_folder
from minigrad.working_folder.finding import as_typed, lessons_around


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
        return _beginning()
    known = read(start)
    asked, to_do = progressing.asked(start), progressing.to_do(known, start)
    path = paths.chosen(start)
    where = as_typed(folder)
    if not to_do:
        said = f"All {len(asked)} exercises pass their checks: the library is yours."
        if path is not None:
            said = f"All {len(asked)} exercises of your path pass their checks."
            further = (f"minigrad start --path {paths.ALL} {where}", "go on with the whole course")
            return NextStep(said, (further, *_grading()))
        return NextStep(said, (*_grading(), (f"minigrad train --answers {where}", "train a network on it")))
    first = to_do[0]
    done = known.get(first.id, Done())
    tried = f", checked {'once' if done.checks == 1 else f'{done.checks} times'} and not right yet"
    whole = f"{len(asked)} of the path {path.name}" if path else str(len(asked))
    passing, header = len(asked) - len(to_do), first.header
    said = (
        f"Next: {first.id} in lesson {first.lesson}{tried if done.checks else ''} "
        f"({f'{header}; {passing} of {whole} pass' if header else f'{passing} of {whole} pass'})."
    )
    return NextStep(said, tuple(_commands(first, folder, done)))


def _beginning() -> NextStep:
    """Return the step for a reader outside of a working folder: to go to the one beside, or to make one."""
    beside = (path.parent for path in lessons_around() if (path.parent / FOLDER).is_dir())
    if (folder := next(beside, None)) is not None:
        return NextStep(
            f"Your lessons are in {folder}.", ((f"cd {as_typed(folder)}", "then `minigrad` says what is next"),)
        )
    return NextStep(
        "Next: copy the lessons into a folder of your own; if you have one, go there first.",
        (("minigrad start", f"makes {DEFAULT}"),),
    )


def _commands(exercise: exercises.Exercise, folder: Path, done: Done) -> Iterator[tuple[str, str]]:
    where = as_typed(folder)
    notebook = folder / f"{exercise.lesson}.ipynb"
    if not notebook.is_file():
        yield f"minigrad start {where}", "bring the lesson into your folder"
        return
    try:
        exercises.answer_cells(notebook)
    except MinigradError:
        yield f"minigrad start {where}", f"gives a fresh copy, once you have moved {notebook.name} away: it is damaged"
        return
    yield f"minigrad lab {where}", "open the lessons"
    yield f"minigrad check {as_typed(notebook)}", "check the saved notebook"
    if done.hints < 3:
        yield f"minigrad hint {exercise.id}", "the next of three hints"
    if done.checks and packages.has_grader():
        yield f"minigrad solution {exercise.id}", "the answer, with its commentary"
    if any(each.done == each.exercises for each in progressing.progress(folder).lessons):
        yield from _grading()


def _grading() -> Iterator[tuple[str, str]]:
    if packages.has_grader():
        yield "minigrad grade", "run the hidden tests"

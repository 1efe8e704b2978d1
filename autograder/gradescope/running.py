"""The program in Gradescope's container: judges one submission and writes `results.json`.

The steps are those of a class: the submission is taken in as if it had been collected, and the same judge grades it.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.classes.parcel import COURSE, HIDDEN, NOBODY, unpack_course
from autograder.classes.work import Task, Work
from autograder.classes.worker import Fault, attempt
from autograder.common.errors import GraderError
from autograder.common.files import write
from autograder.course import Course, Serving
from autograder.course.loading import load_course
from autograder.gradebook import tries
from autograder.gradebook.dates import Dates, Rows
from autograder.gradescope import PARCEL
from autograder.judging.examples import released
from autograder.judging.judge import Judge
from autograder.library.speaking import told
from autograder.reading.snapshot import snapshot
from autograder.results import Submission
from autograder.sandbox import SandboxError, choose
from autograder.telling.report import as_text, clean
from autograder.telling.tongue import speaking_of


class NotGraded(GraderError):
    """The grader could not do its work; nothing is said of the submission, and no mark is given."""


def grade(root: Path, assignment: str, isolation: str = "auto") -> None:
    """Judge the submission and write its results, whole or not at all.

    Args:
        root: Gradescope's folder.
        assignment: The assignment's name.
        isolation: The sandbox's kind; ``"auto"`` takes the best that the container permits.

    Raises:
        GraderError: If the grader could not do its work.
        SandboxError: If there is no sandbox.
    """
    choose(isolation)  # raises where there is none: a student's code is not run without walls
    with tempfile.TemporaryDirectory() as folder:
        unpack_course((root / "source" / PARCEL).read_bytes(), Path(folder))
        course = load_course(Path(folder, COURSE), tree=False)
        with Judge(course, hidden=Path(folder, HIDDEN), isolation=isolation) as judge:
            submissions = _judged(judge, root / "submission", assignment)
        with speaking_of(submissions, course):
            results = _results(replace(course, serving=course.serving or Serving()), assignment, submissions)
    write(root / "results" / "results.json", json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def _judged(judge: Judge, handed_in: Path, assignment: str) -> list[Submission]:
    """The results of a submission, notebook by notebook."""
    work = Work(NOBODY, assignment)
    submitted = work.folder(judge.course.directory)
    submitted.parent.mkdir(parents=True)
    snapshot(handed_in, submitted)
    found = []
    for lesson in ("", *judge.course.assignments[assignment].lessons):
        done = attempt(judge, Task(work, lesson), keep=False, write=False)
        if isinstance(done, Fault):
            raise NotGraded(f"a hidden test is at fault: {done}")
        ungraded = done.entry.submission.ungraded if done.entry is not None else ()
        if done.problem or ungraded:
            raise NotGraded(done.problem or "; ".join(ungraded))
        if done.entry is not None:
            found.append(done.entry.submission)
    return found


def _results(course: Course, assignment: str, submissions: list[Submission]) -> dict[str, Any]:
    """The results in Gradescope's form, as far as they are shown on this day.

    Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format
    """
    today, part = dt.date.today(), tries.shown(Dates(course, Rows), assignment)  # no gradebook is there
    shown = [tries.as_shown(released(each, course, today), part) for each in submissions]
    notes = [f"{each.lesson}: {told(clean(note))}" for each in shown for note in (each.unreadable, *each.notes) if note]
    return {
        "output": "\n".join(notes),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": graded.exercise,
                "score": graded.earned,
                "max_score": graded.points,
                "output": as_text(graded),
                "output_format": "text",
                "visibility": "visible",
            }
            for each in shown
            for graded in each.exercises
        ],
    }


if __name__ == "__main__":
    try:
        grade(Path(sys.argv[1]), sys.argv[2])
    except (GraderError, SandboxError, OSError) as error:
        sys.exit(f"not graded: {error}")

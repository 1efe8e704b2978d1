"""A grader in a process of its own, asked for one student after the other: a JSON line each way.

`python -m benchmarks.classroom.worker GRADER FOLDER ASSIGNMENT`. Each grader is used as its own documentation says:
nbgrader and otter by their Python interfaces, which start quicker than their commands.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["GRADERS", "main", "nbgrader_of"]

Grade = Callable[[str], float]
"""Grades a student's submission and returns its points."""


def nbgrader_of(folder: Path) -> Any:
    """nbgrader's Python interface, with the configuration of a course."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    import autograder  # noqa: F401 - importing nbformat is a second quicker after it, for every grader here

    os.chdir(folder)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    config.Application.log_level = 40
    return NbGraderAPI(config=config)


def by_nbgrader(folder: Path, assignment: str) -> Grade:
    """`nbgrader autograde`, with whatever the folder's nbgrader_config.py says."""
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    import autograder  # noqa: F401 - importing nbformat is a second quicker after it, for every grader here

    os.chdir(folder)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    config.Application.log_level = 40
    api = NbGraderAPI(config=config)

    def grade(student: str) -> float:
        done = api.autograde(assignment, student, force=True)
        if not done["success"]:
            raise RuntimeError(f"nbgrader failed: {done['log'][-2000:]}")
        with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
            return float(gradebook.find_submission(assignment, student).score)

    return grade


def by_us(folder: Path, assignment: str) -> Grade:
    """Our judge, whose sandboxes wait for the next submission; nothing is kept, nothing recorded."""
    from autograder.course.loading import load_course
    from autograder.judging.grading import grade_file
    from autograder.judging.judge import Judge

    course = load_course(folder, tree=False)
    judge = Judge(course)
    lessons = course.assignments[assignment].lessons

    def grade(student: str) -> float:
        work = folder / "submitted" / student / assignment
        return sum(grade_file(judge, work / f"{lesson}.ipynb", lesson).earned for lesson in lessons)

    return grade


def by_otter(folder: Path, assignment: str) -> Grade:
    """`otter.api.grade_submission`, a lesson after the other."""
    from otter.api import grade_submission

    lessons = sorted(folder.glob("*.zip"))

    def grade(student: str) -> float:
        work = folder / "submitted" / student / assignment
        done = [grade_submission(str(work / f"{each.stem}.ipynb"), str(each), quiet=True) for each in lessons]
        return sum(float(each.total) for each in done)

    return grade


GRADERS = {"nbgrader": by_nbgrader, "ours": by_us, "otter": by_otter}
"""How a student is graded, by the grader's name."""


def main(grader: str, folder: str, assignment: str) -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a grader prints is no answer
    grade = GRADERS[grader](Path(folder), assignment)
    for line in sys.stdin:
        start = time.perf_counter()
        try:
            answer = {"points": grade(json.loads(line)), "seconds": time.perf_counter() - start}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[-2000:]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What a build changes in assignments that students have already: nbgrader can neither add nor drop graded cells.

Students who have the old notebook get no points for what was added. And once a submission was graded,
``nbgrader generate_assignment --force`` deletes the released notebooks before it refuses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.course import Course


def changes_after_release(course: Course) -> Iterator[str]:
    """Yield one sentence for each lesson whose graded cells are not those of its released notebook."""
    for lesson in course.lessons.values():
        place = Path(lesson.assignment, f"{lesson.name}.ipynb")
        released, now = (_graded(course, course.directory / folder / place) for folder in ("release", "source"))
        if not released or released == now:
            continue
        handed_in = len(list((course.directory / "submitted").glob(f"*/{lesson.assignment}")))
        said = [f"{lesson.name}: differs from release/{place.as_posix()}"]
        if added := now - released:
            said.append(f"new is {', '.join(sorted(added))}, for which {_who(handed_in)} get no points")
        if gone := released - now:
            said.append(f"missing is {', '.join(sorted(gone))}, which nbgrader cannot drop: give it 0 points instead")
        said.append(
            f"change that before `nbgrader generate_assignment {lesson.assignment} --force`, which deletes "
            f"release/{lesson.assignment} even where it refuses then; what is new belongs into another assignment"
        )
        yield "; ".join(said)


def _who(handed_in: int) -> str:
    """The students who lose by a change."""
    if not handed_in:
        return "students who have the released notebook"
    return f"students who have the released notebook, {handed_in} of whom handed in,"


def _graded(course: Course, path: Path) -> set[str]:
    """The names of a notebook's exercises and questions; none where it cannot be read."""
    try:
        cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return set()
    names = {each.graded_id: each.id for each in course.exercises.values()}
    ids = [data["grade_id"] for cell in cells if (data := cell["metadata"].get("nbgrader", {})).get("grade")]
    return {names.get(each, each.removeprefix("question-")) for each in ids}

"""The data files of a course: released beside the notebooks, and in the working folder of graded code.

Each session gets a copy, so a folder of data has to fit into what a session may write, and leave room for its work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.course import Course, CourseError, Exercise

MIB = 1 << 20


def data_files(course: Course) -> dict[Path, Path]:
    """Return the files that stand beside notebooks, by where their copies belong: nbgrader's source, and notebooks.

    Raises:
        CourseError: If a file belongs to no assignment, a folder is too large for a sandbox, or two files would
            have one place.
    """
    _refuse_homeless(course)
    found: dict[Path, Path] = {}
    notebooks = (course.notebooks, *(course.notebooks / each for each in course.languages))
    for assignment in course.assignments:
        folder = course.data_of(assignment)
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        for exercise in course.of_assignment(assignment) if files else ():
            _refuse_large(course, exercise, folder, files)
        for path in files:
            for beside in (course.directory / "source" / assignment, *notebooks):
                other = found.setdefault(beside / path.relative_to(folder), path)
                if other != path and other.read_bytes() != path.read_bytes():
                    raise CourseError(
                        f"{_named(course, path)}: differs from {_named(course, other)}, and both would stand at one "
                        f"place in {course.notebooks.name}/; rename one of the two"
                    )
    return found


def _named(course: Course, path: Path) -> str:
    """A file as messages name it."""
    return path.relative_to(course.directory).as_posix()


def _refuse_homeless(course: Course) -> None:
    known = {*course.assignments, *course.drafts}
    for path in sorted((course.directory / "data").glob("*")):
        if not path.name.startswith(".") and (path.name not in known or not path.is_dir()):
            raise CourseError(
                f"{_named(course, path)}: belongs to no assignment; move it to data/{next(iter(known), 'NAME')}/, or "
                "to the folder of another assignment"
            )


def _refuse_large(course: Course, exercise: Exercise, folder: Path, files: list[Path]) -> None:
    """Refuse data that fill more than half of what a session of an exercise may write."""
    from autograder.sandbox import Limits

    limits = Limits.from_mapping({**course.limits, **exercise.limits})
    size = sum(path.stat().st_size for path in files) / MIB
    if size > limits.file_mb / 2:
        raise CourseError(
            f"{_named(course, folder)}: holds {size:.1f} MiB, more than half of the {limits.file_mb} that a session of "
            f"{exercise.id} may write; make the files smaller, or raise 'file_mb' in [limits] of {course.path.name}"
        )
    if len(files) > limits.files / 2:
        raise CourseError(
            f"{_named(course, folder)}: holds {len(files)} files, more than half of the {limits.files} that a session "
            f"of {exercise.id} may have; pack them, or raise 'files' in [limits] of {course.path.name}"
        )


def strange_files(course: Course, built: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files that nbgrader releases beside notebooks, though the build did not put them there."""
    known = set(built)
    return tuple(path for path in _released(course) if path not in known and path.suffix != ".ipynb")


def _released(course: Course) -> Iterator[Path]:
    for assignment in course.assignments:
        folder = course.directory / "source" / assignment
        for path in sorted(folder.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if path.is_file() and not hidden:  # nbgrader's and Jupyter's own
                yield path


def what_is_missing(course: Course, exercise: Exercise, lost: str) -> str:
    """Return what to do about a reference answer that loses points.

    Args:
        course: The course.
        exercise: The exercise.
        lost: What was seen.
    """
    if "FileNotFoundError" in lost:
        folder = _named(course, course.data(exercise))
        return f"put the file that it reads into {folder}/, which is all that graded code finds in its working folder"
    if "ModuleNotFoundError" in lost:
        return f"add what it imports to 'requires' in [library] of {course.path.name}, or remove the import"
    return "correct the reference or its hidden tests"

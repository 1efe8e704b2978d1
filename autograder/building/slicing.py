"""Cut an exercise out of the library's source text.

The text is taken as it stands, line by line; `ast` only says where an object begins and ends. The student's
part stands between `### BEGIN SOLUTION` and `### END SOLUTION`. The stub is exactly what nbgrader's own
`ClearSolutions` makes of the reference, so that a generated notebook and a release agree.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.common.marker import marker, named_on
from autograder.course import Course, CourseError, Exercise, split_object

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
"""nbgrader's default; `course/nbgrader_config.py` names the same lines."""

ALONE = "# the library's alone"
"""How a line of a class ends that students do not get, such as the name of a function's kernel."""

_ALONE = re.compile(rf"(?:\n[^\S\n]*)?\n[^\n]*{ALONE}(?=\n)")  # with the blank line above

TELLING = 12
"""Characters, blanks aside, from which a line of an answer is more than a common phrase."""

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Region:
    """A solution region: indices of its two marker lines within the object's lines."""

    begin: int
    end: int


@dataclass(frozen=True)
class ObjectSource:
    """A top-level object of the library, as text.

    Attributes:
        dotted: Its name, without the library's.
        file: Where it is defined.
        node: Its definition.
        first: Index of its ``def`` or ``class`` line in the file; decorators stand above.
        lines: Its lines, from there to its last statement or marker.
        regions: The lines that students write.
    """

    dotted: str
    file: Path
    node: Definition
    first: int
    lines: tuple[str, ...]
    regions: tuple[Region, ...]

    @property
    def text(self) -> str:
        """The object's source, markers included, without decorators and without what is for the library alone.

        What a student's class leaves out stays as the library's class has it (`exercises.install`).
        """
        return _ALONE.sub("", "\n".join(self.lines))


@dataclass(frozen=True)
class ExerciseSource:
    """The text of an exercise.

    Attributes:
        exercise: The exercise.
        reference: Source of its objects with the answers, markers included.
        stub: The same with each answer replaced by nbgrader's stub.
    """

    exercise: Exercise
    reference: str
    stub: str

    @property
    def reference_cell(self) -> str:
        """The whole solution cell, answered."""
        return f"{marker(self.exercise.id)}\n{self.reference}"

    @property
    def stub_cell(self) -> str:
        """The whole solution cell as a student gets it."""
        return f"{marker(self.exercise.id)}\n{self.stub}"


def without_markers(text: str) -> str:
    """Return an answer without the lines that say where it begins and ends."""
    return "\n".join(line for line in text.split("\n") if line.strip() not in (BEGIN, END))


def slice_exercise(course: Course, exercise_id: str) -> ExerciseSource:
    """Cut an exercise out of the library's sources.

    Raises:
        CourseError: If the exercise is unknown, an object is missing, or its markers are wrong.
    """
    exercise = course.exercise(exercise_id)
    sources = [find_object(course.source, dotted) for dotted in exercise.objects]
    for source in sources:
        if not source.regions:
            raise CourseError(
                f"{source.file.name}: {source.dotted}: exercise {exercise_id} needs the markers "
                f"{BEGIN!r} and {END!r} around what students write; add them"
            )
    reference = "\n\n\n".join(source.text for source in sources)
    stub = clear_solutions(reference)
    try:
        ast.parse(stub)
    except SyntaxError as error:
        raise CourseError(
            f"{sources[0].file.name}: exercise {exercise_id} without its answers is not Python "
            f"({error.msg}: {(error.text or '').strip()!r}); put the markers around whole statements"
        ) from error
    return ExerciseSource(exercise, reference, stub)


def find_object(source: Path, dotted: str) -> ObjectSource:
    """Find a top-level function or class of the library.

    Args:
        source: The directory of the package, or of the lessons that hold the answers.
        dotted: The object's name, without the library's.

    Raises:
        CourseError: If it is not there, or its markers are unmatched, nested, misspelt or outside a function.
    """
    file, node, lines = _locate(source, dotted)
    first = node.lineno - 1
    own = tuple(lines[first : _last_line(node, lines)])
    where = f"{file.name}: {dotted}"
    regions = tuple(_regions(own, first, where))
    for region in regions:
        _check_inside_function(node, region, first, where)
    return ObjectSource(dotted, file, node, first, own, regions)


def answers_in(text: str) -> str:
    """Return the setup cells and the exercises of a lesson in Python: what a module of the answers consists of."""
    kept = (cell for cell in re.split(r"^(?=# %%)", text, flags=re.MULTILINE) if _is_answers(cell))
    return "".join(kept)


def _is_answers(cell: str) -> bool:
    header, _, body = cell.partition("\n")
    is_code = header.startswith("# %%") and "[markdown]" not in header
    return is_code and ('"setup"' in header or bool(named_on(body.lstrip())))


def solution_lines(source: ObjectSource) -> list[str]:
    """Return the lines between the markers of an object, in order."""
    return [line for region in source.regions for line in source.lines[region.begin + 1 : region.end]]


def clear_solutions(text: str, stub: str = "") -> str:
    """Replace each region between markers by the stub for code or another one, indented as its opening marker."""
    kept: list[str] = []
    inside = False
    for line in text.split("\n"):
        if line.strip() == BEGIN:
            indent = line[: len(line) - len(line.lstrip())]
            kept += [indent + line for line in ([stub] if stub else STUB)]
            inside = True
        elif line.strip() == END:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def _locate(source: Path, dotted: str) -> tuple[Path, Definition, list[str]]:
    try:
        file, names = split_object(source, dotted)
    except FileNotFoundError as error:
        raise CourseError(f"{source} has no module for {dotted!r}; correct the name in course.toml") from error
    if len(names) == 1:
        text = file.read_text(encoding="utf-8")
        for node in _parse(file, text).body:
            if isinstance(node, Definition) and node.name == names[0]:
                # Not splitlines(), which also breaks at form feeds, where ast does not.
                return file, node, text.split("\n")
    raise CourseError(
        f"{file.name}: has no top-level function or class for {dotted!r}; "
        "write it there or correct the name in course.toml"
    )


@functools.lru_cache(maxsize=256)
def _parse(file: Path, text: str) -> ast.Module:
    """Return a file's tree, to be read only: an edition cuts dozens of objects, many of them in the same file."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise CourseError(f"{file.name}: line {error.lineno} is not Python ({error.msg}); correct it") from error


def _last_line(node: Definition, lines: list[str]) -> int:
    """Return the number of the object's last line: `ast` does not count a closing marker, a comment."""
    last = node.end_lineno or node.lineno
    for number in range(last, len(lines)):
        line = lines[number]
        if line.strip() and not line.startswith((" ", "\t")):
            break
        if line.strip():
            last = number + 1
    return last


def _regions(lines: tuple[str, ...], first: int, where: str) -> Iterator[Region]:
    begin: int | None = None
    for index, line in enumerate(lines):
        at = f"{where}: line {first + index + 1}"
        if line.strip() == BEGIN:
            if begin is not None:
                raise CourseError(f"{at}: {BEGIN!r} stands inside another region; close that one first")
            begin = index
        elif line.strip() == END:
            if begin is None:
                raise CourseError(f"{at}: {END!r} closes nothing; add {BEGIN!r} above or remove it")
            yield Region(begin, index)
            begin = None
        elif "BEGIN SOLUTION" in line or "END SOLUTION" in line:
            # nbgrader would take this line for a marker.
            raise CourseError(f"{at}: {line.strip()!r} is no marker; write {BEGIN!r} or {END!r} alone")
    if begin is not None:
        raise CourseError(f"{where}: line {first + begin + 1}: {BEGIN!r} is never closed; add {END!r}")


def _check_inside_function(node: Definition, region: Region, first: int, where: str) -> None:
    """Refuse a region that would raise when the class is defined, instead of when it is used."""
    begin = first + region.begin + 1
    functions = (each for each in ast.walk(node) if isinstance(each, ast.FunctionDef))
    if any(each.lineno < begin <= (each.end_lineno or 0) for each in functions):
        return
    raise CourseError(f"{where}: line {begin}: {BEGIN!r} stands outside a function; move it into the body")


def telling_lines(course: Course, exercise: Exercise) -> list[str]:
    """Return the lines of an answer that would give it away where students can read them.

    Short lines and lone names say too little, and what stands outside all markers of the same file, in a docstring
    say, is given anyway.
    """
    lines: list[str] = []
    for dotted in exercise.objects:
        source = find_object(course.source, dotted)
        given = "\n".join(map(squeeze, clear_solutions(source.file.read_text(encoding="utf-8")).split("\n")))
        answer = (line.strip() for line in solution_lines(source))
        lines += [each for each in answer if _is_telling(each) and squeeze(each) not in given]
    return lines


def squeeze(text: str) -> str:
    """Return a text without its blanks, so that layout does not hide that two texts agree."""
    return "".join(text.split())


def _is_telling(line: str) -> bool:
    return len(squeeze(line)) >= TELLING and not re.fullmatch(r"((return|yield) )?\w+", line)

"""Build the course: from lessons and the library's sources to notebooks.

Everything is checked before anything is written; a file whose content is the same is left alone, and the
others are written aside and renamed, so that an interrupted build leaves no half-written notebook.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.building.data_files import data_files, strange_files, what_is_missing
from autograder.building.editions import edition_files
from autograder.building.headers import header_of
from autograder.building.hints import hints_json
from autograder.building.minutes import lesson_minutes, part_minutes
from autograder.building.needs import needs_of
from autograder.building.notebooks import (
    Cell,
    Notebook,
    check_cell,
    dump,
    is_generated,
    is_worked_in,
    new_notebook,
    placement,
    question_cells,
    read_lesson,
    solution_cell,
    stamp_of,
    student_version,
    text_cell,
)
from autograder.building.pieces import refuse_skeletons
from autograder.building.questions import Question, is_answer, split_questions
from autograder.building.sentences import locale_files, refuse_gaps
from autograder.building.slicing import (
    ExerciseSource,
    slice_exercise,
    squeeze,
    telling_lines,
)
from autograder.building.translating import translate_with, translated, translation
from autograder.common.files import write
from autograder.common.marker import marker, named_on
from autograder.common.python_text import defined_names
from autograder.course import Course, CourseError, Exercise, Lesson
from autograder.course.loading import DEFAULT_COURSE, load_course
from autograder.course.paths import CoursePath
from autograder.library import MINIGRAD
from autograder.results import Graded

LONGEST_CELL = 15
"""Lines of code in a cell that is not an exercise; a longer one is a program, not an example."""

RESERVED = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN TESTS", "END HIDDEN TESTS", "BEGIN MARK SCHEME")
"""nbgrader acts on these wherever it meets them."""

VerifyPoints = Callable[[Exercise, str], Graded]
"""Returns the points that the text of a solution cell earns in an exercise."""


@dataclass(frozen=True)
class BuiltFile:
    """A file of the build, and whether this build changed it."""

    path: Path
    changed: bool


@dataclass(frozen=True)
class BuildReport:
    """The outcome of a build.

    Attributes:
        files: Every file that belongs to the course's generated part.
        removed: Notebooks of an earlier build that no lesson makes any more.
        kept: Student notebooks that someone had worked in, under the names that they have now.
        totals: Points of each lesson that hidden tests give.
        by_hand: Those that a person gives besides.
        course: The file that was built from.
        drafts: Points of each assignment that is still being written, of which nothing was built.
        strange: Files that nbgrader releases though neither lessons nor data have them: graded code lacks them.
    """

    files: tuple[BuiltFile, ...]
    removed: tuple[Path, ...]
    kept: tuple[Path, ...]
    totals: Mapping[str, float]
    course: Path
    drafts: Mapping[str, float] = field(default_factory=dict)
    by_hand: Mapping[str, float] = field(default_factory=dict)
    strange: tuple[Path, ...] = ()

    @property
    def written(self) -> list[Path]:
        """Files whose content is new."""
        return [file.path for file in self.files if file.changed]

    @property
    def unchanged(self) -> list[Path]:
        """Files that were right already."""
        return [file.path for file in self.files if not file.changed]


@dataclass(frozen=True)
class BuiltLesson:
    """A lesson's notebooks.

    Attributes:
        lesson: The lesson.
        title: Its first heading.
        source: nbgrader's source notebook, with the answers.
        student: The notebooks that students get; also the master that grading grafts onto.
        stamp: Short hash of the student notebook's content, in the metadata of both.
    """

    lesson: Lesson
    title: str
    source: Notebook
    student: Notebook
    stamp: str


def build(
    course_dir: Path | str = DEFAULT_COURSE, *, verify_points: VerifyPoints | None = None, hidden: Path | None = None
) -> BuildReport:
    """Build all notebooks of a course, and the library's `course.json`, which lists the exercises of drafts too.

    Args:
        course_dir: The directory of course.toml.
        verify_points: If given, marks each exercise's stub and reference; a stub that earns something and a
            reference that loses something are refused.
        hidden: If given, the directory of hidden tests, in which no skeleton may be left.

    Raises:
        CourseError: If anything is inconsistent; nothing is written then.
    """
    course = load_course(course_dir)
    refuse_skeletons(course, hidden)
    sources = {exercise_id: slice_exercise(course, exercise_id) for exercise_id in course.exercises}
    lessons = [build_lesson(course, lesson, sources) for lesson in course.lessons.values()]
    answers = {exercise.id: _answer(course, exercise) for exercise in course.released}
    others = {built.lesson.name: _in_other_languages(course, built) for built in lessons}
    for built in lessons:
        for notebook in (built.student, *others[built.lesson.name].values()):
            _check_leaks(course, built, notebook, answers)
        _check_totals(course, built)
    if verify_points is not None:
        refuse_gaps(course)
        for source in sources.values():
            _check_points(course, source, verify_points)
    texts = _texts(course, lessons, others)
    data = data_files(course)
    _refuse_overwritten(data, texts)
    kept = tuple(_put_aside(path) for path in texts if course.notebooks in path.parents and is_worked_in(path))
    files = tuple(BuiltFile(path, write(path, text)) for path, text in texts.items())
    files += tuple(BuiltFile(to, write(to, path.read_bytes())) for to, path in data.items())
    totals = {built.lesson.name: points_of(built.student) for built in lessons}
    drafts = {name: sum(each.points for each in course.of_assignment(name)) for name in course.drafts}
    by_hand = {built.lesson.name: points_of(built.student, by_hand=True) for built in lessons}
    removed, strange = tuple(_remove_stale(course, texts)), strange_files(course, {*texts, *data})
    return BuildReport(files, removed, kept, totals, course.path, drafts, by_hand, strange)


def build_lesson(course: Course, lesson: Lesson, sources: Mapping[str, ExerciseSource]) -> BuiltLesson:
    """Turn one lesson into its notebooks.

    Raises:
        CourseError: If the lesson is malformed or does not place exactly its own exercises.
    """
    if not lesson.path.is_file():
        raise CourseError(
            f"{course.path.name}: [[assignment]] {lesson.assignment}: the lesson {lesson.name!r} "
            f"does not exist; write {lesson.file} or correct the name"
        )
    cells: list[Cell] = []
    placed: list[str] = []
    asked: set[str] = set()
    authored = read_lesson(lesson.path).cells
    title = _title(authored, lesson)
    for number, cell in enumerate(authored, start=1):
        if _is_check(cell):
            _check_check(cell, number, lesson, authored[number - 2])
            continue
        exercise_id = _placed(cell, number, lesson, course.library.in_lessons)
        if exercise_id is None:
            _check_names(course, cell, number, lesson)
            cells += _given(cell, number, lesson, asked, course.library == MINIGRAD)
            continue
        _check_placement(course, lesson, exercise_id, placed)
        placed.append(exercise_id)
        sliced = sources[exercise_id]
        if course.library.in_lessons:
            _check_whole(cell, number, lesson, sliced)
        if header := header_of(sliced.exercise):
            cells.append(text_cell(header))
        cells += [solution_cell(sliced), check_cell(sliced.exercise, _visible(course, lesson, authored, number))]
    for exercise in course.of_lesson(lesson.name):
        if exercise.id not in placed:
            raise CourseError(
                f"{lesson.file}: does not place the exercise {exercise.id!r} that course.toml gives it; "
                f"add a code cell that holds {marker(exercise.id)!r}"
            )
    source = new_notebook(lesson.name, course.version, cells)
    stamp = stamp_of(student_version(source))
    source.metadata["minigrad"]["stamp"] = stamp
    return BuiltLesson(lesson, title, source, student_version(source), stamp)


def course_json(course: Course, lessons: Sequence[BuiltLesson]) -> str:
    """Return what the students' tools need to know of the course, as JSON."""
    by_name = {built.lesson.name: built for built in lessons}
    needs = needs_of({name: built.source for name, built in by_name.items()})
    order = [*course.order, *course.draft_lessons]
    # A student's folder does not know the student's section: no date is better than another section's.
    by_section = {name for section in course.sections.values() for name in section.due}
    content = {
        "generated": f"from {course.directory.name}/{course.path.name} by `autograder build`; do not edit",
        "name": course.name,
        "version": course.version,
        **({"exchange": str(course.exchange)} if course.exchange else {}),
        "assignments": [
            {
                "name": each.name,
                "title": each.title,
                "lessons": list(each.lessons),
                **({"due": each.due.isoformat()} if each.due and each.name not in by_section else {}),
            }
            for each in course.assignments.values()
        ],
        "lessons": [
            {
                "name": built.lesson.name,
                "title": built.title,
                "assignment": built.lesson.assignment,
                "needs": list(needs[built.lesson.name]),
                **({"minutes": minutes} if (minutes := lesson_minutes(course, name, built.source)) else {}),
            }
            for name, built in sorted(by_name.items(), key=lambda each: order.index(each[0]))
        ],
        "exercises": [
            _exercise_json(course, each)
            for each in sorted(course.exercises.values(), key=lambda each: order.index(each.lesson))
        ],
        **({"paths": [_path_json(course, each, by_name) for each in course.paths.values()]} if course.paths else {}),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _exercise_json(course: Course, exercise: Exercise) -> dict[str, Any]:
    return {
        "id": exercise.id,
        "lesson": exercise.lesson,
        "assignment": course.assignment_of(exercise).name,
        "objects": list(exercise.objects),
        "points": exercise.points,
        **({"uses": list(exercise.uses)} if exercise.uses else {}),
        **({"draft": True} if course.is_draft(exercise) else {}),
        **({name: getattr(exercise, name) for name in ("minutes", "difficulty", "rank")} if exercise.rank else {}),
    }


def _path_json(course: Course, path: CoursePath, lessons: Mapping[str, BuiltLesson]) -> dict[str, Any]:
    parts = [
        {
            **({"week": part.week} if part.week else {}),
            "lesson": part.lesson,
            "exercises": list(part.exercises),
            **({"sections": list(part.sections)} if part.sections else {}),
            "minutes": part_minutes(course, part, lessons[part.lesson].source),
        }
        for part in path.parts
    ]
    return {"name": path.name, "title": path.title, "parts": parts}


def _title(cells: list[Cell], lesson: Lesson) -> str:
    first = cells[0].source.strip().split("\n")[0] if cells else ""
    if not (first.startswith("# ") and cells[0].cell_type == "markdown"):
        raise CourseError(f"{lesson.file}: begins without a heading; make its first line '# ' and the title")
    return str(first.removeprefix("# ").strip())


def _is_check(cell: Cell) -> bool:
    """Return whether a cell is the visible check of the exercise above it: it is tagged so."""
    return cell.cell_type == "code" and "check" in cell.metadata.get("tags", ())


def _check_check(cell: Cell, number: int, lesson: Lesson, above: Cell) -> None:
    _check_cell(cell, number, lesson)
    if not (above.cell_type == "code" and named_on(above.source.strip())):
        raise CourseError(
            f"{lesson.file}: cell {number} is tagged 'check' and stands below no exercise; "
            "move it right below the exercise's cell"
        )


def _visible(course: Course, lesson: Lesson, authored: Sequence[Cell], number: int) -> str:
    """The text of the check below an exercise's cell of that number, if the author wrote one."""
    if number < len(authored) and _is_check(authored[number]):
        return str(authored[number].source)
    if course.library != MINIGRAD:
        raise CourseError(
            f"{lesson.file}: below cell {number}, an exercise, stands no visible check; "
            "add a code cell with the tag 'check', of assertions for example"
        )
    return ""


def _check_whole(cell: Cell, number: int, lesson: Lesson, source: ExerciseSource) -> None:
    """Refuse an exercise's cell that holds more than its objects: the notebook would lose it."""
    if squeeze(cell.source) != squeeze(source.reference_cell):
        raise CourseError(
            f"{lesson.file}: cell {number} holds more than {', '.join(source.exercise.objects)}; "
            "move the rest to a setup cell, or name it in 'objects'"
        )


def _placed(cell: Cell, number: int, lesson: Lesson, answered: bool) -> str | None:
    if "nbgrader" in cell.metadata:
        raise CourseError(
            f"{lesson.file}: cell {number} has nbgrader metadata; remove it, since the build writes it from course.toml"
        )
    try:
        return placement(cell, answered=answered)
    except ValueError as error:
        raise CourseError(
            f"{lesson.file}: cell {number} begins with {str(error)!r} but is not that one line; "
            "place an exercise by a cell that holds '# exercise: ID' and nothing else"
        ) from error


def _given(cell: Cell, number: int, lesson: Lesson, asked: set[str], alone: bool) -> Iterable[Cell]:
    """The cells that a cell without an exercise becomes: itself, or its prose and its questions one by one."""
    try:
        parts = list(split_questions(cell.source)) if cell.cell_type == "markdown" else [cell.source]
    except ValueError as error:
        raise CourseError(f"{lesson.file}: cell {number}: {error}") from error
    if parts in ([], [cell.source]):
        _check_cell(cell, number, lesson)
        return [cell]
    made: list[Cell] = []
    for part in parts:
        if isinstance(part, Question) and part.name in asked:
            raise CourseError(f"{lesson.file}: asks the question {part.name!r} twice; rename one of the two")
        if isinstance(part, Question):
            asked.add(part.name)
        made += question_cells(part, alone=alone) if isinstance(part, Question) else [text_cell(part, cell.metadata)]
    for each in made:
        if not is_answer(each):
            _check_cell(each, number, lesson)
    return made


def _check_cell(cell: Cell, number: int, lesson: Lesson) -> None:
    for words in RESERVED:
        if words in cell.source:
            raise CourseError(f"{lesson.file}: cell {number} contains {words!r}, which nbgrader acts on; reword it")
    length = len(cell.source.strip().split("\n"))
    if cell.cell_type == "code" and length > LONGEST_CELL:
        raise CourseError(
            f"{lesson.file}: cell {number} has {length} lines of code, more than {LONGEST_CELL}; "
            "split it or move code into the library"
        )


def _check_names(course: Course, cell: Cell, number: int, lesson: Lesson) -> None:
    """Refuse an example that could be taken for an answer, as in a notebook that was exported as a script."""
    defined = defined_names(cell.source) if cell.cell_type == "code" else set()
    for exercise in course.of_lesson(lesson.name):
        for name in sorted(defined & {each.rpartition(".")[2] for each in exercise.objects}):
            raise CourseError(
                f"{lesson.file}: cell {number} defines {name}, as the answer to {exercise.id!r} does; "
                "give it another name"
            )


def _check_placement(course: Course, lesson: Lesson, exercise_id: str, placed: list[str]) -> None:
    where = lesson.file
    if exercise_id not in course.exercises:
        raise CourseError(
            f"{where}: places {exercise_id!r}, which course.toml does not list; "
            "add an [[exercise]] with that id or correct the name"
        )
    owner = course.exercises[exercise_id].lesson
    if owner != lesson.name:
        raise CourseError(
            f"{where}: places {exercise_id!r}, an exercise of lesson {owner!r}; "
            "remove it here or change 'lesson' in course.toml"
        )
    if exercise_id in placed:
        raise CourseError(f"{where}: places {exercise_id!r} twice; remove one of the two cells")


def _answer(course: Course, exercise: Exercise) -> list[str]:
    """Return the lines that give an exercise away: those that students cannot read in their library either."""
    if course.library.in_lessons:  # of which students get the notebooks alone
        return telling_lines(course, exercise)
    files = edition_files(course, [exercise.id])
    modules = (content.decode() for name, content in files.items() if name.endswith(".py"))
    given = {squeeze(line) for text in modules for line in text.split("\n")}
    return [line for line in telling_lines(course, exercise) if squeeze(line) not in given]


def _in_other_languages(course: Course, built: BuiltLesson) -> dict[str, Notebook]:
    """Return the student's notebook in each language that the course is translated to."""
    return {
        each: translated(built.student, each, translate_with(translation(course, each, built.lesson.name)))
        for each in course.languages
    }


def _check_leaks(course: Course, built: BuiltLesson, notebook: Notebook, answers: Mapping[str, list[str]]) -> None:
    """Refuse answers that are not open yet when the lesson is released, anywhere in a notebook of it."""
    cells = [squeeze(cell.source) for cell in notebook.cells]
    assignments = list(course.assignments)
    still_closed = assignments[assignments.index(built.lesson.assignment) :]
    closed = [exercise.id for assignment in still_closed for exercise in course.of_assignment(assignment)]
    for exercise_id, line in ((each, line) for each in closed for line in answers[each]):
        number = next((n for n, text in enumerate(cells, start=1) if squeeze(line) in text), None)
        if number is not None:
            raise CourseError(
                f"{built.lesson.file}: the student notebook shows {line!r} in cell {number}, "
                f"a line of the answer to {exercise_id!r}; reword it or move it between markers"
            )


def points_of(notebook: Notebook, by_hand: bool = False) -> float:
    """The points that hidden tests give; or those that a person gives, for answers to questions."""
    cells = (cell for cell in notebook.cells if is_answer(cell) == by_hand)
    points: list[float] = [cell.metadata.get("nbgrader", {}).get("points", 0) for cell in cells]
    return sum(points)


def _check_totals(course: Course, built: BuiltLesson) -> None:
    wanted = sum(exercise.points for exercise in course.of_lesson(built.lesson.name))
    for notebook in (built.source, built.student):
        if abs(points_of(notebook) - wanted) > 1e-9:
            raise CourseError(
                f"{built.lesson.file}: its graded cells are worth {points_of(notebook)} points, but "
                f"course.toml gives its exercises {wanted}; build again from unchanged files"
            )


def _check_points(course: Course, source: ExerciseSource, verify_points: VerifyPoints) -> None:
    exercise = source.exercise
    earned = verify_points(exercise, source.stub_cell).earned
    if earned > 0:
        raise CourseError(
            f"course.toml: [[exercise]] {exercise.id}: the stub earns {earned} points; "
            "make its hidden tests ask for something that an unwritten answer cannot give"
        )
    graded = verify_points(exercise, source.reference_cell)
    if graded.earned < exercise.points:
        raise CourseError(
            f"course.toml: [[exercise]] {exercise.id}: the reference earns {graded.earned:g} of {exercise.points} "
            f"points ({graded.lost}); {what_is_missing(course, exercise, graded.lost)}"
        )


def _texts(course: Course, lessons: list[BuiltLesson], others: Mapping[str, Mapping[str, Notebook]]) -> dict[Path, str]:
    texts: dict[Path, str] = {}
    for built in lessons:
        name = f"{built.lesson.name}.ipynb"
        texts[course.directory / "source" / built.lesson.assignment / name] = dump(built.source)
        texts[course.notebooks / name] = dump(built.student)
        for language, notebook in others[built.lesson.name].items():
            texts[course.notebooks / language / name] = dump(notebook)
        texts[course.directory / "masters" / built.stamp / name] = dump(built.student)
    texts[course.catalogue] = course_json(course, lessons)
    hints = hints_json(course)
    if hints is not None:
        texts[course.catalogue.with_name("hints.json")] = hints
    return texts | locale_files(course)


def _refuse_overwritten(data: Mapping[Path, Path], texts: Mapping[Path, str]) -> None:
    for to in data.keys() & texts.keys():
        raise CourseError(f"{data[to]}: has the name of a notebook that the build makes; rename it")


def _put_aside(path: Path) -> Path:
    """Give a notebook that holds someone's work a name that no build writes to."""
    names = (path.with_name(f"{path.stem}-kept{n or ''}{path.suffix}") for n in itertools.count())
    aside = next(name for name in names if not name.exists())
    path.rename(aside)
    return aside


def _remove_stale(course: Course, texts: Mapping[Path, str]) -> Iterable[Path]:
    """Remove notebooks that an earlier build made of a lesson that is gone: nbgrader would release them."""
    folders = [course.notebooks, *(course.notebooks / each for each in course.languages)]
    folders += (course.directory / "source").glob("*")
    for path in sorted(path for folder in folders for path in folder.glob("*.ipynb")):
        work = course.notebooks in path.parents and is_worked_in(path)
        if path not in texts and is_generated(path) and not work:
            path.unlink()
            yield path

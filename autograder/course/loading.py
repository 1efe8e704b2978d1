"""Reading and checking `course/course.toml`.

Every inconsistency is refused with one sentence that names the file, the key and what to do, so that a mistake never
reaches a student.
"""

from __future__ import annotations

import ast
import datetime as dt
import importlib.util
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.common.python_text import parses
from autograder.course import (
    RANKS,
    SHOWS,
    Assignment,
    Course,
    CourseError,
    Exercise,
    Lesson,
    Section,
    Serving,
    module_of,
    split_object,
)
from autograder.course.paths import read_paths
from autograder.course.platform import read_platform
from autograder.course.tables import DISTRIBUTION, DOTTED, LANGUAGE, LESSON, MODULE, NAME, PACKAGE, Table
from autograder.library import MINIGRAD, Library, library_named

DEFAULT_COURSE = Path(__file__).resolve().parents[2] / "course"
"""The repository's own course."""


MINUTES_A_DAY = 24 * 60

HARDEST = 5
"""The difficulty of the hardest exercises."""


def find_course(*, anywhere: bool = True, told: bool = True) -> Path:
    """Return the directory of the course that is meant where none is named.

    It is the current folder, or `course` in it, if there is a course.toml, else the nearest folder above of which
    that is true; else the repository's course.

    Args:
        anywhere: Whether the repository's course may be meant from outside of the repository.
        told: Whether to say so then: marks may be written there.

    Raises:
        CourseError: If there is none.
    """
    here = Path.cwd()
    for above in (here, *here.parents):
        for folder in (above, above / "course"):
            if (folder / "course.toml").is_file():
                return folder
    inside = here.is_relative_to(DEFAULT_COURSE.parent)
    if (anywhere or inside) and (DEFAULT_COURSE / "course.toml").is_file():
        if told and not inside:
            print(f"course: {DEFAULT_COURSE}", file=sys.stderr)
        return DEFAULT_COURSE
    raise CourseError(f"{here}: has no course.toml; go to the folder of your course, or name it by --course DIR")


def load_course(path: Path | str = DEFAULT_COURSE, *, tree: bool = True) -> Course:
    """Read and check a course.

    Args:
        path: `course.toml`, or the directory that holds it.
        tree: Whether to look for its objects in the library's sources as well.

    Raises:
        CourseError: If the file cannot be read, contradicts itself, or names what does not exist.
    """
    file = Path(path).resolve()
    if file.is_dir():
        file = file / "course.toml"
        if not file.exists():
            raise CourseError(f"{file.parent}: has no course.toml; give the folder of a course")
    return parse_course(_read(file), file, tree=tree)


def parse_course(text: str, file: Path, *, tree: bool = True) -> Course:
    """Check the text of a `course.toml`, which may differ from the file's content.

    Args:
        text: The text.
        file: Its place.
        tree: As in `load_course`.

    Raises:
        CourseError: As `load_course`.
    """
    top = Table(file.name, _toml(text, file))
    head = top.table("course")
    name, version = head.name("name", NAME), head.text("version")
    seed = head.take("seed", int)
    exchange = _exchange(head, file.parent)
    hides_later = bool(head.take("hides_later", bool, optional=True))
    order, languages = head.names("order", LESSON, []), head.names("languages", LANGUAGE, [])
    head.close()
    library, fewest, serving, platform = _library(top), _proof(top), _serving(top), read_platform(top)
    assignments, lessons = _assignments(top, file.parent / "lessons")
    sections = {each.name: each for each in _sections(top, assignments)}
    _check_order(head, order, lessons)
    exercises = _exercises(top, lessons)
    limits = _limits(top)
    drafts = {each.name for each in assignments.values() if each.draft}
    given_out = {name: each for name, each in lessons.items() if each.assignment not in drafts}
    paths = read_paths(top, list(given_out), list(exercises.values()))
    top.close()
    if library.in_lessons:
        _check_modules(file, lessons, exercises)
    _check_hidden(file, assignments, lessons, exercises)
    course = Course(
        file,
        name,
        version,
        seed,
        assignments={name: each for name, each in assignments.items() if name not in drafts},
        lessons=given_out,
        order=[each for each in order or lessons if each in given_out],
        exercises=exercises,
        limits=limits,
        drafts={name: each for name, each in assignments.items() if name in drafts},
        draft_lessons={name: each for name, each in lessons.items() if each.assignment in drafts},
        exchange=exchange,
        library=library,
        hides_later=hides_later,
        paths=paths,
        serving=serving,
        platform=platform,
        sections=sections,
        languages=languages,
        **fewest,
    )
    if tree:
        _check_tree(course)
    return course


def _check_order(head: Table, order: Sequence[str], lessons: Iterable[str]) -> None:
    """Refuse an order that does not name each lesson of the assignments."""
    for lesson in sorted({*order} ^ {*lessons}) if order else ():
        what = "names {!r}, which no assignment has; remove it" if lesson in order else "lacks {!r}; add it"
        raise head.fail(f"'order' {what.format(lesson)}, or remove 'order' to keep that of the assignments")


def _library(top: Table) -> Library:
    """The library of a course; minigrad where the file does not say."""
    if "library" not in top.keys():  # noqa: SIM118 - a table of the file, not a dict
        return MINIGRAD
    table = top.table("library")
    library = replace(library_named(table.name("package", PACKAGE)), requires=table.names("requires", DISTRIBUTION, []))
    table.close()
    return library


def _proof(top: Table) -> dict[str, int]:
    """How many known answers `verify` asks of each exercise, where a course wants others than the default."""
    table = top.table("proof", optional=True)
    asked: dict[str, int | None] = {
        f"fewest_{kind}": table.take(kind, int, optional=True) for kind in ("wrong", "variants")
    }
    table.close()
    for name, count in asked.items():
        if count is not None and count < 0:
            raise table.fail(f"{name.removeprefix('fewest_')!r} is {count}; write 0 or more")
    return {name: count for name, count in asked.items() if count is not None}


def _serving(top: Table) -> Serving | None:
    """The limits and the reports of `autograder serve`; None where the course does not say."""
    if "serve" not in top.keys():  # noqa: SIM118 - a table of the file, not a dict
        return None
    table, usual = top.table("serve"), Serving()
    tries = table.take("tries_per_day", int, optional=True)
    if tries is not None and tries < 1:
        raise table.fail(f"'tries_per_day' is {tries}; write 1 or more")
    wait = table.number("wait", zero=True) if "wait" in table.keys() else usual.wait  # noqa: SIM118
    if wait > MINUTES_A_DAY:
        raise table.fail(f"'wait' is {wait:g} minutes, more than a day; write at most {MINUTES_A_DAY}")
    shows = table.take("shows", str, optional=True)
    if shows not in (None, *SHOWS):
        raise table.fail(f"'shows' is {shows!r}; write {', '.join(map(repr, SHOWS[:-1]))} or {SHOWS[-1]!r}")
    table.close()
    return Serving(tries or usual.tries_per_day, wait, shows or usual.shows)


def _check_modules(file: Path, lessons: Mapping[str, Lesson], exercises: Mapping[str, Exercise]) -> None:
    """Refuse an object whose name does not say in which lesson's file it stands."""
    modules: dict[str, str] = {}
    for lesson in lessons.values():
        other = modules.setdefault(module_of(lesson.path), lesson.name)
        if other != lesson.name:
            raise CourseError(
                f"{file.name}: [[assignment]] {lesson.assignment}: the lessons {other!r} and {lesson.name!r} differ by "
                "their numbers alone, and their exercises would share names; rename one of the two"
            )
    for exercise in exercises.values():
        module = module_of(lessons[exercise.lesson].path)
        for dotted in exercise.objects:
            if dotted.rpartition(".")[0] != module:
                raise CourseError(
                    f"{file.name}: [[exercise]] {exercise.id}: {dotted!r} stands in no lesson; "
                    f"what lesson {exercise.lesson!r} asks is named {module}.NAME"
                )


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CourseError(f"{file}: is not text in UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise CourseError(f"{file}: cannot be read ({error}); give the path of a course.toml") from error


def _toml(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise CourseError(f"{file.name}: nests too deeply; no value of a course needs more than two levels") from error
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{file.name}: is not TOML: {error}; correct that place") from error


def _exchange(head: Table, course: Path) -> Path | None:
    """The folder through which a class hands in: students can write there, so it does not lie beside the answers."""
    said = head.take("exchange", str, optional=True)
    if said is None:
        return None
    path = Path(said)
    if not path.is_absolute():
        raise head.fail(f"'exchange' is {said!r}; write a whole path, such as '/srv/nbgrader/exchange'")
    if path.is_relative_to(course):
        raise head.fail(f"'exchange' is {said!r}, beside the answers; choose a folder outside of {course}")
    return path


def _assignments(top: Table, folder: Path) -> tuple[dict[str, Assignment], dict[str, Lesson]]:
    assignments: dict[str, Assignment] = {}
    lessons: dict[str, Lesson] = {}
    for row in top.tables("assignment"):
        assignment = _assignment(row)
        if assignment.name in assignments:
            raise row.fail("two assignments have that name; rename one")
        assignments[assignment.name] = assignment
        for lesson in assignment.lessons:
            if lesson in lessons:
                other = lessons[lesson].assignment
                raise row.fail(f"the lesson {lesson!r} belongs to {other!r} already; remove it from one of the two")
            python = folder / f"{lesson}.py"  # with cells; else the lesson is MyST Markdown
            file = python if python.is_file() else python.with_suffix(".md")
            lessons[lesson] = Lesson(lesson, assignment.name, file)
    drafts = {name for name, lesson in lessons.items() if assignments[lesson.assignment].draft}
    for name, setup in _setups(top, drafts, lessons):
        lessons[name] = replace(lessons[name], setup=setup)
    return assignments, lessons


def _setups(top: Table, drafts: set[str], lessons: Mapping[str, Lesson]) -> Iterator[tuple[str, str]]:
    """The setup cells of lessons that are not written yet."""
    table = top.table("lesson", optional=True)
    for name in table.keys():  # noqa: SIM118 - a table of the file, not a dict
        row = table.table(name)
        setup = row.text("setup")
        if not parses(setup):
            raise row.fail("'setup' is not Python; correct it")
        row.close()
        if name not in lessons:
            raise row.fail("no [[assignment]] has that lesson; add it to one or correct the name")
        if name not in drafts or lessons[name].path.is_file():
            raise row.fail(f"'setup' is for a draft without a file; move it to a setup cell of {lessons[name].file}")
        yield name, setup


def _assignment(row: Table) -> Assignment:
    name, title = row.name("name", NAME), row.text("title")
    lessons = row.names("lessons", LESSON)
    if not lessons:
        raise row.fail("'lessons' is empty; name at least one lesson")
    due = _time(row, "due") if "due" in row.keys() else None  # noqa: SIM118 - a table of the file, not a dict
    opens = row.take("answers_open", dt.date, optional=True)
    if isinstance(opens, dt.datetime):
        raise row.fail("'answers_open' has a time; write a date alone, such as 2027-02-15")
    if due and opens and opens <= due.date():
        raise row.fail(
            f"'answers_open' is {opens}, not after 'due' ({due.date()}); "
            "open the answers later, when the last extension is over"
        )
    draft = bool(row.take("draft", bool, optional=True))
    if draft and (due or opens):
        raise row.fail("is a draft, which nobody gets, and has a date; remove one of the two")
    examples, quotes = (_from_when(row, key, opens) for key in ("examples", "quotes"))
    hides = tuple(row.names("hides", MODULE, []))
    row.close()
    return Assignment(name, title, lessons, due, opens, draft, examples, quotes, hides)


def _time(row: Table, key: str) -> dt.datetime:
    """A moment, which has a time zone."""
    when: dt.datetime = row.take(key, dt.datetime)
    if when.tzinfo is None:
        raise row.fail(f"{key!r} is {when.isoformat()} of no time zone; add an offset, such as Z")
    return when


def _sections(top: Table, assignments: Mapping[str, Assignment]) -> Iterator[Section]:
    """The parts of the class; none where the course does not say."""
    seen = set[str]()
    for row in top.tables("section") if "section" in top.keys() else ():  # noqa: SIM118 - a table of the file, not a dict
        name = row.text("name")
        if name in seen:
            raise row.fail("two sections have that name; rename one")
        seen.add(name)
        graders = row.take("graders", list, optional=True) or []
        if not all(isinstance(each, str) and each.strip() for each in graders):
            raise row.fail(f"'graders' is {graders!r}; write a list of names")
        dates = row.table("due", optional=True)
        due = {each: _time(dates, each) for each in dates.keys()}  # noqa: SIM118 - as above
        for each, when in due.items():
            if each not in assignments:
                raise dates.fail(f"there is no assignment {each!r}; the assignments are {', '.join(assignments)}")
            opens = assignments[each].answers_open
            if opens and opens <= when.date():
                raise dates.fail(f"{each!r} is due {when.date()}, and its answers open {opens}; open them later")
        row.close()
        yield Section(name, tuple(graders), due)


def _from_when(row: Table, key: str, opens: dt.date | None) -> dt.date | None:
    """The day until which reports keep something back; None if they do not."""
    said: str | None = row.take(key, str, optional=True)
    if said not in (None, "at once", "with answers"):
        raise row.fail(f"{key!r} is {said!r}; write 'at once' or 'with answers'")
    if said == "with answers" and opens is None:
        raise row.fail(f"{key!r} wait for the answers, and 'answers_open' is missing; add it")
    return opens if said == "with answers" else None


def _exercises(top: Table, lessons: Mapping[str, Lesson]) -> dict[str, Exercise]:
    exercises: dict[str, Exercise] = {}
    owner: dict[str, str] = {}
    cells: dict[tuple[str, str], str] = {}
    for row in top.tables("exercise"):
        exercise = _exercise(row)
        if exercise.id in exercises:
            raise row.fail("two exercises have that id; rename one")
        if exercise.lesson not in lessons:
            raise row.fail(f"its lesson {exercise.lesson!r} is in no [[assignment]]; add it to one or correct the name")
        for dotted in exercise.objects:
            if dotted in owner:
                raise row.fail(f"{dotted!r} belongs to {owner[dotted]!r} already; remove it from one of the two")
            owner[dotted] = exercise.id
            # A check finds a student's object by its last name in the notebook.
            place = (exercise.lesson, dotted.rpartition(".")[2])
            if place in cells:
                raise row.fail(
                    f"{dotted!r} and {cells[place]!r} would have one name in lesson {exercise.lesson!r}; "
                    "move one to another lesson"
                )
            cells[place] = dotted
        exercises[exercise.id] = exercise
    _check_headers(top, exercises.values())
    return {name: _with_family(top, exercise, exercises.values()) for name, exercise in exercises.items()}


def _check_headers(top: Table, exercises: Iterable[Exercise]) -> None:
    """Refuse a lesson of which some exercises say how long they take, and others do not: nobody could add it up."""
    told: dict[str, Exercise] = {}
    for exercise in exercises:
        other = told.setdefault(exercise.lesson, exercise)
        if bool(other.minutes) != bool(exercise.minutes):
            silent = exercise if other.minutes else other
            raise top.fail(
                f"[[exercise]] {silent.id}: 'minutes' is missing, and other exercises of lesson {silent.lesson!r} have "
                "it; add 'minutes', 'difficulty' and 'rank'"
            )


def _with_family(top: Table, exercise: Exercise, exercises: Iterable[Exercise]) -> Exercise:
    """Let an exercise be given away by the others of its family."""
    if not exercise.family:
        return exercise
    others = [each for each in exercises if each.family == exercise.family and each is not exercise]
    if not others:
        raise top.fail(
            f"{exercise.id!r} is the only exercise of the family {exercise.family!r}; correct the name, or remove it"
        )
    objects = [dotted for each in others for dotted in each.objects]
    return replace(exercise, gives_away=(*exercise.gives_away, *objects))


def _exercise(row: Table) -> Exercise:
    exercise_id = row.name("id", DOTTED)
    lesson = row.name("lesson", LESSON)
    objects = row.names("objects", DOTTED, [exercise_id])
    if not objects:
        raise row.fail("'objects' is empty; name what the student writes, or remove the key")
    gives_away, hides = (_others(row, key, objects) for key in ("gives_away", "hides"))
    family = row.take("family", str, optional=True) or ""
    # 0 drops an exercise, or a group of tests: nbgrader takes no cell away once something was handed in.
    points = row.number("points", zero=True)
    table = row.table("groups")
    groups = {name: table.number(name, zero=True) for name in table.keys()}  # noqa: SIM118 - a table of the file, not a dict
    if abs(sum(groups.values()) - points) > 1e-9:
        raise row.fail(f"'groups' sum to {sum(groups.values())} but 'points' is {points}; make them equal")
    uses = row.names("uses", MODULE, [])
    limits = _limits(row)
    header = _header(row)
    row.close()
    return Exercise(exercise_id, lesson, objects, gives_away, points, groups, uses, limits, hides, family, *header)


def _header(row: Table) -> tuple[int, int, str]:
    """Return minutes, difficulty and rank of an exercise; zeros and an empty text where the course gives none."""
    minutes, difficulty = (row.take(key, int, optional=True) for key in ("minutes", "difficulty"))
    rank: str | None = row.take("rank", str, optional=True)
    if minutes is difficulty is rank is None:
        return 0, 0, ""
    for key, value in (("minutes", minutes), ("difficulty", difficulty), ("rank", rank)):
        if value is None:
            raise row.fail(
                f"the key {key!r} is missing, which stands beside 'minutes', 'difficulty' and 'rank'; add it"
            )
    if minutes < 1:
        raise row.fail(f"'minutes' is {minutes}; write a number above 0")
    if not 1 <= difficulty <= HARDEST:
        raise row.fail(f"'difficulty' is {difficulty}; write a number from 1 to {HARDEST}")
    if rank not in RANKS:
        raise row.fail(f"'rank' is {rank!r}; write {', '.join(RANKS[:-1])} or {RANKS[-1]}")
    return minutes, difficulty, rank


def _others(row: Table, key: str, objects: Sequence[str]) -> tuple[str, ...]:
    """Return the names under a key of an exercise, none of which may hold an object of the exercise itself."""
    names = tuple(row.names(key, MODULE, []))
    for dotted in objects:
        # Cut with its module, an object is missing: then no answer earns anything.
        own = [name for name in names if dotted == name or dotted.startswith(f"{name}.")]
        if own:
            raise row.fail(f"{key!r} names {own[0]!r}, which holds {dotted!r} itself; name what else shows it")
    return names


def _check_hidden(
    file: Path,
    assignments: Mapping[str, Assignment],
    lessons: Mapping[str, Lesson],
    exercises: Mapping[str, Exercise],
) -> None:
    """Refuse an assignment that hides a module which holds an object of its own, or of an earlier one."""
    earlier: list[str] = []
    for assignment in assignments.values():
        earlier.append(assignment.name)
        for exercise in exercises.values():
            if lessons[exercise.lesson].assignment in earlier:
                own = [(h, o) for h in assignment.hides for o in exercise.objects if o == h or o.startswith(f"{h}.")]
                if own:
                    raise CourseError(
                        f"{file.name}: [[assignment]] {assignment.name}: 'hides' names {own[0][0]!r}, which holds "
                        f"{own[0][1]!r} of the exercise {exercise.id}; name what later assignments are about"
                    )


def _limits(row: Table) -> dict[str, float]:
    table = row.table("limits", optional=True)
    limits = {name: table.number(name) for name in table.keys()}  # noqa: SIM118 - as above
    if limits:
        _check_limits(limits, table)
    return limits


def _check_limits(limits: Mapping[str, float], table: Table) -> None:
    from autograder.sandbox.model import Limits  # a course is read in places that never start a sandbox

    try:
        Limits.from_mapping(limits)
    except ValueError as error:
        raise table.fail(f"{error}; correct or remove it") from error


def _check_tree(course: Course) -> None:
    """Refuse a course that names objects or packages which do not exist, and a draft that is out already."""
    source = course.source
    file = course.path.name
    course.versions()
    for lesson in course.draft_lessons.values():
        _check_not_built(course, lesson)
    for assignment in (*course.assignments.values(), *course.drafts.values()):
        for dotted in assignment.hides:
            if not _exists(source, dotted, whole=True):
                raise CourseError(
                    f"{file}: [[assignment]] {assignment.name}: {source} has no {dotted!r}; correct the name in 'hides'"
                )
    for exercise in course.exercises.values():
        _check_uses(course, exercise)
        others = (*exercise.gives_away, *exercise.hides)
        for dotted in (*exercise.objects, *others):
            if not _exists(source, dotted, whole=dotted in others):
                if _exists(source, dotted, whole=False, kinds=(ast.AsyncFunctionDef,)):
                    raise CourseError(
                        f"{file}: [[exercise]] {exercise.id}: {dotted!r} is an 'async def', which cannot be named "
                        "here; name a function or class that runs it, as by asyncio.run"
                    )
                raise CourseError(
                    f"{file}: [[exercise]] {exercise.id}: {source} has no {dotted!r}; "
                    "write it there or correct the name"
                )


def _check_not_built(course: Course, lesson: Lesson) -> None:
    """A draft has no notebook: the next build would remove it, and what students hand in of it could not be graded."""
    name = f"{lesson.name}.ipynb"
    for path in (course.notebooks / name, course.directory / "source" / lesson.assignment / name):
        if path.is_file():
            raise CourseError(
                f"{course.path.name}: [[assignment]] {lesson.assignment}: is a draft, but {path} was built of it and "
                "students may have it; remove 'draft', or delete that file if nobody has it"
            )


def _check_uses(course: Course, exercise: Exercise) -> None:
    for package in exercise.uses:
        if importlib.util.find_spec(package.partition(".")[0]) is None:
            raise CourseError(
                f"{course.path.name}: [[exercise]] {exercise.id}: 'uses' names {package!r}, which is not installed "
                "here; install it or correct the name"
            )


def _exists(
    source: Path, dotted: str, *, whole: bool, kinds: tuple[type[ast.stmt], ...] = (ast.FunctionDef, ast.ClassDef)
) -> bool:
    """Return whether a dotted name is a top-level statement of some kinds, or (if `whole` allows it) a module."""
    try:
        file, names = split_object(source, dotted)
    except FileNotFoundError:
        return False
    if not names:
        return whole
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return len(names) == 1 and any(isinstance(n, kinds) and getattr(n, "name", "") == names[0] for n in tree.body)

"""Editions: copies of the library from which the answers to some exercises are cut.

The sandbox gets an edition without the exercise that is being graded, a class one without every exercise whose
answers are not open yet. The rest imports and runs; a
cut body raises `ExerciseNotDone`.

While an exercise is graded, it and all later assignments are cut (`graded_without`).
"""

from __future__ import annotations

import ast
import datetime as dt
import functools
import hashlib
import importlib.util
import itertools
import json
import marshal
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from autograder.building.cutting import cut, without_body
from autograder.building.slicing import ObjectSource, answers_in, find_object
from autograder.common.atomic import PREFIX, Aside, sweep
from autograder.common.errors import GraderError
from autograder.common.files import put, write
from autograder.course import Course, Exercise, module_of, split_object
from autograder.course.loading import load_course
from autograder.library import CUT, MINIGRAD

EDITIONS = Path(".cache", "editions")
"""The folder of a course that keeps the editions for the sandbox."""

_TEXTS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

MARK = ".minigrad-edition"
"""Lies in an edition's package and says that it was made here, and may be replaced."""

COMPILERS = ("numba",)
"""Packages that an edition asks for only where one of its modules imports them."""

GENERATED = "# generated from pyproject.toml: the library for a class"

_SHOWS = re.compile(rb"^SHOWS = (\(.*\))$", re.MULTILINE)

LEFT_OUT = ("__pycache__", "*.pyc", "*.pyo", "*.nbi", "*.nbc", ".*")
"""Never part of an edition: bytecode and compiled kernels hold the answers."""


class EditionError(GraderError):
    """An edition cannot be written there; the message says why and what to do."""


def make_edition(out: Path, without: Iterable[str], course: Course | None = None) -> Path:
    """Write the library without the answers to some exercises.

    Args:
        out: The directory that is to hold the library; an edition that is there already is replaced.
        without: Ids of the exercises to cut, together with what gives them away.
        course: The course; by default the repository's.

    Returns:
        The directory `out`.

    Raises:
        CourseError: If an id is unknown.
        EditionError: If something stands there that is no edition.
    """
    course = course or load_course()
    _check_place(out, course)
    _write_package(course.library.package, edition_files(course, without), out)
    return out


def class_edition(out: Path, course: Course, today: dt.date) -> Path:
    """Write the library that a class may have on a day: without the answers that are not open yet.

    The directory can be given to `pip install`: it holds a `pyproject.toml` beside the package, without the grader, and
    a README that says how; one that lies there already stays.
    """
    if course.library != MINIGRAD:
        raise EditionError(
            f"{course.path.name}: [library]: an edition for a class is made of minigrad alone; "
            "give students the notebooks, and the package by your own means if there is one"
        )
    project = _class_project(course, edition_files(course, closed_exercises(course, today)))
    make_edition(out, closed_exercises(course, today), course)
    for folder, lesson in itertools.product(("", *course.languages), course.lessons):  # `minigrad start` copies them
        name = Path(folder) / f"{lesson}.ipynb"
        if (course.notebooks / name).is_file():
            write(out / "minigrad" / "notebooks" / name, (course.notebooks / name).read_text(encoding="utf-8"))
    write(out / "pyproject.toml", project)
    if not (out / "README.md").exists():  # it may be the instructor's own by now
        folder = f'"./{out.resolve().name}[nbgrader]"'  # Windows' shell knows no single quotes
        asked = [each for each in course.assignments.values() if not each.draft]
        listed = "\n".join(f"- `{each.name}`, {each.title}: {', '.join(each.lessons)}" for each in asked)
        write(out / "README.md", _TEXTS["readme"].format(folder=folder, assignments=listed))
    return out


def _check_place(out: Path, course: Course) -> None:
    """Refuse a directory where an edition would take the place of anything but an edition."""
    package, project = out / course.library.package, out / "pyproject.toml"
    if out.resolve().is_relative_to(course.source.parent.resolve()):
        raise EditionError(f"{out} lies among the library's own sources; name another directory")
    if (out / "course.toml").exists():
        raise EditionError(f"{out} is a course, whose notebooks would import the edition; name another directory")
    if (package.exists() or package.is_symlink()) and (package.is_symlink() or not (package / MARK).is_file()):
        raise EditionError(f"{package} is no edition that `autograder edition` wrote; name another directory")
    if project.exists() and not project.read_text(encoding="utf-8", errors="replace").startswith(GENERATED):
        raise EditionError(f"{project} was not written by `autograder edition`; name another directory")


def closed_exercises(course: Course, today: dt.date) -> list[str]:
    """Return the ids of the exercises whose answers are not open on a day; without a date they never open."""
    closed = []
    for exercise in course.exercises.values():
        opens = course.assignment_of(exercise).answers_open
        if opens is None or today < opens:
            closed.append(exercise.id)
    return closed


def edition_name(course: Course, without: Iterable[str]) -> str:
    """Return the name under which an edition is kept, whether or not it is."""
    return _content_hash(course.library.package, _graded_files(course, without))


def _graded_files(course: Course, without: Iterable[str]) -> dict[str, bytes]:
    """An edition's files, with a list of exercises that are worth nothing: other points are no other library."""
    files = edition_files(course, without, grading=True)
    listed = files.get(course.catalogue.name)
    if listed is not None:
        catalogue = json.loads(listed)
        for exercise in catalogue["exercises"]:
            exercise["points"] = 0
        files[course.catalogue.name] = json.dumps(catalogue).encode()
    return files


def graded_without(course: Course, exercise: Exercise) -> list[str]:
    """Return the ids of the exercises that are cut while one is graded: that one, and all of later assignments.

    A report repeats some of what a student's code says, and that code can read the library: one feedback page has
    room for all answers of an assignment. So the sandbox holds no answers that are of use to anyone afterwards, but
    those of the assignment that was handed in. Students' own editions lack the later ones as well.
    """
    own = course.assignment_of(exercise).name
    order = list(dict.fromkeys(course.assignment_of(each).name for each in course.exercises.values()))
    later = order[order.index(own) + 1 :]
    return [exercise.id, *(each.id for each in course.exercises.values() if course.assignment_of(each).name in later)]


def cached_edition(course: Course, without: Iterable[str], cache: Path | None = None) -> Path:
    """Return a directory that holds an edition, which is written only if no one has written it yet.

    Args:
        course: The course.
        without: Ids of the exercises to cut.
        cache: Where editions are kept by their content; by default `.cache/editions` in the course's directory.
    """
    files = _graded_files(course, without)
    cache = cache or course.directory / EDITIONS
    package = course.library.package
    edition = cache / _content_hash(package, files)
    if edition.is_dir():
        return edition
    sweep(cache.glob(f"{PREFIX}*"))
    with Aside(cache) as aside:
        made = aside / "edition"
        _write_package(package, files, made)
        _compile(made)
        made.chmod(0o755)
        try:
            made.rename(edition)
        except OSError:
            # Another process was quicker: its edition has the same content.
            if not edition.is_dir():
                raise
    return edition


def _compile(edition: Path) -> None:
    """Write bytecode beside an edition's modules, made from what is left of them: each sandbox imports them anew."""
    for path in sorted(edition.rglob("*.py")):
        bytecode = _bytecode(path.relative_to(edition).as_posix(), path.read_bytes())
        place = Path(importlib.util.cache_from_source(path))
        place.parent.mkdir(exist_ok=True)
        if bytecode:
            put(place, bytecode)


@functools.lru_cache(maxsize=1024)
def _bytecode(name: str, source: bytes) -> bytes:
    """A module as a .pyc file (PEP 552), nothing if it is no Python; kept, since editions share most modules."""
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return b""
    unchecked_hash = (0b01).to_bytes(4, "little")  # an edition's files never change
    return importlib.util.MAGIC_NUMBER + unchecked_hash + importlib.util.source_hash(source) + marshal.dumps(code)


def edition_files(course: Course, without: Iterable[str], *, grading: bool = False) -> dict[str, bytes]:
    """Return an edition's files, by their path in the library's package.

    Args:
        course: The course.
        without: Ids of the exercises to cut, with all that gives them away.
        grading: Whether to cut what they hide as well: a sandbox runs one exercise, a class needs all lessons to run.

    Raises:
        CourseError: If an id is unknown.
    """
    wanted = set(without)
    for exercise_id in sorted(wanted):
        course.exercise(exercise_id)
    cuts, dropped = _cuts(course, wanted, grading)
    library, root = course.library, course.source
    files: dict[str, bytes] = {"__init__.py": b""} if library.in_lessons else {}
    if cuts:
        names = {name for each in cuts.values() for source, _ in each for name in without_body(source)}
        files[CUT] = "".join(f"{library.package}.{name}\n" for name in sorted(names)).encode()
    for path in _library_files(course):
        if not dropped.isdisjoint((path, *path.parents)):
            continue
        content = path.read_bytes()
        if path in cuts:
            content = cut(content.decode(), cuts[path], library.refusal).encode()
        if library.in_lessons:
            files[f"{module_of(path)}.py"] = answers_in(content.decode()).encode()
        else:
            files[path.relative_to(root).as_posix()] = content
    if course.catalogue.is_file():  # a course apart from the library keeps it itself
        files[course.catalogue.name] = _as_assigned(course.catalogue.read_bytes())
    return files


def _as_assigned(catalogue: bytes) -> bytes:
    """The library's list of lessons and exercises, in the order in which a class hands them in."""
    content = json.loads(catalogue)
    lessons = [lesson for each in content["assignments"] for lesson in each["lessons"]]
    places = {lesson: place for place, lesson in enumerate(lessons)}  # a draft has none
    content["lessons"].sort(key=lambda row: places[row["name"]])
    content["exercises"].sort(key=lambda row: places.get(row["lesson"], len(places)))
    return json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n"


def _cuts(
    course: Course, without: set[str], grading: bool
) -> tuple[dict[Path, list[tuple[ObjectSource, str]]], set[Path]]:
    """Return, for each file, the exercise that each object is cut for; and the modules to leave out."""
    root = course.source
    targets: dict[str, str] = {}
    chosen = [exercise for exercise in course.exercises.values() if exercise.id in without]
    for exercise in chosen:
        targets.update(dict.fromkeys(exercise.objects, exercise.id))
    dropped = set(_showing(course, chosen))
    if grading and course.hides_later:
        dropped.update(_of_later_exercises(course, chosen))
    for exercise in chosen:
        # Later assignments are cut whole (`graded_without`), so what they hide is cut for earlier ones as well.
        hidden = (*exercise.hides, *course.assignment_of(exercise).hides) if grading else ()
        for dotted in (*exercise.gives_away, *hidden):
            path, names = split_object(root, dotted)
            if names:
                targets.setdefault(dotted, exercise.id)
            else:
                dropped.add(path)
    cuts: dict[Path, list[tuple[ObjectSource, str]]] = {}
    for dotted, exercise_id in targets.items():
        if split_object(root, dotted)[0] in dropped:
            continue
        source = find_object(root, dotted)
        cuts.setdefault(source.file, []).append((source, exercise_id))
    return cuts, dropped


def _of_later_exercises(course: Course, cut: Sequence[Exercise]) -> Iterator[Path]:
    """Yield the modules of later assignments than the first that is cut, whose exercises are all cut.

    Those that the package imports, or a module of another exercise, stay.
    """
    order = list(dict.fromkeys(course.assignment_of(each).name for each in course.exercises.values()))
    places = {each.id: order.index(course.assignment_of(each).name) for each in course.exercises.values()}
    own = min((places[each.id] for each in cut), default=0)
    later = {each.id for each in cut if places[each.id] > own}
    holding: dict[Path, set[str]] = {}
    for exercise in course.exercises.values():
        for dotted in exercise.objects:
            holding.setdefault(split_object(course.source, dotted)[0], set()).add(exercise.id)
    others = [path for path, held in holding.items() if not held <= later]
    needed = _imported(course, [course.source / "__init__.py", *others])
    yield from (path for path, held in holding.items() if held <= later and path not in needed)


def _imported(course: Course, paths: Iterable[Path]) -> set[Path]:
    """Return modules of the library, with all that are imported where they are."""
    found, waiting = set[Path](), list(paths)
    while waiting:
        path = waiting.pop()
        if path not in found and path.is_file():
            found.add(path)
            place = path.relative_to(course.source).parent.parts
            for parts in imports_in(path.read_text(encoding="utf-8"), course.library.package, place):
                for dotted in (".".join((*parts[:n], "__init__")) for n in range(1, len(parts) + 1)):
                    with suppress(FileNotFoundError):  # a name that no module of the library has
                        waiting.append(split_object(course.source, dotted)[0])
    return found


@functools.lru_cache(maxsize=1024)
def imports_in(text: str, package: str, place: tuple[str, ...] = ()) -> frozenset[tuple[str, ...]]:
    """Return what a module imports of its package when it is imported itself, not in a function or for types alone.

    Args:
        text: The module's.
        package: The name of the package.
        place: The names of the folders in it that hold the module.
    """
    found: set[tuple[str, ...]] = set()
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        match waiting.pop():
            case ast.Import(names=names):
                found.update(tuple(each.name.split(".")) for each in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                start = (package, *place[: len(place) - level + 1]) if level else ()
                begin = (*start, *(module.split(".") if module else ()))
                found.update((*begin, each.name) for each in names)
            case ast.FunctionDef() | ast.If(test=ast.Name("TYPE_CHECKING")):
                pass
            case node:
                waiting.extend(ast.iter_child_nodes(node))
    return frozenset(parts[1:] for parts in found if parts[0] == package)


def _showing(course: Course, cut: Iterable[Exercise]) -> Iterator[Path]:
    """Yield the library's modules that say of themselves that they show an answer."""
    names = [exercise.id for exercise in cut]
    for path in _library_files(course):
        shown = shown_by(path)
        if any(name == each or name.startswith(f"{each}.") for each in shown for name in names):
            yield path


def shown_by(path: Path) -> tuple[str, ...]:
    """Return what a module says that it shows: exercises, or modules of them."""
    said = _SHOWS.search(path.read_bytes()) if path.suffix == ".py" else None
    return ast.literal_eval(said[1].decode()) if said else ()


def _class_project(course: Course, files: Mapping[str, bytes]) -> str:
    """Return the project's own pyproject.toml, reduced to what a student installs."""
    file = course.source.parent.parent / "pyproject.toml"
    if not file.is_file():
        raise EditionError(f"{file} is missing, which says what students need; work in a clone of the repository")
    whole = tomllib.loads(file.read_text(encoding="utf-8"))
    project = whole["project"]
    said = ("name", "version", "dynamic", "description", "requires-python", "dependencies")
    kept = {key: project[key] for key in said if key in project}
    kept["dependencies"] = [each for each in kept["dependencies"] if _is_needed(each, files)]
    data = whole["tool"]["hatch"]["build"]["targets"]["wheel"].get("shared-data", {})
    package = course.library.package
    inner = {name.removeprefix(f"src/{package}/"): place for name, place in data.items()}
    shared = {
        f"{package}/{name}": place
        for name, place in inner.items()
        if any(PurePosixPath(each).is_relative_to(name) for each in files)
    }
    submitting = [each for each in project["optional-dependencies"]["course"] if _package_of(each) == "nbgrader"]
    return "\n".join(
        [
            GENERATED,
            "[build-system]",
            # Strings and lists of strings are the same in JSON and in TOML.
            *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in whole["build-system"].items()),
            "",
            "[project]",
            *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in kept.items()),
            "",
            "# for a class that hands in by `nbgrader submit`",
            "[project.optional-dependencies]",
            f"nbgrader = {json.dumps(submitting)}",
            "",
            "[project.scripts]",
            f"minigrad = {json.dumps(project['scripts']['minigrad'])}",
            "",
            "[tool.hatch.build.targets.wheel]",
            'packages = ["minigrad"]',
            "",
            "[tool.hatch.build.targets.wheel.shared-data]",
            *(f"{json.dumps(source)} = {json.dumps(target)}" for source, target in shared.items()),
            "",
            *(["[tool.hatch.version]", 'path = "minigrad/__init__.py"', ""] if "dynamic" in kept else []),
        ]
    )


def _is_needed(requirement: str, files: Mapping[str, bytes]) -> bool:
    """Return whether an edition needs a package: a compiler is large, and only for modules that import it."""
    package = _package_of(requirement)
    if package not in COMPILERS:
        return True
    uses = re.compile(rf"^\s*(import|from) {package}\b", re.MULTILINE)
    return any(uses.search(content.decode()) for name, content in files.items() if name.endswith(".py"))


def _package_of(requirement: str) -> str:
    return re.split(r"[^\w-]", requirement, maxsplit=1)[0]


def _library_files(course: Course) -> list[Path]:
    source = course.source
    if course.library.in_lessons:
        lessons = {course.lesson_of(exercise).path for exercise in course.exercises.values()}
        return sorted(path for path in lessons if path.is_file())
    found = []
    for path in sorted(source.rglob("*")):
        parts = path.relative_to(source).parts
        if path.is_file() and not any(fnmatch(part, name) for part in parts for name in LEFT_OUT):
            found.append(path)
    return found


def _content_hash(package: str, files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(f"{package}\n".encode())
    for name, content in sorted(files.items()):
        digest.update(f"{name}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def _write_package(name: str, files: Mapping[str, bytes], out: Path) -> None:
    """Write a library into a directory: aside first, then renamed into place."""
    with Aside(out) as aside:
        for file, content in files.items():
            path = aside / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            put(path, content)
        (aside / name / MARK).touch()
        package = out / name
        if package.exists():
            package.rename(aside / "before")
        (aside / name).rename(package)

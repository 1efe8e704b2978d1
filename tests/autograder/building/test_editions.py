"""An edition imports and runs, but the answers that were to be cut are nowhere in it."""

import ast
import datetime as dt
import multiprocessing
import os
import py_compile
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from flushing import Flushes
from small_course import SmallCourse

from autograder.building import editions
from autograder.building.editions import (
    MARK,
    EditionError,
    cached_edition,
    class_edition,
    closed_exercises,
    edition_files,
    graded_without,
    make_edition,
)
from autograder.building.slicing import find_object, squeeze, telling_lines
from autograder.course import CourseError
from autograder.course.loading import load_course
from minigrad.machine.overrides import CUT


@pytest.fixture
def small(tmp_path):
    """A course to cut."""
    return SmallCourse(tmp_path / "here")


@pytest.fixture(scope="module")
def course(root):
    """The course of this repository."""
    return load_course(root / "course")


def run(edition, code):
    """Run a program that sees the edition and nothing of this repository."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(edition), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]},
        cwd=edition,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_a_full_edition_is_the_library(small, tmp_path):
    """Without exercises to cut, every source file is copied as it is."""
    edition = make_edition(tmp_path / "out", [], small.load())
    for path in small.source.iterdir():
        assert (edition / "minigrad" / path.name).read_bytes() == path.read_bytes()


def test_a_cut_function_keeps_signature_decorator_and_docstring(small):
    """Its body, given lines and all, becomes one exception that names the exercise."""
    text = edition_files(small.load(), ["numbers.pair"])["numbers.py"].decode()
    assert (
        "# A banner between the two.\n"
        "@loud\n"
        "def half(\n"
        "    x: float,\n"
        '    scale: dict[str, float] = {"unit": 1.0},\n'
        ") -> float:\n"
        '    """Return half of x.\n'
        "\n"
        "    On two lines.\n"
        '    """\n'
        "    from minigrad.errors import ExerciseNotDone\n"
        "\n"
        '    raise ExerciseNotDone("numbers.pair")\n'
        "\n"
        "\n"
        "def clamp(x):\n"
        "    ### BEGIN SOLUTION\n"
    ) in text


def test_a_cut_class_keeps_what_it_gives(small):
    """In a class only the marked regions go: students keep the structure."""
    files = edition_files(small.load(), ["shapes.Square"])
    text = files["shapes.py"].decode()
    assert "self.edge * self.edge" not in text
    assert "    @staticmethod\n    def of_area(area):\n" in text
    assert "return 4 * self.edge" in text
    assert text.count('        raise ExerciseNotDone("shapes.Square")\n') == 2
    ast.parse(text)


def test_what_gives_an_exercise_away_is_cut_as_well(small):
    """A module is left out; a function loses its body, a class without markers the bodies of its methods."""
    files = edition_files(small.load(), ["numbers.pair"])
    assert "fast.py" not in files
    other = files["other.py"].decode()
    assert "def twin(x):\n    from minigrad.errors import ExerciseNotDone\n" in other
    assert "x + x" not in other
    assert "secret_half" not in other
    assert '        """Return half."""\n        from minigrad.errors' in other
    assert "scale = 0.5" in other
    assert "def untouched(x):\n    return x\n" in other
    assert other.count('ExerciseNotDone("numbers.pair")') == 2


def test_what_an_exercise_hides_is_cut_for_grading_alone(small):
    """`hides` cuts a grading edition; a class keeps it, since other lessons need it."""
    small.change(small.toml, 'gives_away = ["fast", "other.twin", "other.Helper"]', 'hides = ["fast", "other.twin"]')
    course = small.load()
    for grading in (False, True):
        files = edition_files(course, ["numbers.pair"], grading=grading)
        assert ("fast.py" in files, "x + x" in files["other.py"].decode()) == (not grading, not grading)
    graded = cached_edition(course, ["numbers.pair"], small.source.parent / "kept") / "minigrad"
    assert not (graded / "fast.py").exists()


def test_what_an_assignment_hides_is_cut_for_earlier_ones_too(small):
    """Grading an exercise hides what its own and later assignments hide; a class keeps all of it."""
    small.change(small.toml, 'lessons = ["01_shapes"]\n', 'lessons = ["01_shapes"]\nhides = ["other"]\n')
    course = small.load()
    for exercise in ("numbers.clamp", "shapes.Square"):
        cut = graded_without(course, course.exercise(exercise))
        assert "other.py" not in edition_files(course, cut, grading=True)
        assert "other.py" in edition_files(course, cut)


def test_a_course_may_hide_the_modules_of_later_exercises(small):
    """They are left out while earlier exercises are graded, unless a module of one imports them; a class has them."""
    small.change(small.toml, "[course]\n", "[course]\nhides_later = true\n")
    small.change(small.source / "__init__.py", "numbers, other, shapes", "numbers, other")
    course = small.load()
    early = graded_without(course, course.exercise("numbers.clamp"))
    late = graded_without(course, course.exercise("shapes.Square"))
    assert "shapes.py" not in edition_files(course, early, grading=True)
    assert "shapes.py" in edition_files(course, early)
    assert {"shapes.py", "numbers.py"} <= edition_files(course, late, grading=True).keys()
    small.change(small.numbers, "import functools\n", "import functools\nfrom . import shapes\n")
    assert "shapes.py" in edition_files(course, early, grading=True)


def test_what_gives_nothing_away_stays(small):
    """`gives_away` counts only while its own exercise is cut."""
    files = edition_files(small.load(), ["numbers.clamp"])
    assert "fast.py" in files
    assert "secret_half" in files["other.py"].decode()


def test_given_loops_can_be_cut_until_lesson_05_is_handed_in(root, course):
    """By the line that an instructor's page has; without it they stay, since lessons 07 and 08 need them."""
    page = (root / "docs" / "instructor" / "prepare.md").read_text()
    (line,) = [tomllib.loads(each) for each in page.splitlines() if each.startswith("gives_away = ")]
    id = "tensor_ops.tensor_zip"
    earlier = replace(course.exercises[id], gives_away=(*course.exercises[id].gives_away, *line["gives_away"]))
    cut = replace(course, exercises={**course.exercises, id: earlier})
    for module in ("fast_ops.py", "cuda_ops.py"):
        given, without = (edition_files(each, list(course.exercises))[module].decode() for each in (course, cut))
        assert "def _zip(" in given and "def _zip(" not in without
        assert f'ExerciseNotDone("{id}")' in without


def test_an_object_that_is_an_exercise_itself_names_its_own(small):
    """An exercise that another one gives away says its own id when both are cut."""
    small.change(small.toml, '"other.twin", ', '"shapes.Square", ')
    both = edition_files(small.load(), ["numbers.pair", "shapes.Square"])["shapes.py"].decode()
    assert both.count('ExerciseNotDone("shapes.Square")') == 2
    alone = edition_files(small.load(), ["numbers.pair"])["shapes.py"].decode()
    assert alone.count('ExerciseNotDone("numbers.pair")') == 2


def test_a_package_can_give_an_exercise_away(small):
    """A whole package is left out with everything in it."""
    kernels = small.source / "kernels"
    kernels.mkdir()
    (kernels / "__init__.py").write_text("")
    (kernels / "loops.py").write_text("x = 1\n")
    small.change(small.toml, '"fast", ', '"kernels", ')
    files = edition_files(small.load(), ["numbers.pair"])
    assert not [name for name in files if name.startswith("kernels")]
    assert "kernels/loops.py" in edition_files(small.load(), [])


def test_an_edition_imports_and_its_cut_bodies_raise(small, tmp_path):
    """In a process of its own the package imports, given code runs, and a cut body says which exercise it is."""
    edition = make_edition(tmp_path / "out", ["numbers.pair", "shapes.Square"], small.load())
    said = run(
        edition,
        "import minigrad\n"
        "from minigrad.errors import ExerciseNotDone\n"
        "square = minigrad.shapes.Square(3)\n"
        "print(minigrad.fast, square.given(), minigrad.numbers.clamp(7))\n"
        "for call in (lambda: minigrad.numbers.half(1.0), square.area, lambda: minigrad.other.twin(1)):\n"
        "    try:\n"
        "        call()\n"
        "    except ExerciseNotDone as error:\n"
        "        print(error)\n",
    )
    assert said.split("\n") == ["None 12 1.0", "numbers.pair", "shapes.Square", "numbers.pair"]


def test_no_bytecode_is_copied(small, tmp_path):
    """Bytecode, kernel caches and hidden files of the library hold answers, and stay behind."""
    py_compile.compile(str(small.numbers), doraise=True)
    (small.source / "numbers.pyc").write_bytes(b"")
    (small.source / ".numbers.py.swp").write_bytes(b"")
    edition = make_edition(tmp_path / "out", ["numbers.pair"], small.load())
    names = {path.name for path in edition.rglob("*")} - {MARK}
    assert not {name for name in names if name.endswith(".pyc") or name.startswith((".", "__pyc"))}


def test_an_edition_replaces_the_one_before(small, tmp_path):
    """Files that are no longer in the library disappear, and nothing is left aside."""
    edition = make_edition(tmp_path / "out", [], small.load())
    make_edition(tmp_path / "out", ["numbers.pair"], small.load())
    assert [path.name for path in edition.iterdir()] == ["minigrad"]
    assert not (edition / "minigrad" / "fast.py").exists()


def test_an_unknown_exercise_is_refused(small, tmp_path):
    """A misspelt id would silently leave an answer in the edition."""
    with pytest.raises(CourseError, match=r"no exercise 'numbers\.pear'"):
        make_edition(tmp_path / "out", ["numbers.pear"], small.load())
    assert not (tmp_path / "out").exists()


def test_answers_open_on_their_day(small):
    """The day before an answer is closed, on the day it is open; without a date it never opens."""
    course = small.load()
    everything = ["numbers.pair", "numbers.clamp", "shapes.Square"]
    assert closed_exercises(course, dt.date(2027, 2, 14)) == everything
    assert closed_exercises(course, dt.date(2027, 2, 15)) == ["shapes.Square"]
    assert closed_exercises(course, dt.date(2099, 1, 1)) == ["shapes.Square"]


def test_a_class_gets_what_is_open(small, tmp_path):
    """The edition of a class holds the answers that are open, and no other."""
    edition = class_edition(tmp_path / "out", small.load(), dt.date(2027, 2, 15))
    assert "doubled = x + x" in (edition / "minigrad" / "numbers.py").read_text()
    assert "self.edge * self.edge" not in (edition / "minigrad" / "shapes.py").read_text()


def test_a_class_can_install_its_edition(small, tmp_path):
    """Beside the package stands a project file with what a student needs, and without the grader."""
    edition = class_edition(tmp_path / "out", small.load(), dt.date(2027, 2, 15))
    project = tomllib.loads((edition / "pyproject.toml").read_text())
    assert project["project"] == {
        "name": "minigrad",
        "version": "0.1.0",
        "description": 'A "small" library',
        "requires-python": ">=3.11",
        "dependencies": ["numpy>=2.1", "rich"],
        "optional-dependencies": {"nbgrader": ["nbgrader>=0.9.5"]},
        "scripts": {"minigrad": "minigrad.cli:main"},
    }
    assert project["build-system"]["build-backend"] == "hatchling.build"
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["minigrad"]


def test_a_class_gets_what_the_library_puts_into_jupyter(small, tmp_path):
    """What Jupyter is to find of the library's own, an edition installs too; what is the grader's it does not."""
    data = '"src/minigrad/page" = "share/page"\n"src/minigrad/gone" = "share/gone"\n"course" = "share/course"\n'
    with (small.root / "pyproject.toml").open("a") as file:
        file.write(f"[tool.hatch.build.targets.wheel.shared-data]\n{data}")
    (small.source / "page").mkdir()
    (small.source / "page" / "a.js").write_text("1;")
    edition = class_edition(tmp_path / "out", small.load(), dt.date(2027, 2, 15))
    project = tomllib.loads((edition / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"] == {"minigrad/page": "share/page"}
    assert (edition / "minigrad" / "page" / "a.js").is_file()


def test_an_edition_says_what_to_do_with_it(small, tmp_path, root):
    """Students who get the folder read in it how to install it; what the instructor made of that page stays."""
    edition = class_edition(tmp_path / "week 1", small.load(), dt.date(2027, 2, 15))
    readme = edition / "README.md"
    assert 'pip install "./week 1[nbgrader]"' in readme.read_text()
    assert "venv\\Scripts\\activate" in readme.read_text()
    commands = [line.split("  ")[0] for line in readme.read_text().splitlines() if line.startswith("minigrad ")]
    told = "".join(page.read_text() for page in (root / "docs" / "student").glob("*.md"))
    assert len(commands) == 7 and all(command in told for command in commands)
    course = small.load()
    for each in course.assignments.values():
        assert f"- `{each.name}`, {each.title}: {', '.join(each.lessons)}" in readme.read_text().splitlines()
    readme.write_text("Ask in room 7.")
    class_edition(tmp_path / "week 1", small.load(), dt.date(2027, 2, 16))
    assert readme.read_text() == "Ask in room 7."


def test_an_edition_asks_for_a_compiler_only_if_it_compiles(small, tmp_path):
    """numba is required where a module of the edition imports it, and nowhere else."""
    small.change(small.root / "pyproject.toml", '"rich"', '"rich", "numba>=0.61"')

    def required():
        edition = class_edition(tmp_path / "out", small.load(), dt.date(2027, 2, 15))
        return tomllib.loads((edition / "pyproject.toml").read_text())["project"]["dependencies"]

    assert required() == ["numpy>=2.1", "rich"]
    (small.source / "kernels.py").write_text("def f():\n    from numba import njit\n")
    assert required() == ["numpy>=2.1", "rich", "numba>=0.61"]


@pytest.mark.parametrize("name", ["minigrad/__init__.py", "minigrad/.git/HEAD", "minigrad", "pyproject.toml"])
def test_what_is_no_edition_is_left_alone(small, tmp_path, name):
    """A directory that holds anything but an edition of ours is refused, and nothing in it is touched."""
    file = tmp_path / "out" / name
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text("precious")
    with pytest.raises(EditionError, match="name another directory"):
        class_edition(tmp_path / "out", small.load(), dt.date(2027, 2, 15))
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == [file]
    assert file.read_text() == "precious"


def test_a_link_is_no_edition(small, tmp_path):
    """A link to an edition belongs to someone else."""
    edition = make_edition(tmp_path / "first", [], small.load())
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "minigrad").symlink_to(edition / "minigrad")
    with pytest.raises(EditionError, match="is no edition"):
        make_edition(tmp_path / "second", [], small.load())
    assert (tmp_path / "second" / "minigrad").is_symlink()


@pytest.mark.parametrize("place", ["src", "src/minigrad", "src/minigrad/deeper", "course/../src"])
def test_no_edition_among_the_sources(small, place):
    """The library's own sources are never written to."""
    before = {path: path.read_bytes() for path in small.root.rglob("*") if path.is_file()}
    with pytest.raises(EditionError, match="own sources"):
        class_edition(small.root / place, small.load(), dt.date(2027, 2, 15))
    assert {path: path.read_bytes() for path in small.root.rglob("*") if path.is_file()} == before


def test_no_edition_among_notebooks(small):
    """In a course's folder its own notebooks would import the edition."""
    with pytest.raises(EditionError, match="is a course"):
        class_edition(small.root / "course", small.load(), dt.date(2027, 2, 15))
    assert not (small.root / "course" / "minigrad").exists()


def test_an_edition_is_kept_by_its_content(small):
    """The same content is written once; another source or another cut makes another edition."""
    first = cached_edition(small.load(), ["numbers.pair"])
    stamp = (first / "minigrad" / "numbers.py").stat().st_mtime_ns
    assert first.parent == small.root / "course" / ".cache" / "editions"
    assert cached_edition(small.load(), ["numbers.pair"]) == first
    assert (first / "minigrad" / "numbers.py").stat().st_mtime_ns == stamp
    assert cached_edition(small.load(), ["numbers.clamp"]) != first
    small.change(small.numbers, 'AFTER = "clamp"', 'AFTER = "after"')
    assert cached_edition(small.load(), ["numbers.pair"]) != first


def test_an_edition_of_a_changed_answer_is_the_same(small):
    """What is cut cannot tell editions apart."""
    first = cached_edition(small.load(), ["numbers.pair"])
    small.change(small.numbers, "doubled = x + x", "doubled = 2 * x")
    assert cached_edition(small.load(), ["numbers.pair"]) == first


def test_a_cached_edition_can_be_read_by_another_user(small):
    """The sandbox runs as another user than the instructor."""
    edition = cached_edition(small.load(), ["numbers.pair"])
    for path in [edition, *edition.rglob("*")]:
        assert path.stat().st_mode & 0o444 == 0o444


@pytest.mark.parametrize(
    ("cut", "call", "answer"),
    [("numbers.pair", "clamp(3)", "doubled"), ("numbers.clamp", "int(double(3))", "smallest")],
)
def test_a_cached_edition_has_bytecode_of_its_own(small, cut, call, answer):
    """Python imports the bytecode beside a module without a look at the source, and no answer is in it."""
    cached_edition(small.load(), [])
    edition = cached_edition(small.load(), [cut])
    (bytecode,) = (edition / "minigrad" / "__pycache__").glob("numbers.*.pyc")
    assert answer.encode() not in bytecode.read_bytes()
    (edition / "minigrad" / "numbers.py").write_text("raise ImportError('no bytecode')")
    assert run(edition, f"from minigrad.numbers import *; print({call})") == {"clamp(3)": "1.0"}.get(call, "6")


def build_one(root, cache, barrier, queue):
    """Ask for the same edition as the other processes, at the same moment."""
    barrier.wait()
    queue.put(cached_edition(SmallCourseAt(root).load(), ["numbers.pair"], cache))


class SmallCourseAt(SmallCourse):
    """A course that is there already."""

    def __init__(self, root):
        self.toml = root / "course" / "course.toml"


def test_every_quick_module_says_what_it_shows(course):
    """The names in `SHOWS` are exercises, or modules that hold some: a misspelt one would leave an answer in."""
    modules = {path.stem: editions.shown_by(path) for path in (course.source / "quick").glob("[!_]*.py")}
    assert {name for name, shown in modules.items() if not shown} == {"data", "nn", "optim", "tensors"}
    for each in sum(modules.values(), ()):
        assert any(name == each or name.startswith(f"{each}.") for name in course.exercises), each


@pytest.mark.parametrize("exercise", ["tensor_functions.Permute", "fast_ops.tensor_map", "training.sgd_step"])
def test_quick_forms_stay_where_nothing_forbids_them(course, exercise):
    """From tensors on, a rule is handed gradients by the quick pass: of any strides, as users' rules are."""
    files = edition_files(course, graded_without(course, course.exercise(exercise)))
    assert {f"quick/{name}.py" for name in ("backward", "functions", "tensors")} <= files.keys()
    assert ("quick/tensor_functions.py" in files) == (not exercise.startswith("tensor_functions"))


@pytest.mark.full("an edition for each exercise is imported", share=96)
def test_processes_that_build_the_same_edition_agree(small, tmp_path):
    """Four processes at once leave one whole edition and no debris."""
    context = multiprocessing.get_context("spawn")
    barrier, queue, cache = context.Barrier(4), context.Queue(), tmp_path / "cache"
    workers = [context.Process(target=build_one, args=(small.root, cache, barrier, queue)) for _ in range(4)]
    for worker in workers:
        worker.start()
    answers = {queue.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join(timeout=60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert answers == set(cache.iterdir())
    assert len(answers) == 1


def test_the_process_that_comes_second_takes_the_first_ones_edition(small, tmp_path, monkeypatch):
    """If the edition appears while this process writes its own, its own is thrown away."""
    course, cache = small.load(), tmp_path / "cache"
    write = editions._write_package

    def slow(*arguments):
        monkeypatch.setattr(editions, "_write_package", write)
        cached_edition(course, ["numbers.pair"], cache)
        write(*arguments)

    monkeypatch.setattr(editions, "_write_package", slow)
    edition = cached_edition(course, ["numbers.pair"], cache)
    assert list(cache.iterdir()) == [edition]


def test_a_disk_that_is_full_is_not_taken_for_a_second_process(small, tmp_path, monkeypatch):
    """An edition that could not be written is an error, and leaves nothing behind."""

    def full(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr(editions, "_write_package", full)
    with pytest.raises(OSError, match="disk full"):
        cached_edition(small.load(), [], tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_an_edition_is_on_the_disk_before_it_has_its_name(small, tmp_path, monkeypatch):
    """It is taken for whole because it is there: so a crash of the machine must not leave an empty module in it."""
    flushes = Flushes(monkeypatch)
    edition = cached_edition(small.load(), [], tmp_path / "cache")
    assert flushes.late(edition) == []


GIVEN = {("mlp.SGD", "module.py", "parameter.value.grad = None")}
"""`Module.zero_grad` is public, and the same loop: what the optimizer adds is `step`."""
BUILT_ON = {("fast_ops", "tensor_ops.py")}
"""Parallel loops are made of the loops of an earlier lesson, by the student's own hand."""
INTERFACE = (
    *("ctx.save_for_backward(", "reduce_dim: int,", "@staticmethod", "def backward(ctx: Any, d_output: Any)"),
    *("for each in program.equations:", "for each in reversed(program.equations):", "recorder = Recorder()"),
    *("if isinstance(x, Var):", "raise TypeError("),
    "i = cuda.grid(1)",  # the lesson shows it in the kernel above
    *("groups = fuse(program)", "base = base_of(program)", "axes = in_axes if isinstance(in_axes, tuple) else"),
    *(
        "except RecursionError:",
        "except ValueError:",
        "except Exception:",
        "rng = np.random.default_rng(0)",
        "for _ in range(calls):",
    ),
)
"""How lines begin that whoever writes a tensor function, a kernel or a pass writes, because others call it."""


def test_the_answer_to_an_exercise_is_nowhere_in_its_edition(course):
    """For each exercise of this course: no telling line of the answer stands in any file without it."""
    found = set()
    for exercise in course.exercises.values():
        answer = [line for line in telling_lines(course, exercise) if not line.startswith(INTERFACE)]
        for name, text in edition_files(course, [exercise.id]).items():
            if (exercise.objects[0].split(".")[0], name) in BUILT_ON:
                continue
            shown = {squeeze(line) for line in text.decode().split("\n")} if name.endswith(".py") else set()
            found |= {(exercise.id, name, line) for line in answer if squeeze(line) in shown}
    assert found - GIVEN == set()


def test_no_later_answer_is_in_the_sandbox(course):
    """What an exercise is graded with has no body of an exercise of a later assignment, and all of earlier ones."""
    exercise = course.exercise("functions.elementary")
    without = graded_without(course, exercise)
    order = [*course.assignments, *course.drafts]
    later = {name: order.index(course.assignment_of(course.exercise(name)).name) > 1 for name in course.exercises}
    assert set(without) == {exercise.id} | {name for name, is_later in later.items() if is_later}
    assert later["tensor_data.strides_from_shape"] and not later["autodiff.backpropagate"]
    text = edition_files(course, without)["tensor_data.py"].decode()
    assert "raise ExerciseNotDone('tensor_data.strides_from_shape')" in text.replace('"', "'")


@pytest.mark.parametrize(
    "exercise",
    [
        "operators.backs",
        "functions.arithmetic",
        pytest.param("functions.elementary", marks=pytest.mark.full("an edition is made and imported", share=4)),
    ],
)
def test_quick_twins_of_rules_do_not_give_derivatives_away(course, tmp_path, exercise):
    """The quick twins of derivative rules are left out; tensors differentiate what is left by the rules themselves."""
    files = edition_files(course, [exercise])
    assert "quick/functions.py" not in files and "quick/scalar.py" not in files
    assert {"quick/functions.py", "quick/scalar.py"} <= edition_files(course, []).keys()
    if exercise != "operators.backs":  # without it, what differentiates is cut as a whole
        edition = make_edition(tmp_path / "edition", [exercise], course)
        code = "import minigrad as mg\nx = mg.tensor([3.0], requires_grad=True)\n(x.sin() + x).sum().backward()\n"
        assert run(edition, f"{code}print(round(x.grad.item(), 3))").strip().endswith("0.01")


def test_without_the_quick_sums_the_exercise_adds_gradients_up(course, tmp_path):
    """An edition that lacks `engine.unbroadcast` names it where a small or a large gradient needs it, or uses it."""
    edition = make_edition(tmp_path / "edition", ["engine.unbroadcast"], course)
    said = run(
        edition,
        "import minigrad as mg\n"
        "from minigrad import exercises\n"
        "def slope(n):\n"
        "    row = mg.ones(1, n, requires_grad=True)\n"
        "    try:\n"
        "        (row * mg.ones(n, n)).sum().backward()\n"
        "        return tuple(row.grad.shape), row.grad[0, 0].item()\n"
        "    except mg.errors.ExerciseNotDone as error:\n"
        "        return error.exercise\n"
        "print(slope(3), slope(300))\n"
        "exercises.install({'engine.unbroadcast': lambda gradient, shape: gradient.sum(0, keepdim=True)})\n"
        "print(slope(3), slope(300))\n",
    )
    assert said.split("\n") == ["engine.unbroadcast engine.unbroadcast", "((1, 3), 3.0) ((1, 300), 300.0)"]


@pytest.mark.full("an edition for each exercise is imported", share=12)
def test_every_object_of_an_exercise_is_cut(course):
    """For each object of this course, the edition raises once for a function, once a region for a class."""
    for exercise in course.exercises.values():
        files = edition_files(course, [exercise.id])
        for dotted in exercise.objects:
            source = find_object(course.source, dotted)
            text = files[source.file.relative_to(course.source).as_posix()].decode()
            node = next(each for each in ast.parse(text).body if getattr(each, "name", "") == source.node.name)
            cut = ast.unparse(node).count(f"raise ExerciseNotDone('{exercise.id}')")
            assert cut == (1 if isinstance(node, ast.FunctionDef) else len(source.regions)), dotted


@pytest.mark.full("an edition for each exercise is read", share=4)
def test_the_list_of_what_is_cut_says_what_is_cut(course):
    """An edition lists the functions that have lost their bodies, and no others; the whole library has no list."""
    files = edition_files(course, course.exercises)
    raising = set[str]()
    for name, content in files.items():
        if name.endswith(".py"):
            module = f"minigrad.{name.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")
            raising |= {f"{module}.{each}" for each in _raising(ast.parse(content))}
    assert files[CUT].decode().split() == sorted(raising)
    assert {"minigrad.autodiff.chain_rule", "minigrad.functions.Mul.forward"} <= raising
    assert CUT not in edition_files(course, [])


def _raising(tree, outer=""):
    """Yield the qualified names of functions that raise for an exercise, which nobody writes by hand."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _raising(node, f"{outer}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            texts = (ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Raise))
            if any(text.startswith("raise ExerciseNotDone('") for text in texts):
                yield f"{outer}{node.name}"


def test_the_library_asks_the_list(course, tmp_path):
    """Functions and classes of an edition are known to be cut, and a student's in their place are not."""
    edition = make_edition(tmp_path, ["autodiff.chain_rule", "mlp.SGD", "fast_ops.tensor_map"], course)
    said = run(
        edition,
        "from minigrad import autodiff, exercises, fast_ops, mlp\n"
        "from minigrad.machine.overrides import is_cut\n"
        "print(is_cut(autodiff.chain_rule), is_cut(mlp.SGD), is_cut(mlp.SGD.step), is_cut(fast_ops.tensor_map))\n"
        "print(is_cut(autodiff.topological_sort), is_cut(mlp.SGD.__init__), is_cut(mlp.Linear))\n"
        "class SGD:\n"
        "    def step(self): pass\n"
        "    def zero_grad(self): pass\n"
        "exercises.install({'mlp.SGD': SGD, 'autodiff.chain_rule': lambda variable, d_output: []})\n"
        "print(is_cut(autodiff.chain_rule), is_cut(mlp.SGD), is_cut(mlp.SGD.step))\n",
    )
    assert said.split("\n") == ["True True True True", "False False False", "False False False"]


@pytest.mark.full("an edition for each exercise is imported", share=96)
def test_this_course_imports_in_every_edition(course, tmp_path):
    """`import minigrad` works with each exercise cut, and with all of them, and a cut function raises."""
    cuts = [[exercise_id] for exercise_id in course.exercises]
    for number, without in enumerate([*cuts, list(course.exercises)]):
        edition = make_edition(tmp_path / str(number), without, course)
        name = course.exercise(without[0]).objects[0]
        said = run(
            edition,
            "import inspect, importlib, minigrad\n"
            "from minigrad.errors import ExerciseNotDone\n"
            f"module, _, last = 'minigrad.{name}'.rpartition('.')\n"
            "thing = getattr(importlib.import_module(module), last)\n"
            "thing = inspect.unwrap(thing) if inspect.isfunction(thing) else thing\n"
            "if inspect.isfunction(thing):\n"
            "    kinds = [p for p in inspect.signature(thing).parameters.values() if p.default is p.empty]\n"
            "    try:\n"
            "        thing(*[1.0 for p in kinds if p.kind is not p.VAR_POSITIONAL])\n"
            "    except ExerciseNotDone as error:\n"
            "        print(error.exercise)\n"
            "else:\n"
            f"    print({without[0]!r})\n"
            "assert minigrad.__file__.startswith(" + repr(str(edition)) + ")\n",
        )
        assert said == without[0]
        assert not list(Path(edition).rglob("__pycache__"))

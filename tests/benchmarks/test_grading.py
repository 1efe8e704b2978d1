"""The table of graders measures what it says: the same work and the same tests for each, all processes counted."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

import nbformat
import pytest

from autograder.building.notebooks import setup_texts
from autograder.course.answers import wrong_answers
from autograder.course.loading import load_course
from autograder.proof.demo.classes import make_class
from autograder.proof.demo.typing_in import reference_answers
from benchmarks import grading_section
from benchmarks.classroom import graders, inkernel
from benchmarks.classroom.graders import Cost, Grader, GraderFailed, OtterMissing, run_command
from benchmarks.classroom.processes import MemoryWatch, processor_seconds
from benchmarks.classroom.rooms import graded_parts, some_lessons
from benchmarks.classroom.stock import without_checks
from benchmarks.grading_section import CLASS, COMPILED, HOOKS, OURS, PARTS, STOCK, Costs, Lessons, Sizes
from benchmarks.report import Section

LESSON = "01_numerical_derivatives"
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def course():
    return load_course()


# --- the hidden tests in a kernel -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def namespace(course):
    """A notebook's names after its setup and the reference answers."""
    names = {"__name__": "__main__"}
    answers = reference_answers(course)
    for text in (*setup_texts(course.lessons[LESSON].path), *(answers[each.id] for each in course.of_lesson(LESSON))):
        exec(compile("from __future__ import annotations\n" + text, "<cell>", "exec"), names)
    return names


def test_right_answers_earn_everything_in_the_kernel(course, namespace):
    """The reference passes the hidden tests of every group, and earns their points."""
    for exercise in course.of_lesson(LESSON):
        assert inkernel.grade(exercise.id, exercise.groups, namespace) == exercise.points > 0


def test_a_wrong_answer_loses_its_group_in_the_kernel(course, namespace):
    """What the sandbox rejects is rejected in the kernel as well."""
    exercise = course.exercise("derivatives.central_difference")
    for name, text in wrong_answers(course.directory, exercise.id).items():
        wrong = dict(namespace)
        exec(text, wrong)
        assert inkernel.grade(exercise.id, exercise.groups, wrong) < exercise.points, name


def test_what_is_not_written_earns_nothing_in_the_kernel(course):
    """Without the student's object no test is run."""
    assert inkernel.passed("derivatives.gradient", {}) == set()


def test_every_case_of_a_test_is_run_in_the_kernel():
    """A parametrised test is run with each row, and with each combination of two tables."""

    @pytest.mark.parametrize("x", [1, pytest.param(2)])
    @pytest.mark.parametrize(("y", "z"), [(3, 4)])
    def example(x, y, z):
        pass

    assert list(inkernel._cases(example.pytestmark)) == [{"y": 3, "z": 4, "x": 1}, {"y": 3, "z": 4, "x": 2}]
    assert list(inkernel._cases([])) == [{}]


# --- what is graded -------------------------------------------------------------------------------------------------


def test_a_course_of_one_lesson_has_its_exercises(course, tmp_path):
    """Each lesson makes a course of its own, whose exercises are graded in the same way."""
    told = {"family": "", "minutes": 0, "difficulty": 0, "rank": ""}
    for lesson in course.lessons:
        (tmp_path / "course.toml").write_text(some_lessons(course, [lesson], "alone"))
        alone = load_course(tmp_path, tree=False)
        assert list(alone.exercises.values()) == [replace(each, **told) for each in course.of_lesson(lesson)]
        assert list(alone.assignments) == ["alone"]
        assert alone.seed == course.seed


def test_the_compiled_lessons_have_all_exercises_of_their_modules(course):
    """The hidden tests of a module are one file, which grades no exercise that the course has not."""
    modules = {each.id.partition(".")[0] for lesson in COMPILED.lessons for each in course.of_lesson(lesson)}
    lessons = {each.lesson for each in course.exercises.values() if each.id.partition(".")[0] in modules}
    assert lessons == set(COMPILED.lessons)


def test_graded_parts_are_what_a_student_wrote(course):
    """The lesson's own examples go; setup, answers, graded cells and the student's own cells stay."""
    members = make_class(course, [LESSON], 9, 1, shares={"right": 1})
    files = next(files for _, _, files in members if b"added-" in files[f"{LESSON}.ipynb"])
    parts = graded_parts(files)[f"{LESSON}.ipynb"]
    before = nbformat.reads(files[f"{LESSON}.ipynb"].decode(), as_version=4).cells
    after = nbformat.reads(parts.decode(), as_version=4).cells
    kept = {cell.id for cell in after}
    assert kept < {cell.id for cell in before}
    assert {cell.id for cell in before if "nbgrader" in cell.metadata or cell.id.startswith("added-")} < kept
    assert any(cell.id.startswith("added-") for cell in after)
    bare = nbformat.reads(without_checks(parts).decode(), as_version=4).cells
    assert len(after) - len(bare) == len(course.of_lesson(LESSON))


# --- what it costs --------------------------------------------------------------------------------------------------

HOLD = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c', 'x = bytearray(range(256)) * (1 << 18); input()'])"
)


def test_memory_of_all_processes_counts():
    """What a child of the process holds is seen, and seen no more once it has ended."""
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE) as process:
        with MemoryWatch(process.pid) as watch:
            deadline = time.monotonic() + 30
            while watch.peak < 64 * MEGABYTE and time.monotonic() < deadline:
                time.sleep(0.05)
        process.communicate(b"\n")
    assert 64 * MEGABYTE < watch.peak < 256 * MEGABYTE


def test_processor_time_of_all_processes_counts():
    """What a child has used is counted, and still is when it has ended."""
    work = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(20_000_000))']); print(); input()"
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        spent = processor_seconds(process.pid)
        process.communicate(b"\n")
    assert 0.1 < spent < 30
    assert processor_seconds(process.pid) == 0.0


def test_a_command_that_fails_says_why(tmp_path):
    """Exit code 1 means that some submissions were not graded; any other one, that the command failed."""
    assert run_command([sys.executable, "-c", "raise SystemExit(1)"], tmp_path).seconds > 0
    with pytest.raises(GraderFailed, match="exit code 3: no sandbox"):
        run_command([sys.executable, "-c", "print('no sandbox'); raise SystemExit(3)"], tmp_path)


def test_a_grader_that_fails_says_why(tmp_path):
    """A grader's error comes back as its sentence, and so does its end."""
    with Grader("otter", tmp_path, "week0") as grader, pytest.raises(GraderFailed, match="the grader ended"):
        grader.grade("ada")  # this Python has no otter


def test_otter_that_cannot_be_installed_is_a_sentence(monkeypatch, tmp_path):
    """Without otter-grader the table says so and goes on."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(graders, "OTTER_HOME", tmp_path / "file" / "otter")
    with pytest.raises(OtterMissing, match=r"otter-grader.* cannot be installed: .*Not a directory"):
        graders.otter_python()
    python, missing = grading_section._otter(Sizes())
    assert python is None
    assert missing.startswith("otter-grader")


# --- the table ------------------------------------------------------------------------------------------------------

PLAIN = Lessons("plain", "module1", targets={CLASS: 20, OURS: 20})


def _costs(**seconds):
    names = {"ours": OURS, "stock": STOCK, "parts": PARTS}
    return Costs({names[k]: {f"s{n}": Cost(x, x / 2, 10.0) for n, x in enumerate(v)} for k, v in seconds.items()})


def _rows(costs, runs):
    table = Section("", grading_section.COLUMNS)
    grading_section._fill(table, PLAIN, runs, 100, costs)
    return table


def test_throughput_is_compared_student_by_student():
    """A ratio belongs to one submission; the row has the middle one and the range."""
    table = _rows(
        _costs(ours=[0.1, 0.2, 0.1], stock=[3.0, 4.0], parts=[0.5, 0.6, 0.9]), [Cost(10.0, 20.0, peak=MEGABYTE)] * 2
    )
    ours = next(row for row in table.rows if row[1] == OURS)
    assert ours[2:5] == ["100 ms", "100 ms-200 ms", "50 ms"]
    assert ours[6].split("\n") == [f"25.0 (20.0-30.0) of {STOCK}", f"5.0 (3.0-9.0) of {PARTS}"]
    assert ours[8] == "met\nmissed"
    assert [note for note in table.notes if note.startswith(f"plain: {OURS}: ")]


def test_the_class_is_compared_with_stock_and_with_the_bound_of_memory():
    """A whole class counts by submission, and may hold 2 GiB."""
    runs = [Cost(10.0, 18.0, peak=3 << 30), Cost(1.0, 1.0, peak=1 << 30)]
    cold, again = _rows(_costs(stock=[3.0, 4.0, 5.0]), runs).rows[:2]
    assert (cold[2], cold[4], cold[8]) == ("100 ms", "180 ms", "met\nmissed")
    assert (again[2], again[7], again[8]) == ("10 ms", "<= 2.15 GB", "met")
    assert cold[6] == f"40.0 (30.0-50.0) of {STOCK}"


def test_what_failed_is_a_row():
    """A grader or a command that failed is reported in its row."""
    costs = _costs(stock=[1.0])
    costs.failed[OURS] = "right: no\nsandbox"
    rows = _rows(costs, ["the end:\nno space", Cost(1.0, 1.0, peak=1)]).rows
    assert rows[0][-1] == "failed: no space"
    assert next(row for row in rows if row[1] == OURS)[-1] == "failed: sandbox"


def test_marks_are_compared():
    """Submissions that earned the same from all graders are counted."""
    costs = Costs(
        {OURS: {"a": Cost(1, 1, 3.0), "b": Cost(1, 1, 4.0)}, STOCK: {"a": Cost(1, 1, 3.0), "b": Cost(1, 1, 5.0)}}
    )
    assert costs.agreement().startswith("1 of 2 submissions")


@pytest.mark.full("five graders grade a class", share=80)
def test_every_grader_grades_a_small_class():
    """From nothing to a table: a class of three, and one student for all graders but the slow ones."""
    lessons = Lessons("numbers", "numbers", (LESSON,), targets={CLASS: 1})
    sizes = Sizes(students=3, rounds=1, slow=0, otter=False)
    *news, table = grading_section.section(sizes, lessons, None)
    assert len(news) == 3 + sizes.rounds + 1
    assert not [row for row in table.rows if "failed" in row[-1]]
    assert [row[1] for row in table.rows] == [
        *(f"{CLASS}, {run}" for run in grading_section.RUNS),
        OURS,
        HOOKS,
        PARTS,
    ]
    assert "1 of 1 submissions earned the same" in table.text
    assert "Otter-grader is not in the table" in table.text

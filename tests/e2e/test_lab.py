"""JupyterLab in a browser: a student fetches, solves and submits; an instructor reads the graded submission."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from lab import jupyter_lab, person, program, window
from playwright.sync_api import Browser, expect

from autograder.building.build import build
from autograder.building.editions import make_edition
from autograder.course import Course
from autograder.course.loading import load_course

EXERCISE = "autodiff.topological_sort"
NOTEBOOK = "module1/03_backprop.ipynb"

# What nbgrader and the build leave in a course: this class starts without it.
GENERATED = (
    ".cache",
    "autograded",
    "exchange",
    "feedback",
    "gradebook.db*",
    "masters",
    "release",
    "source",
    "submitted",
)

# A real mistake: breadth first, `a` comes before `b` in z = a * b, a = 2x, b = 3a, although b is made from a.
BREADTH_FIRST = f"""\
# exercise: {EXERCISE}
def topological_sort(variable):
    order, seen, queue = [], set(), [variable]
    while queue:
        current = queue.pop(0)
        if current.unique_id in seen or current.is_constant():
            continue
        seen.add(current.unique_id)
        order.append(current)
        queue.extend(current.parents)
    return order
"""

DEPTH_FIRST = f"""\
# exercise: {EXERCISE}
def topological_sort(variable):
    order, seen, stack = [], set(), [(variable, False)]
    while stack:
        current, inputs_are_done = stack.pop()
        if inputs_are_done:
            order.append(current)
        elif current.unique_id not in seen and not current.is_constant():
            seen.add(current.unique_id)
            stack.append((current, True))
            stack.extend((parent, False) for parent in current.parents)
    return order[::-1]
"""


@dataclass(frozen=True)
class Classroom:
    """A course in a temporary place, its exchange, and the instructor's environment."""

    root: Path
    course: Course
    instructor: dict[str, str]

    @property
    def exchange(self) -> Path:
        """Where assignments are released to and submissions come in."""
        return self.course.directory / "exchange"

    @property
    def config(self) -> str:
        """The lines of nbgrader_config.py that everybody in the class has."""
        return f"c.Exchange.root = {str(self.exchange)!r}\nc.CourseDirectory.course_id = {self.course.name!r}\n"

    def student(self, name: str) -> tuple[Path, dict[str, str]]:
        """Return the working directory and the environment of a student who has the student edition."""
        home = self.root / name
        env = person(home, self.config)
        make_edition(home / "edition", self.course.exercises, self.course)
        work = home / "work"
        work.mkdir()
        return work, env | {"PYTHONPATH": str(home / "edition")}

    def nbgrader(self, *arguments: str) -> str:
        """Run one of the instructor's nbgrader commands in the course."""
        return program("nbgrader", *arguments, cwd=self.course.directory, env=self.instructor)


@pytest.fixture(scope="module")
def classroom(tmp_path_factory, root):
    """The course, built, with assignment module1 released to an exchange of its own."""
    place = tmp_path_factory.mktemp("class")
    for name in ("course", "src"):
        generated = shutil.ignore_patterns("__pycache__", *GENERATED)
        shutil.copytree(root / name, place / name, ignore=generated)
    build(place / "course")
    course = load_course(place / "course")
    room = Classroom(place, course, {})
    room.instructor.update(person(place / "instructor", room.config))
    room.nbgrader("generate_assignment", "module1")
    room.nbgrader("release_assignment", "module1")
    return room


@pytest.fixture
def pictures(root, request):
    """The folder for this test's screenshots."""
    return root / "build" / "screenshots" / request.node.name.removeprefix("test_")


@pytest.mark.full("JupyterLab is played through", share=24)
def test_a_student_fetches_solves_validates_and_submits(browser: Browser, classroom, pictures):
    """A student gets lesson 03 from the list, sees a wrong answer fail, a right one pass, and hands it in."""
    work, env = classroom.student("ada")
    with jupyter_lab(work, env) as address, window(browser, address, pictures) as lab:
        lab.open_lab()
        listed = lab.assignments()
        listed.locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
        expect(listed.locator("#fetched_assignments_list")).to_contain_text("module1")
        lab.picture("1-fetched")

        lab.open_notebook(NOTEBOOK)
        lab.picture("2-lesson")
        lab.menu("Run", "runmenu:run-all")
        lab.type_into(lab.cell(f"# exercise: {EXERCISE}"), BREADTH_FIRST)
        lab.run(lab.cell(f"# exercise: {EXERCISE}"))
        report = lab.run(lab.cell(f'check("{EXERCISE}")'))
        lab.picture("3-wrong")
        expect(report).to_contain_text(re.compile(rf"{EXERCISE}: \d of \d checks pass"))
        expect(report).to_contain_text(re.compile("Hint:.*breadth-first"))

        lab.type_into(lab.cell(f"# exercise: {EXERCISE}"), DEPTH_FIRST)
        lab.run(lab.cell(f"# exercise: {EXERCISE}"))
        report = lab.run(lab.cell(f'check("{EXERCISE}")'))
        lab.picture("4-right")
        expect(report).to_contain_text(re.compile(rf"{EXERCISE}: all \d checks pass"))

        lab.save()
        lab.toolbar("Validate")
        verdict = lab.dialog()
        lab.picture("5-validated")
        assert f'check("{EXERCISE}")' not in verdict
        assert 'check("autodiff.backpropagate")' in verdict  # not done yet, and Validate says so
        lab.close_dialog()

        listed = lab.assignments()
        listed.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
        expect(listed.locator("#submitted_assignments_list")).to_contain_text("module1")
        lab.picture("6-submitted")
    (submission,) = (classroom.exchange / classroom.course.name / "inbound").iterdir()
    handed_in = nbformat.read(submission / "03_backprop.ipynb", as_version=4)
    assert DEPTH_FIRST.strip() in [cell.source.strip() for cell in handed_in.cells]


@pytest.fixture(scope="module")
def graded(classroom):
    """The feedback on a submission with one answer, a wrong one, that nbgrader autograded."""
    handed_in = classroom.course.directory / "submitted" / "grace" / "module1"
    shutil.copytree(classroom.course.directory / "release" / "module1", handed_in)
    notebook = nbformat.read(handed_in / "03_backprop.ipynb", as_version=4)
    (cell,) = [cell for cell in notebook.cells if cell.source.startswith(f"# exercise: {EXERCISE}")]
    cell.source = BREADTH_FIRST
    nbformat.write(notebook, handed_in / "03_backprop.ipynb")
    classroom.nbgrader("autograde", "module1")
    classroom.nbgrader("generate_feedback", "module1")
    return classroom.course.directory / "feedback" / "grace" / "module1" / "03_backprop.html"


@pytest.mark.full("a second long walk in a browser", share=48)
def test_formgrader_and_feedback_show_a_graded_submission(browser: Browser, classroom, graded, pictures):
    """An instructor finds the points and the reasons in Formgrader, a student in the feedback, both without network."""
    folder, env = classroom.course.directory, classroom.instructor
    exercise = classroom.course.exercise(EXERCISE)
    earned = exercise.points - exercise.groups["order"]
    headline = f"{EXERCISE}: {earned:g} of {exercise.points:g} points"
    with jupyter_lab(folder, env) as address, window(browser, address, pictures) as lab:
        lab.open_lab()
        formgrader = lab.formgrader()
        expect(formgrader.get_by_role("link", name="module1")).to_be_visible()
        lab.picture("1-assignments")
        for step in ("Manual Grading", "module1", "03_backprop", "Submission #1"):
            formgrader.get_by_role("link", name=step, exact=True).click()
        report = formgrader.locator(".output_wrapper, .output").filter(has_text=headline).first
        report.scroll_into_view_if_needed()
        expect(report).to_contain_text("comes after the long way")
        expect(formgrader.locator("input.score").first).to_have_attribute("placeholder", f"{earned:g}")
        lab.picture("2-submission")

        lab.page.goto(graded.as_uri())
        report = lab.page.locator(".output_wrapper, .output").filter(has_text=headline).first
        report.scroll_into_view_if_needed()
        expect(report).to_contain_text("comes after the long way")
        lab.picture("3-feedback")
        assert lab.page.locator("math").count() > 0
        assert [text for text in lab.page.locator(".text_cell_render").all_inner_texts() if "$" in text] == []
        assert lab.asked_of_others() == []

"""Marking by hand: the model answer, comments and alike answers stand on Formgrader's pages, and on no student's."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from class_runs import WHEN, generate
from drawn_pages import exporter
from nbgrader.api import Gradebook
from nbgrader.server_extensions.formgrader import handlers
from places import ROOT
from playwright.sync_api import expect
from postgres import postgres
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.building.build import build
from autograder.building.questions import heading
from autograder.cli import app
from autograder.course.loading import load_course
from autograder.gradebook.marking import alike
from autograder.gradebook.settings import gradebook_url

pytestmark = pytest.mark.full(
    "a class answers a question, and is marked by hand, on each database", share=24, group="marking"
)

MODEL = "Each path carries a part of the effect, and $a + b$ adds them."
QUESTION = f"""
:::{{question}} why-add
:points: 2
Why is adding enough?

### BEGIN SOLUTION
{MODEL}
### END SOLUTION
:::
"""
COMMENTS = """
[[comment]]
question = "why-add"
text = "Names both <b>paths</b>."
points = 1.5

[[comment]]
text = "Please write whole sentences."

[[comment]]
question = "another"
text = "Of another question."
"""
SECTIONS = """
[[section]]
name = "monday"
graders = ["tim"]

[[section]]
name = "tuesday"
graders = ["vera", "will"]
"""
ANSWERS = {
    "ada": "The effects of two paths add up.",
    "ben": "Because the operator is commutative, I think.",
    "cem": "The effects of the two paths add up!",
    "dora": "It is commutative, the operator, I think.",
    "eli": "",
    "fay": "",
}


def run(course, *arguments, code=0):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*map(str, arguments), "--course", str(course)])
    assert done.exit_code == code, (done.output, done.exception)
    return " ".join(done.output.split())


def hand_in(course, student, answer):
    folder = course / "submitted" / student / "week0"
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text(WHEN)
    for lesson, text in (("00_numbers", ARITHMETIC), ("01_order", COMPARISON)):
        notebook = nbformat.read(course / "release" / "week0" / f"{lesson}.ipynb", as_version=4)
        next(cell for cell in notebook.cells if cell.source.startswith("# exercise")).source = text
        for cell in notebook.cells:
            if answer and cell.source.startswith(heading("why-add")):
                cell.source = f"{heading('why-add')}\n\n{answer}"
        (folder / f"{lesson}.ipynb").write_text(json.dumps(notebook))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def graded(request, tmp_path_factory):
    """A class in two sections and with a group of two, graded into each database; a person has marked nothing yet."""
    course = make_course(tmp_path_factory.mktemp("marking"), ROOT)
    lesson, toml = course / "lessons" / "00_numbers.md", course / "course.toml"
    lesson.write_text(lesson.read_text() + QUESTION)
    toml.write_text(toml.read_text() + SECTIONS)
    (course / "comments.toml").write_text(COMMENTS)
    (course / "sections.csv").write_text(
        "student_id,section\n" + "".join(f"{each},{'monday' if each != 'eli' else 'tuesday'}\n" for each in ANSWERS)
    )
    (course / "groups.csv").write_text("student_id,group\nada,reds\ngus,reds\n")
    build(course)
    if request.param == "postgresql":
        address = request.getfixturevalue("server")
        config = course / "nbgrader_config.py"
        config.write_text(config.read_text() + f"\nc.CourseDirectory.db_url = {address!r}\n")
    generate(course)
    for student, answer in ANSWERS.items():
        hand_in(course, student, answer)
    run(course, "autograde", "week0", "--jobs", "1")
    return course


@pytest.fixture(scope="module")
def server():
    with postgres() as address:
        yield address


def opened(course):
    return Gradebook(gradebook_url(load_course(course, tree=False)), "minigrad")


def submission(course, student):
    """nbgrader's id of a student's first notebook."""
    with opened(course) as gradebook:
        return gradebook.find_submission_notebook("00_numbers", "week0", student).id


def formgrader(course, student):
    """The page of a student's first notebook in Formgrader."""
    resources = {
        "assignment_id": "week0", "notebook_id": "00_numbers", "submission_id": submission(course, student),
        "index": 0, "total": 6, "base_url": "", "student": student, "last_name": None, "first_name": None,
        "notebook_path": "",
    }  # fmt: skip
    path = course / "autograded" / student / "week0" / "00_numbers.ipynb"
    made = exporter(course.parent, "formgrade")
    made.template_paths = [str(ROOT / "course" / "templates" / "formgrade"), *made.template_paths]
    return made.from_filename(str(path), resources=resources)[0]


def test_the_model_answer_and_comments_are_beside_the_answer(graded):
    """The page shows the model answer with its formula, the comments of this question and of all, as text alone."""
    page = formgrader(graded, "ada")
    assert "Each path carries a part of the effect" in page and "<mo>+</mo>" in page
    assert page.index("Model answer") < page.index("The effects of two paths add up.")
    assert "<b>+1.5</b> Names both &lt;b&gt;paths&lt;/b&gt;." in page and "Please write whole sentences." in page
    assert "Of another question." not in page


def test_a_press_adds_a_comment_and_its_points(graded, browser):
    """Each press adds to what is there; points go to the mark, and a comment without points changes none."""
    html, window = formgrader(graded, "ada"), browser.new_page()

    def answer(route):
        path = urlsplit(route.request.url).path
        if path.startswith("/formgrader/static/"):
            route.fulfill(path=Path(handlers.static_path, path.removeprefix("/formgrader/static/")))
        else:
            route.fulfill(
                body=html if path == "/page" else "[]",
                content_type="text/html" if path == "/page" else "application/json",
            )

    window.route("**", answer)
    window.goto("http://127.0.0.1/page")
    window.wait_for_function("formgrader.loaded")
    for words in ("Names both", "whole sentences"):
        window.locator(".mg-beside button").filter(has_text=words).click()
    expect(window.locator("#question-why-add-comment")).to_have_value(
        "Names both <b>paths</b>.\n\nPlease write whole sentences."
    )
    expect(window.locator("#question-why-add")).to_have_value("1.5")
    beside, answered = (window.locator(each).bounding_box() for each in (".mg-beside", "#question-why-add-comment"))
    assert beside["x"] >= answered["x"] + answered["width"]
    window.close()


def test_no_student_gets_the_model_answer(graded):
    """Releases, graded notebooks, feedback pages and the class page hold nothing of it, nor of the comments."""
    run(graded, "feedback", "week0", "--jobs", "1")
    run(graded, "report")
    pages = [
        path for step in ("release", "submitted", "autograded", "feedback") for path in (graded / step).rglob("*.*")
    ]
    assert len([path for path in pages if path.suffix == ".html"]) == 14
    for path in filter(lambda path: path.is_file(), pages):
        assert b"carries a part" not in path.read_bytes() and b"whole sentences" not in path.read_bytes(), path


def test_the_exporter_of_feedback_pages_adds_nothing():
    """Formgrader's pages have it and feedback pages have not, though both are made by the same exporter's settings."""
    cell = nbformat.v4.new_markdown_cell(f"{heading('why-add')}\n\nHello.")
    settings = {"grade": True, "solution": True, "grade_id": "question-why-add", "points": 1, "score": 1}
    cell.metadata.nbgrader = nbformat.from_dict({**settings, "comment": None, "locked": False, "task": False})
    scores = {"nbgrader": {"notebook": "n", "score": 1, "max_score": 2, "late_penalty": 0}}
    for kind, resources in (("feedback", scores), ("formgrade", {"submission_id": "s", "index": 0, "total": 1})):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.from_dict(cell)])
        html, _ = exporter(ROOT, kind).from_notebook_node(notebook, resources=resources)
        assert "Hello." in html and ("mg-beside" in html) == (kind == "formgrade")


def test_alike_answers_stand_together_and_what_is_left_is_said(graded):
    """Alike answers follow each other, section by section; a group is listed and counted once."""
    said = run(graded, "marking", "week0")
    assert re.search(r"tim │ monday │ 4\b", said) and "vera" not in said
    order = json.loads((graded / "reports" / "marking-week0.json").read_text())["00_numbers"]["question-why-add"]
    names = [student for student, _ in order["monday"]]
    assert sorted(names) == ["ada", "ben", "cem", "dora"] and list(order) == ["monday"]
    assert abs(names.index("ada") - names.index("cem")) == abs(names.index("ben") - names.index("dora")) == 1
    place = names.index("cem")
    page = formgrader(graded, "cem")
    assert f"Answer {place + 1} of 4 in section monday" in page
    assert all(f'/formgrader/submissions/{key}/"' in page
               for _, key in order["monday"][max(0, place - 1) : place + 2 : 2])  # fmt: skip
    assert "no answer waits" in run(graded, "marking", "week0", "--grader", "vera")


def test_a_mark_of_one_member_is_the_groups(graded):
    """What Formgrader writes for one member the other has at once, whoever it is; nobody else has it."""
    for student, score in (("gus", 1.5), ("ada", 2.0)):
        with opened(graded) as gradebook:
            grade = gradebook.find_grade("question-why-add", "00_numbers", "week0", student)
            grade.manual_score, grade.needs_manual_grade = score, False
            gradebook.find_comment("question-why-add", "00_numbers", "week0", student).manual_comment = f"{score}"
            gradebook.db.commit()
        with opened(graded) as gradebook:
            found = {}
            for each in ("ada", "gus", "cem"):
                grade = gradebook.find_grade("question-why-add", "00_numbers", "week0", each)
                comment = gradebook.find_comment("question-why-add", "00_numbers", "week0", each)
                found[each] = grade.manual_score, grade.needs_manual_grade, comment.manual_comment
        assert found == {
            "ada": (score, False, f"{score}"),
            "gus": (score, False, f"{score}"),
            "cem": (None, True, None),
        }


def test_a_member_who_joins_later_gets_the_mark(graded, tmp_path):
    """Who is added to a group after it was marked has its mark with the next run."""
    with opened(graded) as gradebook:
        grade = gradebook.find_grade("question-why-add", "00_numbers", "week0", "ada")
        grade.manual_score, grade.needs_manual_grade = 1.0, False
        gradebook.db.commit()
    with (graded / "groups.csv").open("a") as file:
        file.write("hana,reds\n")
    run(graded, "autograde", "week0", "--jobs", "1")
    with opened(graded) as gradebook:
        grade = gradebook.find_grade("question-why-add", "00_numbers", "week0", "hana")
        assert (grade.manual_score, grade.needs_manual_grade) == (1.0, False)


def test_comments_that_cannot_be_read_are_told_on_the_page(graded):
    """A slip in the file keeps nobody from marking."""
    text = (graded / "comments.toml").read_text()
    (graded / "comments.toml").write_text("[[comment]]\npoints = 1\n")
    try:
        page = formgrader(graded, "ada")
    finally:
        (graded / "comments.toml").write_text(text)
    assert "comments.toml: [[comment]] 1: the key 'text' is missing; add it" in page
    assert "The effects of two paths add up." in page


def test_alike_texts_are_neighbours_in_every_language():
    """Texts without a letter in common, and empty ones, are put somewhere; the same ones stand together."""
    texts = ["路径相加", "", "two paths add", "路径相加。", "", "two paths add!"]
    order = alike(texts)
    assert sorted(order) == list(range(6))
    assert all(abs(order.index(one) - order.index(other)) == 1 for one, other in ((0, 3), (1, 4), (2, 5)))
    assert alike(["", "", ""]) == [0, 1, 2] and alike([]) == []

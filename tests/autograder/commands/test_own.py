"""Reports for a reader alone: several notebooks, what a second attempt changed, one's own code without a sandbox."""

import json

import nbformat
import pytest
from rich.text import Text
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.loading import load_course
from autograder.sandbox import SandboxUnavailable
from autograder.telling import report_diff
from autograder.telling.solutions import find_solution

LESSONS = {"00_numbers": ARITHMETIC, "01_order": COMPARISON}


@pytest.fixture(scope="module")
def place(tmp_path_factory, root):
    """A course of two lessons."""
    return make_course(tmp_path_factory.mktemp("own"), root)


@pytest.fixture
def write(place, tmp_path):
    """Write a notebook with an answer."""

    def written(lesson, answer):
        path = tmp_path / f"{lesson}.ipynb"
        released = nbformat.read(place.parent / "notebooks" / f"{lesson}.ipynb", as_version=4)
        next(cell for cell in released.cells if cell.source.startswith("# exercise")).source = answer
        nbformat.write(released, path)
        return path

    return written


@pytest.fixture
def grade(place):
    """Grade notebooks by the command, and return its output."""

    def graded(*words, code=0):
        command = ["grade", *map(str, words), "--course", str(place), "--hidden", str(place.parent / "hidden")]
        result = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
        assert result.exit_code == code, result.output
        return Text.from_ansi(result.output).plain

    return graded


@pytest.mark.full("notebooks are graded twice", share=4)
def test_a_second_attempt_says_what_has_changed(grade, write, tmp_path):
    """A group that is won, then one that is lost, and nothing; points stand before and after."""
    kept = tmp_path / "reports"
    first = grade(write("00_numbers", ARITHMETIC.replace("x + y", "x - y")), "--since", kept)
    assert "1 of 3 points" in first and "Since" not in first
    second = grade(write("00_numbers", ARITHMETIC.replace("return -x", "return x")), "--since", kept)
    assert "): 1 → 2 of 3 points" in second
    assert "operators.arithmetic: 1 → 2 of 3 points; won: values; lost: special" in second
    assert "nothing has changed" in grade(tmp_path / "00_numbers.ipynb", "--since", kept)


@pytest.mark.full("several notebooks are graded", share=4)
def test_several_notebooks_are_one_page_and_one_list(grade, write, tmp_path):
    """Several notebooks are graded at once: a section each, the total above, and a list as JSON."""
    paths = [write(*each) for each in LESSONS.items()]
    output = grade(*paths, "--html", tmp_path / "page.html")
    assert "00_numbers: 3 of 3 points" in output and "01_order: 4 of 4 points" in output
    page = (tmp_path / "page.html").read_text()
    assert page.count("<section") == 2 and "<h1>7 of 7 points</h1>" in page
    data = json.loads(grade(*paths, "--json"))
    assert [(each["lesson"], each["earned"]) for each in data] == [("00_numbers", 3), ("01_order", 4)]


def test_an_unreadable_notebook_hides_no_other(grade, write, tmp_path):
    """The others have their reports; its report says why, and is not kept as the last one."""
    path, broken = write("00_numbers", ARITHMETIC), tmp_path / "01_order.ipynb"
    broken.write_text("broken")
    output = grade(broken, path, "--since", tmp_path / "kept", code=2)
    assert "not a notebook" in output and "00_numbers: 3 of 3 points" in output
    assert [each.name for each in (tmp_path / "kept").iterdir()] == ["00_numbers.json"]


def test_a_lesson_is_named_for_one_notebook(grade, write):
    """--lesson cannot name the lesson of two notebooks."""
    paths = [write(*each) for each in LESSONS.items()]
    assert "one at a time" in grade(*paths, "--lesson", "00_numbers", code=2)


def test_ones_own_code_without_a_sandbox_is_labelled(grade, write, monkeypatch, tmp_path):
    """Where there is no sandbox, --own grades in a process and says so; without it the grader refuses."""

    def none_here(*_args, **_options):
        raise SandboxUnavailable("no sandbox on this system")

    monkeypatch.setattr("autograder.sandbox.choose", none_here)
    monkeypatch.setattr("autograder.sandbox.isolation.choose", none_here)
    output = grade(write("00_numbers", ARITHMETIC), "--own", "--fresh", "--html", tmp_path / "page.html")
    assert "not isolated: no sandbox on this system" in output and "note: not isolated" in output
    assert "not isolated" in (tmp_path / "page.html").read_text()
    assert "00_numbers: 3 of 3 points" in output


def test_a_damaged_report_is_no_last_time(tmp_path):
    """A file that cannot be read counts as none."""
    (tmp_path / "00_numbers.json").write_text('{"graded": 3}')
    assert report_diff.read_kept(tmp_path, "00_numbers") is None
    assert report_diff.read_kept(tmp_path, "01_order") is None


def test_a_solution_has_its_commentary(place, tmp_path):
    """The reference without the build's marks, known mistakes and other right answers, in their files' own words."""
    for kind, name, said in (("wrong", "is-a-product", "It multiplies."), ("variants", "by_numpy", "NumPy adds.")):
        folder = tmp_path / kind / "operators.arithmetic"
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(f'"""{said}"""\n')
    words = ["solution", "operators.arithmetic", "--course", str(place), "--answers", str(tmp_path)]
    output = Text.from_ansi(CliRunner().invoke(app, words).output).plain
    assert "return x + y" in output and "BEGIN SOLUTION" not in output
    assert "is a product: It multiplies." in output and "by numpy: NumPy adds." in output
    data = json.loads(CliRunner().invoke(app, [*words, "--json"]).output)
    assert data["mistakes"] == [{"name": "is a product", "said": "It multiplies."}]
    unknown = CliRunner().invoke(app, ["solution", "operators.arithmetik", "--course", str(place)])
    assert unknown.exit_code == 2 and "did you mean operators.arithmetic?" in " ".join(unknown.output.split())


def test_a_question_has_its_model_answer(root):
    """The model answer to a question is found by the question's name."""
    course = load_course(root / "course", tree=False)
    found = find_solution(course, "what-twenty-sigmoids-leave", course.directory)
    assert found.lesson == "02_chain_rule" and "twenty layers" in found.question and "vanishes" in found.answer

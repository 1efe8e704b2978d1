"""An exercise's text is taken from the library as it stands, and its stub is the one nbgrader makes."""

import ast

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.preprocessors import ClearSolutions
from small_course import SmallCourse
from traitlets.config import PyFileConfigLoader

from autograder.building.slicing import clear_solutions, find_object, slice_exercise, telling_lines
from autograder.course import CourseError
from autograder.course.loading import load_course


@pytest.fixture
def small(tmp_path):
    """A course to bend out of shape."""
    return SmallCourse(tmp_path)


def nbgrader_stub(root, cell_source):
    """Return what nbgrader's own preprocessor, as this course configures it, makes of a solution cell."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root / "course")).load_config()
    cell = new_code_cell(cell_source)
    cell.metadata["nbgrader"] = {
        "solution": True,
        "grade": False,
        "locked": False,
        "grade_id": "x",
        "schema_version": 3,
    }
    notebook, _ = ClearSolutions(config=config).preprocess(new_notebook(cells=[cell]), {})
    return notebook.cells[0].source


def test_the_reference_is_the_source_text_without_outer_decorators(small):
    """Objects follow each other by two blank lines; trailing markers and comments of an object belong to it."""
    reference = slice_exercise(small.load(), "numbers.pair").reference
    assert reference.startswith("def double(x: float) -> float:\n")
    assert "    return doubled\n    ### END SOLUTION\n\n\ndef half(\n" in reference
    assert reference.endswith("    ### END SOLUTION\n    # a comment that belongs to half")
    assert "@loud" not in reference
    assert "banner" not in reference


def test_decorators_inside_a_class_stay(small):
    """`@staticmethod` of a method is part of the exercise."""
    assert "    @staticmethod\n    def of_area" in slice_exercise(small.load(), "shapes.Square").reference


def test_the_stub_keeps_what_stands_outside_the_markers(small):
    """Signatures, docstrings and given lines stay; each region becomes one stub at its own indentation."""
    stub = slice_exercise(small.load(), "numbers.clamp").stub
    assert stub == (
        "def clamp(x):\n"
        "    # YOUR CODE HERE\n"
        "    raise NotImplementedError()\n"
        "    kept = x\n"
        "    # YOUR CODE HERE\n"
        "    raise NotImplementedError()\n"
        "    return kept"
    )


def test_a_cell_begins_with_the_exercise_it_holds(small):
    """The first line of both cells names the exercise."""
    source = slice_exercise(small.load(), "numbers.clamp")
    assert source.reference_cell == "# exercise: numbers.clamp\n" + source.reference
    assert source.stub_cell == "# exercise: numbers.clamp\n" + source.stub


@pytest.mark.parametrize("exercise_id", ["numbers.pair", "numbers.clamp", "shapes.Square"])
def test_the_stub_is_the_one_nbgrader_makes(small, root, exercise_id):
    """nbgrader's ClearSolutions, configured as this course is, makes the same cell."""
    source = slice_exercise(small.load(), exercise_id)
    assert nbgrader_stub(root, source.reference_cell) == source.stub_cell


@pytest.mark.full("nbgrader makes every stub", share=4)
def test_every_stub_of_the_course_is_the_one_nbgrader_makes(root):
    """The same holds for all exercises of the course, and each reference and stub is Python."""
    course = load_course(root / "course")
    assert course.exercises
    for exercise_id in course.exercises:
        source = slice_exercise(course, exercise_id)
        assert nbgrader_stub(root, source.reference_cell) == source.stub_cell
        ast.parse(source.reference)
        ast.parse(source.stub)
        assert "SOLUTION" not in source.stub


def test_telling_lines_are_long_and_given_nowhere_in_the_file(small):
    """A short line, a lone name, and a line that stands outside the markers too give nothing away."""
    small.change(small.numbers, "    kept = x\n", "    kept = x\n    doubled = x + x\n")
    lines = telling_lines(small.load(), small.load().exercise("numbers.pair"))
    assert lines == ['halved = x * factor * scale["unit"]']


def test_what_a_docstring_quotes_is_no_telling_line(small):
    """A line that students read anyway, as a part of a longer line outside the markers, gives nothing away."""
    small.change(small.numbers, "    On two lines.\n", '    It is ``halved = x*factor * scale["unit"]``.\n')
    assert telling_lines(small.load(), small.load().exercise("numbers.pair")) == []


def test_clearing_keeps_text_without_markers():
    """Text without markers is returned as it is."""
    assert clear_solutions("a\n\n  b\n") == "a\n\n  b\n"


CLAMP_OPEN = "def clamp(x):\n    ### BEGIN SOLUTION\n"

MISTAKES = [
    (
        CLAMP_OPEN,
        "def clamp(x):\n    ### BEGIN SOLUTION\n    ### BEGIN SOLUTION\n",
        "stands inside another region",
    ),
    (CLAMP_OPEN, "def clamp(x):\n", "'### END SOLUTION' closes nothing"),
    (
        "(kept, smallest), largest)\n    ### END SOLUTION\n",
        "(kept, smallest), largest)\n",
        "is never closed",
    ),
    (CLAMP_OPEN, "def clamp(x):\n    # BEGIN SOLUTION\n", "'# BEGIN SOLUTION' is no marker"),
    (CLAMP_OPEN, "def clamp(x):\n    ### BEGIN SOLUTION please\n", "is no marker"),
    ("    kept = x\n", "    kept = = x\n", "is not Python"),
]


@pytest.mark.parametrize(("old", "new", "words"), MISTAKES, ids=[mistake[2] for mistake in MISTAKES])
def test_wrong_markers_are_refused(small, old, new, words):
    """A marker that nbgrader would misread is refused, with the file, the object and the line."""
    course = small.load()
    small.change(small.numbers, old, new)
    with pytest.raises(CourseError, match=r"numbers\.py") as caught:
        slice_exercise(course, "numbers.clamp")
    assert words in str(caught.value)


def test_a_region_that_is_half_a_statement_is_refused(small):
    """A stub that would not parse is refused before a student gets it."""
    small.change(small.numbers, "    kept = x\n", "    kept = [x,\n")
    small.change(
        small.numbers,
        "    kept = min(max(kept, smallest), largest)\n",
        "    ]\n    kept = min(max(kept[0], smallest), largest)\n",
    )
    with pytest.raises(CourseError, match="without its answers is not Python"):
        slice_exercise(small.load(), "numbers.clamp")


def test_an_exercise_without_markers_is_refused(small):
    """Every object of an exercise needs something to write."""
    course = small.load()
    text = small.numbers.read_text()
    start, stop = text.index("    ### BEGIN"), text.index("# A banner")
    small.numbers.write_text(text[:start] + "    return x + x\n\n\n" + text[stop:])
    with pytest.raises(CourseError, match=r"numbers\.double: exercise numbers\.pair needs the markers"):
        slice_exercise(course, "numbers.pair")


def test_a_region_outside_a_function_is_refused(small):
    """A region in a class's own body would raise when the class is defined."""
    small.change(
        small.shapes,
        "    def given(self):\n",
        "    ### BEGIN SOLUTION\n    edges = 4\n    ### END SOLUTION\n\n    def given(self):\n",
    )
    with pytest.raises(CourseError, match="stands outside a function"):
        slice_exercise(small.load(), "shapes.Square")


@pytest.mark.parametrize("dotted", ["numbers.nobody", "nowhere.clamp", "numbers.AFTER", "shapes.Square.area"])
def test_an_object_that_is_missing_is_refused(small, dotted):
    """Only top-level functions and classes are objects of exercises."""
    with pytest.raises(CourseError, match=dotted):
        find_object(small.source, dotted)


def test_an_unknown_exercise_is_refused(small):
    """An id that course.toml does not list is named."""
    with pytest.raises(CourseError, match=r"no exercise 'numbers\.none'"):
        slice_exercise(small.load(), "numbers.none")

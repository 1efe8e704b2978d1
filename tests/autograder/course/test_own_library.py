"""A course says what its library is; answers in lessons are read from there, or refused with one sentence."""

import pytest

from autograder.building.build import build
from autograder.building.editions import edition_files
from autograder.building.first_course import lay_out_course
from autograder.building.slicing import slice_exercise
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.judging.judge import Judge


@pytest.fixture
def place(tmp_path):
    """A new course."""
    lay_out_course(tmp_path / "stats")
    return tmp_path / "stats"


def change(file, old, new):
    """Replace text that must be there exactly once."""
    text = file.read_text()
    assert text.count(old) == 1, (old, text.count(old))
    file.write_text(text.replace(old, new))


LESSON, TOML = "lessons/01_first.py", "course.toml"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (TOML, 'package = "none"', 'package = "none"\nmodules = 3', r"\[library\]: the key 'modules' is unknown"),
        (TOML, 'package = "none"', 'package = "a b"', r"\[library\]: 'package' is 'a b'; write the name of a package"),
        (TOML, 'package = "none"', 'package = "no_such_thing"', "there is no package 'no_such_thing', neither at"),
        (TOML, "wrong = 1", "wrong = -1", r"\[proof\]: 'wrong' is -1; write 0 or more"),
        (TOML, 'id = "first.middle"', 'id = "second.middle"', "stands in no lesson; .* is named first.NAME"),
        (TOML, '"01_first"]', '"01_first", "02_first"]', "'01_first' and '02_first' differ by their numbers alone"),
        (LESSON, '# %% tags=["check"]', "# %%", "below cell 4, an exercise, stands no visible check"),
        (LESSON, "# %% [markdown]\n# ## The middle", '# %% tags=["check"]\n# ## The', "stands below no exercise"),
        (LESSON, "def middle", "import math\n\n\ndef middle", "cell 4 holds more than first.middle"),
        (LESSON, "### BEGIN SOLUTION", "pass", "closes nothing"),
    ],
)
def test_a_contradiction_is_refused(place, file, old, new, said):
    """Each mistake is one sentence that names the file, and the remedy."""
    change(place / file, old, new)
    with pytest.raises(CourseError, match=said):
        build(place)


def test_an_edition_is_assembled_of_the_lessons_answers(place):
    """It has the setup and the exercises of a lesson, without the answer that is cut, without examples and checks."""
    text = edition_files(load_course(place), ["first.middle"])["first.py"].decode()
    assert "import math" in text and 'raise NotImplementedError("first.middle")' in text
    assert "(low + high) / 2" not in text and "assert" not in text and "Between 1 and 4" not in text


def test_a_notebook_has_the_authors_check_and_no_answer(place):
    """The graded cell holds the lesson's assertion, locked; the solution cell holds the stub."""
    build(place)
    text = (place / "notebooks" / "01_first.ipynb").read_text()
    assert "between 1 and 4 stands 2.5" in text and "YOUR CODE HERE" in text and "(low + high) / 2" not in text
    assert build(place).written == []


PACKAGE = '''
"""Numbers in the middle."""


def middle(low, high):
    """Return the number halfway between two numbers."""
    ### BEGIN SOLUTION
    return (low + high) / 2
    ### END SOLUTION


def quarter(low, high):
    """Return the number a quarter of the way."""
    return middle(low, middle(low, high))
'''

HIDDEN = '''
import pytest
from autograder import expect


@pytest.mark.exercise("first.middle", group="values", because="first.middle: 'halfway'")
def test_quarter(student):
    """The package itself calls the student's function, and a probe may import the package."""

    def observe(library, high):
        from means import first

        return [library.first.quarter(0, high), first.middle(0, high)]

    expect(student(observe, 8), [2.0, 4.0])
'''


def test_a_course_may_be_about_a_package_of_its_own(place):
    """Its sources stand beside the course; a sandbox imports a copy in which the student's function has its place."""
    package = place.parent / "src" / "means"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "first.py").write_text(PACKAGE)
    change(place / TOML, 'package = "none"', 'package = "means"')
    lesson = (place / LESSON).read_text()
    start, end = lesson.index("def middle"), lesson.index('\n\n# %% tags=["check"]')
    (place / LESSON).write_text(lesson[:start] + lesson[end:])
    (place / "hidden" / "test_first.py").write_text(HIDDEN)
    build(place)
    course = load_course(place)
    assert course.source == package and (place.parent / "notebooks" / "01_first.ipynb").is_file()
    exercise = course.exercise("first.middle")
    with Judge(course, hidden=course.hidden, shrink_seconds=0) as judge:
        assert judge.grade_text(exercise, slice_exercise(course, exercise.id).reference_cell).full
        assert judge.grade_text(exercise, "# exercise: first.middle\nfrom means.first import middle").earned == 0
        assert judge.grade_text(exercise, "# exercise: first.middle\ndef middle(low, high):\n    return 4").earned == 0

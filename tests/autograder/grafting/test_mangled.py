"""Whatever happened to a right submission: what keeps the text keeps the points, and the report says what was done."""

import copy

import manglings_of_formats  # noqa: F401 - it adds to the registry
import pytest
from manglings import MANGLINGS
from manglings_of_files import RELEASED

from autograder.building.masters import find_master
from autograder.course.loading import load_course
from autograder.grafting.collecting import regraft, take_in
from autograder.grafting.grafted import slots_of
from autograder.judging.judge import Judge
from autograder.proof.demo.typing_in import answers, fill

WHEN = "2027-01-01 10:00:00.000000 UTC"


@pytest.fixture(scope="module")
def course(root):
    """The project's own course."""
    return load_course(root / "course", tree=False)


@pytest.fixture(scope="module")
def judge(course, tmp_path_factory):
    """A judge with the course's hidden tests, which keeps what it has judged: most repairs give the same text."""
    with Judge(course, cache=tmp_path_factory.mktemp("kept")) as judge:
        yield judge


@pytest.fixture(scope="module")
def right(course):
    """The notebooks of module 1 with the library's own answers."""
    notebooks = {lesson: find_master(course, lesson) for lesson in course.assignments["module1"].lessons}
    for notebook in notebooks.values():
        RELEASED.update({slot.exercise: slot.stub for slot in slots_of(notebook)})
        fill(notebook, answers(course))
    return notebooks


@pytest.fixture
def grade(course, judge, tmp_path):
    """Take files in and judge them: reports by lesson, and everything that they say."""

    def run(files):
        for name, data in files.items():
            path = tmp_path / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        clean, originals = tmp_path / "out", tmp_path / "originals"
        take_in(course, "module1", tmp_path / "in", clean, originals, WHEN)
        grafts = {path.stem: regraft(course, path.stem, path, originals) for path in sorted(clean.glob("*.ipynb"))}
        return {lesson: judge.grade(grafted, lesson) for lesson, grafted in grafts.items()}

    return run


@pytest.mark.full("a module is judged after each of many damages", share=768)
@pytest.mark.parametrize("mangling", MANGLINGS, ids=lambda mangling: mangling.name)
def test_what_is_right_stays_right(course, grade, right, mangling):
    """Every exercise whose text can be had earns its points; the others say why not."""
    submissions = grade(mangling.mangle(copy.deepcopy(right)))
    results = [graded for submission in submissions.values() for graded in submission.exercises]
    notes = [note for submission in submissions.values() for note in submission.notes]
    notes += [note for graded in results for note in graded.notes]
    reasons = {graded.exercise: graded.reason for graded in results if not graded.full}
    assert len(results) == sum(len(course.of_lesson(lesson)) for lesson in course.assignments["module1"].lessons)
    assert set(reasons) == set(mangling.lost), (reasons, notes)
    assert all(words in reasons[exercise] for exercise, words in mangling.lost.items()), reasons
    assert not mangling.said or any(all(word in note for word in mangling.said) for note in notes), notes

"""A submission is grafted onto the notebook that was released, as far as its word can be taken."""

import pytest
from small_course import SmallCourse

from autograder.building.masters import find_master, grade_ids
from autograder.course import CourseError

LESSON = "00_numbers"


@pytest.fixture
def small(tmp_path):
    return SmallCourse(tmp_path)


def texts(notebook):
    return [cell.source for cell in notebook.cells]


def stamp(notebook):
    return notebook.metadata["minigrad"]["stamp"]


def test_without_a_build(small):
    """On a course that was never built the master is made, and nothing is written."""
    before = sorted(small.root.rglob("*"))
    master = find_master(small.load(), LESSON)
    assert "numbers-pair-check" in grade_ids(master)
    assert sorted(small.root.rglob("*")) == before


def test_the_present_release(small):
    """After a build the master is the released notebook, without answers."""
    small.build()
    master = find_master(small.load(), LESSON)
    assert stamp(master) == stamp(find_master(small.load(), LESSON, stamp(master)))
    assert not any("smallest, largest" in text for text in texts(master))


def test_an_earlier_release(small):
    """A notebook of an earlier release is grafted onto that one, if it grades the same exercises."""
    small.build()
    old = stamp(find_master(small.load(), LESSON))
    small.change(small.lesson, "Why numbers.", "Why numbers, again.")
    small.build()
    present = find_master(small.load(), LESSON)
    assert stamp(present) != old
    assert "Why numbers." in "".join(texts(find_master(small.load(), LESSON, old)))
    assert "again" in "".join(texts(find_master(small.load(), LESSON, "0123456789ab")))


@pytest.mark.parametrize("forged", ["../../etc", "", "zzzz", "0" * 100])
def test_a_forged_stamp(small, forged):
    """A stamp that names no release, or a path, gives the present master."""
    small.build()
    assert stamp(find_master(small.load(), LESSON, forged)) == stamp(find_master(small.load(), LESSON))


def test_an_earlier_release_with_other_exercises(small):
    """A release that grades other exercises is not used: its points would not be the course's."""
    small.build()
    old = stamp(find_master(small.load(), LESSON))
    (folder,) = (small.root / "course" / "masters" / old).parent.glob(old)
    path = folder / f"{LESSON}.ipynb"
    path.write_text(path.read_text().replace("numbers-clamp-check", "numbers-other-check"))
    small.change(small.lesson, "Why numbers.", "Why numbers, again.")
    small.build()
    assert stamp(find_master(small.load(), LESSON, old)) != old


def test_damaged_and_unknown(small):
    """A damaged master and an unknown lesson are one sentence each."""
    small.build()
    for path in (small.root / "course" / "masters").rglob("*.ipynb"):
        path.write_text("{")
    with pytest.raises(CourseError, match="run `autograder build`"):
        find_master(small.load(), LESSON)
    with pytest.raises(CourseError, match="the lessons are"):
        find_master(small.load(), "99_none")

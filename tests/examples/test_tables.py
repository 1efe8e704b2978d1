"""The example course whose answers use pandas and a data file: released, graded and attacked."""

import pytest
from example_courses import copied, graded, right
from small_edition import ISOLATED, available

from autograder.course.answers import wrong_answers
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.proof.attack import ATTACKS
from autograder.proof.attack.bounds import TOTAL_MB
from autograder.proof.attack.elsewhere import applied
from autograder.proof.attack.running import Arena
from autograder.proof.verify import verify
from autograder.sandbox import Limits

pytest.importorskip("pandas", reason="pandas is not installed; the extra 'examples' of pyproject.toml brings it")

LESSON = "01_tables"


@pytest.fixture(scope="module")
def example(root):
    """The course as it is committed."""
    return root / "examples" / "tables"


@pytest.fixture(scope="module")
def course(tmp_path_factory, example):
    """A copy of it, built."""
    return load_course(copied(example, tmp_path_factory.mktemp("examples")))


def test_what_is_committed_is_what_the_build_makes(example, course):
    """The students' notebook, its data file and the list of exercises are those of the lessons."""
    for name in (f"notebooks/{LESSON}.ipynb", "notebooks/temperatures.csv", "course.json"):
        assert (example / name).read_bytes() == (course.directory / name).read_bytes()


@pytest.mark.full("every answer of the example course is judged", share=4)
def test_its_hidden_tests_grade_well(course):
    """References and variants earn all points; each wrong answer is caught by the test that names it."""
    for checked in verify(course):
        assert checked.problems == () and len(checked.wrong) >= 2 and checked.variants, checked


REACH = """# exercise: tables.means
import os


def means(table):
    reached = []
    for place in ("/etc/passwd", "course.toml", "/tmp/hidden/test_tables.py"):
        try:
            reached.append(pd.read_csv(place))
        except OSError:
            pass
    for write in (pd.DataFrame.to_csv, pd.DataFrame.to_pickle):
        try:
            write(table, os.path.join(os.path.dirname(pd.__file__), "left-behind"))
            reached.append(write)
        except OSError:
            pass
    try:
        pd.read_csv("http://127.0.0.1:80/temperatures.csv")
        reached.append("network")
    except OSError as error:
        if "not permitted" not in str(error).lower() and "not supported" not in str(error).lower():
            reached.append(str(error))
    raise ValueError(f"reached {reached}")
"""


@pytest.mark.full("a sandbox of each kind is started", share=4)
@pytest.mark.parametrize("isolation", available(ISOLATED))
def test_pandas_opens_no_door(course, isolation):
    """Its readers and writers meet the same walls as all other code: no file, no network, no change of a package."""
    with Judge(course, isolation=isolation, shrink_seconds=0) as judge:
        judged = judge.grade_text(course.exercise("tables.means"), REACH)
    assert not judged.earned
    assert all("ValueError: reached []" in verdict.reason for verdict in judged.verdicts), judged.verdicts


HUGE = """# exercise: tables.means
def means(table):
    return pd.concat([table] * 10**9).groupby("city")["degrees"].mean()
"""


def test_a_table_without_end_is_ended(course):
    """Memory and time that pandas takes are the student's, and the next answer is graded as ever."""
    exercise = course.exercise("tables.means")
    with Judge(course, shrink_seconds=0) as judge:
        assert judge.grade_text(exercise, HUGE).earned == 0
        assert judge.grade_text(exercise, right(course)["tables.means"]).earned == 4


def one_wrong(course):
    """One of them replaced by a known-wrong one, which costs the two points of a group."""
    return {**right(course), "tables.means": wrong_answers(course.directory, "tables.means")["missing-as-zero"]}


@pytest.mark.full("nbgrader releases and collects, and a class is graded", share=48)
def test_a_class_is_graded_by_nbgrader(example, tmp_path):
    """A right and a wrong student get what their answers are worth; the data file is released with the notebook."""
    assert graded(example, tmp_path, {"ada": right, "bea": one_wrong}) == {"ada": 10, "bea": 8}
    (released,) = (tmp_path / "out").rglob("release/week1/temperatures.csv")
    assert released.read_bytes() == (example / "data/week1/temperatures.csv").read_bytes()


@pytest.fixture(scope="module")
def arena(tmp_path_factory, example):
    limits = Limits(cell_seconds=1, test_seconds=2, submission_seconds=8, total_mb=TOTAL_MB)
    with Arena(tmp_path_factory.mktemp("attack") / "arena", example, limits=limits) as arena:
        yield arena


@pytest.mark.full("one of many attacks", share=160)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_wins_nothing(arena, name):
    """A package of the course gives no attack points, secrets, files or processes."""
    for attack in applied([ATTACKS[name]], arena.target, arena.released):
        assert arena.run(attack).problems == ()


@pytest.mark.full("files are compared after all attacks", share=160)
def test_nothing_is_changed_by_all_of_them(arena):
    """After the attacks of this run everything is as it was."""
    assert arena.finish() == []

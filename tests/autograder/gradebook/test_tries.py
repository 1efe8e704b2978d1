"""Limits of `autograder serve`: when a hand-in may be graded, by a clock of the test's own, and what its page shows."""

import datetime as dt

import pytest
from nbgrader.api import Base, Gradebook
from small_course import SmallCourse
from sqlalchemy import create_engine

from autograder.course import CourseError, Serving
from autograder.course.extensions import Extension, write_extension
from autograder.gradebook.dates import Dates
from autograder.gradebook.tries import earliest, shown
from autograder.results import NOT_BEGUN, Example, Graded, GroupScore, Verdict
from autograder.results.shortening import outlined, when_all

# SQLAlchemy remarks on the order in which nbgrader makes its own rows; they are made all the same.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")

ZONE = dt.timezone(dt.timedelta(hours=1))


def at(hour, minute=0, day=1):
    """A moment of February 2027."""
    return dt.datetime(2027, 2, day, hour, minute, tzinfo=ZONE)


def may(now, tries, serving, deadline=None, arrived=None):
    """When a hand-in that came a minute ago may be graded."""
    return earliest(now, arrived or now - dt.timedelta(minutes=1), tries, serving, deadline)


def test_the_first_is_graded_at_once():
    """Nothing keeps a student's first hand-in."""
    assert may(at(9), [], Serving(1, 600)) == at(9)


def test_a_day_has_so_many_tries():
    """The next one waits until midnight, in the zone of the clock; yesterday's do not count."""
    two = Serving(tries_per_day=2, wait=0)
    assert may(at(9), [at(8)], two) == at(9)
    assert may(at(9), [at(7), at(8)], two) == at(0, day=2)
    assert may(at(0, 1, day=2), [at(7), at(8)], two) == at(0, 1, day=2)
    in_utc = [each.astimezone(dt.UTC) for each in (at(0, 10), at(0, 20))]  # the day before, in UTC
    assert may(at(9), in_utc, two) == at(0, day=2)


def test_minutes_between_two_tries():
    """The wait counts from the last try, also over midnight."""
    slow = Serving(tries_per_day=5, wait=30)
    assert may(at(9), [at(7), at(8, 45)], slow) == at(9, 15)
    assert may(at(0, 5, day=2), [at(23, 55)], slow) == at(0, 25, day=2)
    assert may(at(9, 15), [at(8, 45)], slow) == at(9, 15)


def test_the_due_date_ends_the_wait():
    """What came in time is graded at the due date at the latest; what comes later has the same limits."""
    one = Serving(tries_per_day=1, wait=0)
    assert may(at(9), [at(8)], one, deadline=at(12)) == at(12)
    assert may(at(12, 1), [at(8)], one, deadline=at(12), arrived=at(9)) == at(12)
    assert may(at(13), [at(8)], one, deadline=at(12), arrived=at(12, 30)) == at(0, day=2)


def test_a_hand_in_is_no_try_before_itself():
    """A run that was killed after it had kept the original, and before it had graded it, has cost nothing."""
    one = Serving(tries_per_day=1, wait=60)
    assert may(at(9), [at(8, 58)], one, arrived=at(8, 57)) == at(9)


SERVE = '\n[serve]\ntries_per_day = 3\nwait = 5\nshows = "points"\n'


@pytest.fixture
def course(tmp_path):
    """A course that is served; week0 is due on the 1st of February at 23:59 UTC, week1 has no date."""
    small = SmallCourse(tmp_path)
    small.toml.write_text(small.toml.read_text() + SERVE)
    return small.load()


def kind(course, assignment, now):
    """What pages show at a time."""
    return shown(Dates(course), assignment, now).kind


def made_gradebook(course):
    """Make an empty gradebook, and return its address."""
    url = f"sqlite:///{course.directory}/gradebook.db"
    engine = create_engine(url)
    Base.metadata.create_all(engine)  # without it nbgrader starts alembic
    engine.dispose()
    return url


def test_all_is_shown_when_nobody_has_time_left(course):
    """Pages show little until the last extension is over: students talk to each other."""
    due = course.assignments["week0"].due
    minute = dt.timedelta(minutes=1)
    assert [kind(course, "week0", due + each) for each in (-minute, minute)] == ["points", "all"]
    write_extension(course.directory, "week0", "ada", Extension(days=2))
    assert kind(course, "week0", due + dt.timedelta(days=1)) == "points"
    assert kind(course, "week0", due + dt.timedelta(days=2)) == "all"
    assert Dates(course).for_student("week0", "ada").deadline == due + dt.timedelta(days=2)
    assert Dates(course).for_student("week0", "bea").deadline == due
    assert kind(course, "week1", due + dt.timedelta(days=900)) == "points"


def test_dates_that_only_nbgraders_database_has(course):
    """A due date of Formgrader's ends what pages hold back, and an extension of nbgrader's keeps it longer."""
    due = dt.datetime(2027, 3, 1, 12, tzinfo=dt.UTC)
    with Gradebook(made_gradebook(course), "small") as gradebook:
        gradebook.add_assignment("week1", duedate=due.replace(tzinfo=None))
        gradebook.add_student("ada")
        gradebook.add_submission("week1", "ada")
        assert [kind(course, "week1", due + dt.timedelta(minutes=each)) for each in (-1, 0)] == ["points", "all"]
        gradebook.grant_extension("week1", "ada", hours=5)
        end = Dates(course).of(gradebook.find_submission("week1", "ada")).deadline
    assert end == due + dt.timedelta(hours=5)
    assert [kind(course, "week1", end + dt.timedelta(minutes=each)) for each in (-1, 0)] == ["points", "all"]


def test_pages_say_when_the_rest_is_shown(course):
    """After the due date, where there is one; else from the day on which the answers are open, if one is known."""
    before = dt.datetime(2027, 1, 1, tzinfo=dt.UTC)
    assert shown(Dates(course), "week0", before).rest == "The whole report is shown after the due date."
    said = "The whole report is not shown: the assignment has no due date."
    assert shown(Dates(course), "week1", before).rest == said
    day = dt.date(2027, 2, 15)
    assert when_all(day, is_dated=False) == "The whole report is shown from 2027-02-15, when the answers are open."


def test_dates_that_only_sections_have(tmp_path):
    """The last section's date is the end, if everybody is in a section that has one."""
    small = SmallCourse(tmp_path)
    sections = '[[section]]\nname = "mon"\ndue = { week1 = 2027-02-08T12:00:00Z }\n[[section]]\nname = "tue"\n'
    small.toml.write_text(f"{small.toml.read_text()}{SERVE}{sections}due = {{ week1 = 2027-02-09T12:00:00Z }}\n")
    course, due = small.load(), dt.datetime(2027, 2, 9, 12, tzinfo=dt.UTC)
    table = course.directory / "sections.csv"
    table.write_text("student_id,section\nada,mon\nbea,tue\n")
    assert kind(course, "week1", due) == "points"  # who is in the class is not known yet
    with Gradebook(made_gradebook(course), "small") as gradebook:
        assert kind(course, "week1", due) == "points"
        gradebook.add_student("ada")
        gradebook.add_student("cem")
    assert kind(course, "week1", due) == "points"
    table.write_text("student_id,section\nada,mon\nbea,tue\ncem,mon\n")
    assert [kind(course, "week1", due + dt.timedelta(minutes=each)) for each in (-1, 0)] == ["points", "all"]
    write_extension(course.directory, "week1", "cem", Extension(days=3))
    assert [kind(course, "week1", due + dt.timedelta(days=each)) for each in (1, 2)] == ["points", "all"]


def test_a_course_that_is_not_served_shows_all(tmp_path):
    """Without the table, pages are what they were."""
    assert kind(SmallCourse(tmp_path).load(), "week0", at(9)) == "all"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tries_per_day = 0", "'tries_per_day' is 0; write 1 or more"),
        ("tries_per_day = 2.5", "'tries_per_day' is a number; write a whole number"),
        ("wait = -1", "'wait' is -1; write a number above 0, or 0"),
        ("wait = 2000", "'wait' is 2000 minutes, more than a day; write at most 1440"),
        ('shows = "none"', "'shows' is 'none'; write 'points', 'groups' or 'all'"),
        ("trys = 3", "the key 'trys' is unknown; remove it or correct its spelling"),
    ],
)
def test_a_wrong_setting_is_one_sentence(tmp_path, line, said):
    """It names the file, the table and the key."""
    small = SmallCourse(tmp_path)
    small.toml.write_text(f"{small.toml.read_text()}\n[serve]\n{line}\n")
    with pytest.raises(CourseError) as caught:
        small.load()
    assert str(caught.value) == f"course.toml: [serve]: {said}"


def test_settings_that_are_left_out(tmp_path):
    """An empty table has the usual limits, which the guide names."""
    small = SmallCourse(tmp_path)
    small.toml.write_text(f"{small.toml.read_text()}\n[serve]\n")
    assert small.load().serving == Serving(tries_per_day=10, wait=1.0, shows="groups")


def test_an_outline_says_points_alone():
    """Neither which test failed, nor an input, nor a word that the code said is in it; points are the same."""
    example = Example(given=(("x", "41414.25"),))
    failed = Verdict(
        "test_add", "add adds.", "values", "lesson 00", False, "got leak", "use +", "not-a-sum", example=example
    )
    groups = (GroupScore("values", 2, 0), GroupScore("special", 1, 1))
    graded = Graded("operators.arithmetic", 3, groups, (failed,), notes=("added cell 2: it printed leak", "kept"))
    for with_groups in (True, False):
        outline = outlined(graded, "The rest is shown later.", groups=with_groups)
        assert (outline.earned, outline.points, outline.verdicts) == (1, 3, ())
        said = " ".join((outline.reason, *outline.notes))
        assert "leak" not in said and "add adds" not in said and "kept" in said and "is shown later." in said
        assert ("Points by group: values 0 of 2, special 1 of 1." in said) == with_groups
    begun = next(iter(NOT_BEGUN))
    assert outlined(Graded("a.b", 1, (GroupScore("v", 1, 0),), reason=begun), "", groups=True).reason == begun
    stopped = Graded("a.b", 1, (GroupScore("v", 1, 0),), reason="the cell raised ValueError: leak")
    assert "leak" not in outlined(stopped, "", groups=True).reason

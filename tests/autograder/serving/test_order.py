"""Which hand-in `autograder serve` takes next, and what becomes of one that cannot be graded: no sandbox is started."""

import datetime as dt
import json

import pytest
from nbgrader.api import Base, Gradebook
from small_course import SmallCourse
from sqlalchemy import create_engine

from autograder.classes import Outcome, Work
from autograder.course import Serving
from autograder.course.classlist import read_class_list
from autograder.course.extensions import Extension, write_extension
from autograder.gradebook.class_feedback import Made
from autograder.gradebook.dates import AGE, Dates
from autograder.gradebook.inbox import HandIn
from autograder.grafting.tidying import ORIGINALS
from autograder.serving import AGAIN, Session
from autograder.serving.status import Status

# SQLAlchemy remarks on the order in which nbgrader makes its own rows; they are made all the same.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")

BEGUN = dt.datetime(2026, 2, 1, 9, tzinfo=dt.UTC)


class Exchange:
    """An exchange of which a test says what was handed in, collected, graded and released."""

    folder = None

    def __init__(self):
        self.attempts = 0
        self.came, self.collected, self.graded, self.out, self.refuses, self.taken = [], set(), set(), set(), {}, []

    def hand_in(self, student, minute, assignment="week0"):
        at = BEGUN + dt.timedelta(minutes=minute)
        self.came.append(HandIn(Work(student, assignment), f"{student}-{minute}", at.replace(tzinfo=None), at))
        return self.came[-1]

    def newest(self, names):
        found = {each.work: each for each in sorted(self.came, key=lambda each: each.when)}
        return sorted(found.values(), key=lambda each: each.name, reverse=True)

    def sentences(self):
        return []

    def is_collected(self, hand_in):
        return any(each.work == hand_in.work and each.when >= hand_in.when for each in self.collected)

    def is_current(self, hand_in):
        return hand_in in self.collected

    def is_graded(self, hand_in):
        return hand_in in self.graded

    def collect(self, hand_ins):
        self.attempts += len(hand_ins)
        refused = {each: self.refuses[each.name] for each in hand_ins if each.name in self.refuses}
        self.taken += [each.name for each in hand_ins if each not in refused]
        self.collected |= {each for each in hand_ins if each not in refused}
        return refused

    def is_out(self, student):
        return student in self.out

    def release(self, students):
        self.out |= set(students)
        return {}


class Grader:
    """Grades what it is given, at the look after the next."""

    def __init__(self):
        self.works, self.ready, self.problem = [], [], ""

    def add(self, works):
        self.works += works

    def outcomes(self):
        done, self.ready, self.works = self.ready, self.works, []
        return [Outcome(work, (), False, self.problem) for work in done]


class Pages:
    """Makes pages at once, unless they are to take long."""

    def __init__(self):
        self.waiting, self.takes_long = [], False

    def add(self, assignment, student):
        self.waiting.append((assignment, Made(student)))

    def made(self):
        if self.takes_long:
            return []
        done, self.waiting = self.waiting, []
        return done


class Everything:
    """Claims and a recorder that always succeed."""

    def take(self, task, *_):
        return "" if isinstance(task, str) else task

    def give_back(self, task):
        pass


@pytest.fixture
def clock(monkeypatch):
    """The seconds that a test lets go by."""
    seconds = [0.0]
    monkeypatch.setattr("autograder.serving.time.monotonic", lambda: seconds[0])
    monkeypatch.setattr("autograder.serving.listed", lambda folder: [each.name for each in exchange_of[0].came])
    return seconds


exchange_of = []


@pytest.fixture
def served(tmp_path, clock, monkeypatch):
    """A session with two processes; returns it with its exchange, and what it says."""
    small = SmallCourse(tmp_path)
    small.toml.write_text(f"{small.toml.read_text()}\n[serve]\nwait = 0\n")
    exchange, said = Exchange(), []
    exchange_of[:] = [exchange]
    status = Status(tmp_path / "reports", 2, BEGUN)
    session = Session(small.load(), lambda _: ["week0"], status, said.append)
    session._inboxes, session._grading = {"week0": exchange}, Grader()
    session._claims, session._recorders, session._makers = Everything(), {"week0": Everything()}, Pages()
    monkeypatch.setattr(session, "_has_changed", lambda: False)
    return session, exchange, said


def go(session, clock, looks=1):
    """Let the session look so many times, a second and a half apart, and then end."""
    left = [looks]

    def stopping():
        clock[0] += 1.5
        left[0] -= 1
        return left[0] < 0

    session.run(stopping)


def test_hand_ins_are_taken_in_the_order_in_which_they_came(served, clock):
    """Three of four are begun at once: one for each process, and one more."""
    session, exchange, _ = served
    for student, minute in (("dan", 4), ("ada", 1), ("cem", 3), ("bea", 2)):
        exchange.hand_in(student, minute)
    go(session, clock)
    assert exchange.taken == ["ada-1", "bea-2", "cem-3"]
    go(session, clock)
    assert exchange.taken == ["ada-1", "bea-2", "cem-3", "dan-4"]
    assert exchange.out == {"ada", "bea", "cem", "dan"}


def test_pages_that_take_long_keep_nobody_waiting(served, clock):
    """Others are taken in and graded while pages are made; a student's own next hand-in waits for them."""
    session, exchange, _ = served
    session._makers.takes_long = True
    for minute, student in enumerate(("ada", "bea", "cem", "dan", "eve")):
        exchange.hand_in(student, minute)
    left = [8]

    def stopping():
        clock[0] += 1.5
        left[0] -= 1
        if left[0] == 4:
            exchange.hand_in("ada", 9)
        if left[0] == 0:
            assert exchange.taken == ["ada-0", "bea-1", "cem-2", "dan-3", "eve-4"] and not exchange.out
            session._makers.takes_long = False
        return left[0] < -3

    session.run(stopping)
    assert exchange.taken[5:] == ["ada-9"] and exchange.out == {"ada", "bea", "cem", "dan", "eve"}


def test_of_several_hand_ins_the_newest_is_graded(served, clock):
    """An older one that still waits is left in the exchange; a newer one that comes later is graded as well."""
    session, exchange, _ = served
    exchange.hand_in("ada", 1)
    exchange.hand_in("ada", 2)
    go(session, clock, looks=3)
    assert exchange.taken == ["ada-2"]
    exchange.hand_in("ada", 5)
    go(session, clock, looks=3)
    assert exchange.taken == ["ada-2", "ada-5"]


def test_a_group_has_the_tries_of_one_student(served, clock):
    """Of hand-ins that wait together the newest is graded, and all are taken in; the next one waits for the limit."""
    session, exchange, said = served
    (session._root / "groups.csv").write_text("group,student_id\nreds,ada\nreds,bea\nreds,cem\n")
    session._classmates = read_class_list(session._course)
    session._limits = Serving(tries_per_day=1, wait=0)
    newest = [exchange.hand_in(student, minute) for minute, student in enumerate(("ada", "bea", "cem"))][-1]
    graded = []
    session._grading.add = lambda works: graded.extend(works)
    session._look()
    session._begin()
    assert graded == [newest.work] and sorted(exchange.taken) == ["ada-0", "bea-1", "cem-2"]
    session._at.clear()
    (session._root / ORIGINALS / "cem" / "week0" / "content").mkdir(parents=True)
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=1)
    exchange.came.append(HandIn(Work("ada", "week0"), "ada-late", soon.replace(tzinfo=None), soon))
    exchange.say = lambda hand_in, sentence: None
    clock[0] += 100
    session._look()
    session._begin()
    assert graded == [newest.work] and any("ada: week0 waits until" in each for each in said)


@pytest.fixture
def undated(tmp_path, served):
    """A session that serves an assignment without a due date in course.toml, of which ada has submitted something."""
    session, exchange, _ = served
    url = f"sqlite:///{session._root}/gradebook.db"
    engine = create_engine(url)
    Base.metadata.create_all(engine)  # without it nbgrader starts alembic
    engine.dispose()
    with Gradebook(url, "small") as gradebook:
        gradebook.add_assignment("week1")
        gradebook.add_student("ada")
        gradebook.add_submission("week1", "ada")
        session._assignments, session._inboxes = ("week1",), {"week1": exchange}
        session._limits, session._hidden = Serving(tries_per_day=9, wait=600), session._root
        (session._root / ORIGINALS / "ada" / "week1" / "content").mkdir(parents=True)
        exchange.say = lambda hand_in, sentence: None
        yield session, exchange, gradebook


def test_limits_know_dates_that_stand_in_nbgraders_database_alone(undated, clock):
    """Work that waits is graded at the due date that Formgrader set, with the extension that nbgrader granted."""
    session, exchange, gradebook = undated
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1)
    exchange.came.append(HandIn(Work("ada", "week1"), "ada-1", soon.replace(tzinfo=None), soon))
    session._look()
    row = gradebook.find_submission("week1", "ada")
    for minutes in (0, 30):
        gradebook.update_or_create_assignment("week1", duedate=soon.replace(tzinfo=None) + dt.timedelta(hours=1))
        gradebook.grant_extension("week1", "ada", minutes=minutes)
        clock[0] += AGE
        assert not session._may_begin(exchange.came[0])
        assert session._from["ada-1"] == Dates(session._course).of(row).deadline
        assert session._from["ada-1"] == soon + dt.timedelta(minutes=60 + minutes)


def test_another_date_in_nbgraders_database_begins_a_new_session(undated, clock):
    """It is noticed as a changed file is; a copy of what extensions.json has changes nothing."""
    session, _, gradebook = undated
    write_extension(session._root, "week1", "ada", Extension(days=1))
    session._dates = Dates(session._course, session._dates._rows)

    def states():
        clock[0] += AGE
        return session._follows()

    seen = [states()]
    for days in (0, 2):
        gradebook.update_or_create_assignment("week1", duedate=dt.datetime(2127, 1, 1 + days))
        seen.append(states())
    Dates(session._course).put(gradebook, "week1")
    assert gradebook.find_submission("week1", "ada").extension == dt.timedelta(days=1)
    assert states() == seen[-1]
    gradebook.add_student("bea")
    gradebook.add_submission("week1", "bea")
    assert states() == seen[-1]
    gradebook.grant_extension("week1", "bea", days=3)
    seen.append(states())
    assert len(set(seen)) == 4


def test_new_hand_ins_come_before_pages_of_old_ones(served, clock):
    """After a restart nobody waits until the pages of the whole class were looked at; what is graded is not graded."""
    session, exchange, said = served
    old = exchange.hand_in("old", 1)
    exchange.collected.add(old)
    exchange.graded.add(old)
    exchange.hand_in("new", 2)
    assert [each.work.student for each in _looked(session)] == ["new", "old"]
    go(session, clock, looks=2)
    assert exchange.taken == ["new-2"] and exchange.out == {"new", "old"}
    assert "old: week0: its page is handed out" in said
    assert session._status.graded == 1


def _looked(session):
    session._look()
    return session._queue()


def test_a_refused_one_is_tried_again_after_a_while(served, clock):
    """It says why, once, and keeps nobody waiting; a minute later the disk has room."""
    session, exchange, said = served
    exchange.hand_in("ada", 1)
    exchange.hand_in("bea", 2)
    exchange.refuses["ada-1"] = "ada: could not be collected: No space left on device"
    go(session, clock, looks=5)
    assert exchange.taken == ["bea-2"] and exchange.attempts == 2 and sum("No space" in each for each in said) == 1
    state = json.loads((session._status.folder / "serve.json").read_text())
    assert [(each["student"], each["state"]) for each in state["hand_ins"]] == [("ada", "refused")]
    assert "No space left" in state["hand_ins"][0]["said"]
    assert "No space left" in (session._status.folder / "serve.html").read_text()
    exchange.refuses.clear()
    clock[0] += AGAIN
    go(session, clock, looks=2)
    assert exchange.taken == ["bea-2", "ada-1"]


def test_what_has_begun_is_finished_before_the_end(served, clock):
    """Asked to stop, it begins nothing more, and leaves no hand-in between two steps."""
    session, exchange, _ = served
    exchange.hand_in("ada", 1)
    session._look()
    session._begin()
    exchange.hand_in("bea", 2)
    go(session, clock, looks=0)
    assert exchange.taken == ["ada-1"] and exchange.out == {"ada"}


def test_a_page_escapes_what_students_chose(served, clock):
    """A name in the exchange is text on the instructor's page."""
    session, exchange, _ = served
    exchange.hand_in("<script>", 1)
    exchange.refuses["<script>-1"] = "<b>no</b>"
    go(session, clock, looks=2)
    page = (session._status.folder / "serve.html").read_text()
    assert "<script>" not in page and "&lt;script&gt;" in page and "<b>no" not in page

"""`autograder serve`: each hand-in is marked once, in the order of arrival, whatever ends the command in between."""

import contextlib
import datetime as dt
import json
import shutil
import signal
import subprocess

import pytest
from class_runs import again, files, grade, rows, times
from nbgrader.api import Gradebook
from served_courses import NO_LIMITS, Served, hand_in, pages, served_course
from two_lessons import ARITHMETIC, COMPARISON
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.gradebook.exchange import GraftingCollect
from autograder.gradebook.inbox import Inbox, listed
from autograder.gradebook.settings import load_app
from autograder.serving import Only

WRONG = ARITHMETIC.replace("x + y", "x - y")
ENDLESS = COMPARISON.replace("return 1.0 if x < y else 0.0", "\n    while True:\n        pass")
CLASS = {
    "ada": (ARITHMETIC, COMPARISON),
    "bea": (WRONG, COMPARISON),
    "cem": ("", COMPARISON),
    "eve": (ARITHMETIC, ENDLESS),
    "fox": (WRONG + "# fox\n", ""),
    "lea": (ARITHMETIC + "# lea\n", COMPARISON + "# lea\n"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course that was released into an exchange of its own."""
    return served_course(tmp_path_factory.mktemp("serve"))


@pytest.fixture
def course(made, tmp_path):
    """The same course again."""
    return again(made, tmp_path / "copy")


@pytest.mark.full("a class hands in while the command is killed twice", share=12)
def test_a_class_hands_in_while_it_is_killed(course):
    """Each hand-in that counts is graded once, none is lost, and marks and files are those of `autograde`."""
    other = again(course, course.parent.parent / "other")
    mine, before = {}, {}
    for student, texts in CLASS.items():
        mine[student] = hand_in(course, student, texts)
    for goal in (1, 3):
        served = Served(course)
        assert served.until(lambda goal=goal: sum(len(pages(each)) == 2 for each in mine.values()) >= goal)
        assert served.end(signal.SIGKILL) == -signal.SIGKILL
        done = {student for student, folder in mine.items() if len(pages(folder)) == 2 and student != "ada"}
        before |= {name: when for name, when in times(course).items() if name.parts[1] in done}
        if goal == 1:
            mine["ada"] = hand_in(course, "ada", (ARITHMETIC + "# again\n", ""))
    served = Served(course)
    assert served.until(lambda: all(len(pages(each)) == 2 for each in mine.values()))
    assert served.end(signal.SIGTERM) == 0, served.log.read_text()
    assert before.items() <= times(course).items(), "a notebook was graded twice"
    assert "Traceback" not in served.log.read_text()

    shutil.copytree(course / "exchange", other / "exchange", dirs_exist_ok=True)
    configured = load_app(other, "week0")
    GraftingCollect(coursedir=configured.coursedir, parent=configured).start()
    grade(other)
    assert rows(course) == rows(other)
    assert files(course) == files(other)
    state = json.loads((course / "reports" / "serve.json").read_text())
    assert state["hand_ins"] == [] and state["seconds"]["worst"] > 0
    assert "Points by group" not in pages(mine["bea"])[0].read_text()


@pytest.mark.full("hand-ins are graded", share=12)
def test_what_is_over_the_limit_waits_and_its_page_says_so(course):
    """The second hand-in of a day has a page that says until when; a limit that is changed lets it in at once."""
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace("tries_per_day = 100", "tries_per_day = 1"))
    first = hand_in(course, "ada", CLASS["bea"])
    served = Served(course)
    assert served.until(lambda: len(pages(first)) == 2)
    second = hand_in(course, "ada", CLASS["ada"])
    assert served.until(lambda: len(pages(second)) == 2)
    assert "1 submission a day is graded" in pages(second)[0].read_text()
    assert times(course) and json.loads((course / "submitted" / "ada" / "week0" / "00_numbers.ipynb").read_text())
    assert "x - y" in (course / "submitted" / "ada" / "week0" / "00_numbers.ipynb").read_text()
    toml.write_text(toml.read_text().replace("tries_per_day = 1", "tries_per_day = 2"))
    assert served.until(lambda: "1 submission a day" not in pages(second)[0].read_text())
    assert served.end(signal.SIGTERM) == 0, served.log.read_text()
    assert "ada: week0: 7 of 7 points" in served.log.read_text()
    assert "ada: week0 waits until" in served.log.read_text()


@pytest.mark.full("hand-ins are graded", share=12)
def test_a_hand_in_of_a_group_is_every_members(course):
    """Whoever hands in, all members have the marks, and a new page if they handed in before; none is refused."""
    (course / "groups.csv").write_text("group,student_id\nreds,ada\nreds,bea\nreds,cem\n")
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        for student in ("ada", "bea", "cem"):  # who is in the class and hands in nothing has the mark too
            gradebook.update_or_create_student(student)
    first = hand_in(course, "ada", CLASS["bea"])
    served = Served(course)
    assert served.until(lambda: len(pages(first)) == 2)
    old = pages(first)[0].read_bytes()
    second = hand_in(course, "bea", CLASS["ada"])
    assert served.until(lambda: len(pages(second)) == 2 and pages(first)[0].read_bytes() != old)
    assert served.end(signal.SIGTERM) == 0
    scores = {student: [] for student in ("ada", "bea", "cem")}
    for student, _, score, *_ in rows(course)["grade"]:
        scores[student].append(score)
    assert {student: sum(own) for student, own in scores.items()} == {"ada": 7, "bea": 7, "cem": 7}
    assert "refused" not in served.log.read_text() and "Traceback" not in served.log.read_text()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, that a test can fill."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here, for which one must be root: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(path):
    """Write a file until the disk is full."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"0" * size):
                    pass


@pytest.mark.full("hand-ins are graded, one of them on a full disk", share=12, minutes=4)
def test_a_full_disk_loses_no_hand_in(made, small_disk, tmp_path):
    """What the disk refuses is said and tried again; when there is room it is graded, once, as all the others."""
    course = again(made, small_disk / "copy")
    shutil.move(course / "exchange", tmp_path)
    (course / "exchange").symlink_to(tmp_path / "exchange")
    first = hand_in(course, "ada", CLASS["ada"])
    served = Served(course, log=tmp_path / "serve.log")
    assert served.until(lambda: len(pages(first)) == 2)
    before, ballast = times(course), small_disk / "ballast"
    fill(ballast)
    second = hand_in(course, "bea", CLASS["bea"])
    assert served.until(lambda: "bea: week0 is refused: " in served.log.read_text())
    assert "No space left" in served.log.read_text() and pages(second) == []
    ballast.unlink()
    assert served.until(lambda: len(pages(second)) == 2)
    assert served.end(signal.SIGTERM) == 0
    assert "bea: week0: 5 of 7 points" in served.log.read_text() and "Traceback" not in served.log.read_text()
    assert before.items() <= times(course).items() and len(rows(course)["submission"]) == 2


@pytest.mark.full("a class is graded by two commands", share=12, minutes=4)
def test_autograde_may_run_beside_it(course):
    """The two share the notebooks: each hand-in has its pages, and the marks are those of one command alone."""
    other = again(course, course.parent.parent / "other")
    mine = {student: hand_in(course, student, CLASS[student]) for student in ("ada", "bea", "cem")}
    served = Served(course)
    assert served.until(lambda: any(len(pages(each)) == 2 for each in mine.values()))
    mine |= {student: hand_in(course, student, CLASS[student]) for student in ("fox", "lea")}
    words = [*served.program, "autograde", "week0", "--course", str(course)]
    while not all(len(pages(each)) == 2 for each in mine.values()):
        ran = subprocess.run(words, capture_output=True, text=True, env=served.environment, check=False)
        assert ran.returncode == 0 and served.process.poll() is None, ran.stdout + ran.stderr + served.log.read_text()
    assert served.end(signal.SIGTERM) == 0 and "Traceback" not in served.log.read_text()
    shutil.copytree(course / "exchange", other / "exchange", dirs_exist_ok=True)
    configured = load_app(other, "week0")
    GraftingCollect(coursedir=configured.coursedir, parent=configured).start()
    grade(other)
    assert rows(course) == rows(other) and files(course) == files(other)


@pytest.fixture(scope="module")
def inbox(made, tmp_path_factory):
    """The exchange of a course in which nothing is graded."""
    copy = again(made, tmp_path_factory.mktemp("inbox") / "copy")
    return Inbox(load_course(copy, tree=False), "week0")


def names(inbox):
    """Who is found with which hand-in."""
    return {each.work.student: each.name for each in inbox.newest(listed(inbox.folder))}


def test_the_newest_whole_hand_in_is_found(inbox, monkeypatch):
    """Older ones stay; one that is still being written counts when its last file is there, or nothing changes it."""
    course = inbox.folder.parents[2]
    now = dt.datetime.now(dt.UTC)
    hand_in(course, "ada", CLASS["ada"], now - dt.timedelta(hours=1))
    newer = hand_in(course, "ada", CLASS["ada"], now)
    half = hand_in(course, "bea", CLASS["bea"])
    (half / "submission_secret.txt").unlink()
    (inbox.folder / f"cem+week0+{now} UTC+x").write_text("a file")
    (inbox.folder / "eve+week0+no time+x").mkdir()
    (inbox.folder / "eve+week01+2027-01-01 00:00:00 UTC+x").mkdir()
    assert names(inbox) == {"ada": newer.name}
    assert any("no time" in sentence for sentence in inbox.sentences()) and inbox.sentences() == []
    monkeypatch.setattr("autograder.gradebook.inbox.SETTLED", 0.0)
    assert names(inbox) == {"ada": newer.name, "bea": half.name}


def test_a_hand_in_that_the_disk_refuses_is_said(inbox, monkeypatch):
    """The reason is the sentence of the step; nothing counts as collected, and the next attempt collects it."""
    course = inbox.folder.parents[2]
    hand_in(course, "fox", CLASS["fox"])
    (mine,) = (each for each in inbox.newest(listed(inbox.folder)) if each.work.student == "fox")
    with monkeypatch.context() as patch:

        def full(*_):
            raise OSError(28, "No space left on device")

        patch.setattr("autograder.gradebook.exchange.snapshot", full)
        assert inbox.collect([mine]) == {mine: "fox: could not be collected: [Errno 28] No space left on device"}
    assert not inbox.is_collected(mine)
    assert inbox.collect([mine]) == {}
    assert inbox.is_current(mine) and not inbox.is_graded(mine) and not inbox.is_out("fox")


def test_a_second_one_is_refused(course, monkeypatch):
    """One command serves a course at a time; when it has ended, the next one may."""
    monkeypatch.setattr("autograder.serving.PATIENCE", 0.0)
    loaded = load_course(course, tree=False)
    with Only(loaded), pytest.raises(CourseError, match="another `autograder serve` is at this course"):
        Only(loaded)
    with Only(loaded):
        pass


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("week9",), "there is no assignment 'week9'"),
        (("week0",), "week0 is not released; run `autograder term release week0` first"),
    ],
)
def test_a_mistake_is_one_sentence(course, words, said):
    """What is not released cannot be handed in, and so is not served."""
    shutil.rmtree(course / "exchange" / "minigrad" / "outbound")
    result = CliRunner().invoke(app, ["serve", *words, "--course", str(course)])
    assert result.exit_code == 2 and said in " ".join(result.output.split()), result.output


def test_what_is_released_later_is_served_too(course, tmp_path):
    """The command may begin before the first release, as a service does, and takes up each one that follows."""
    outbound, away = course / "exchange" / "minigrad" / "outbound" / "week0", tmp_path / "away"
    outbound.rename(away)
    served = Served(course, names=())
    assert served.until(lambda: "serving nothing until an assignment is released" in served.log.read_text())
    away.rename(outbound)
    folder = hand_in(course, "ada", (ARITHMETIC, COMPARISON))
    assert served.until(lambda: len(pages(folder)) == 2)
    assert "serving week0" in served.log.read_text()
    assert served.end(signal.SIGTERM) == 0


def test_a_course_without_limits_is_not_served(course):
    """Nobody's hidden tests can be asked without end because a table was forgotten."""
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace(NO_LIMITS, ""))
    result = CliRunner().invoke(app, ["serve", "--course", str(course)])
    assert result.exit_code == 2 and "has no table [serve]" in " ".join(result.output.split()), result.output

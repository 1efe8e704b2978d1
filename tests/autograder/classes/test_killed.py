"""A class that is graded survives whatever stops it, and is graded alike however it is shared out."""

import os
import random
import re
import signal
import time
from pathlib import Path

import pytest
from class_runs import again, files, grade, hand_in, rows, times
from nbgrader.converters import GenerateFeedback
from places import ROOT
from processes import descendants, is_running, left_aside, standing, until
from two_lessons import ARITHMETIC, COMPARISON, make_course

from autograder.classes import grade_class, handed_in
from autograder.course.loading import load_course
from autograder.gradebook.settings import load_app
from autograder.grafting.tidying import put_back, tidy
from autograder.judging.judge import Judge
from autograder.results.ledger import LEDGER, WAITING
from autograder.telling.classreport.gather import gather
from autograder.telling.classreport.page import class_page

in_turn = pytest.mark.full("a class is graded five times", share=64, group="killed")

SEED = int(os.environ.get("MINIGRAD_SEED", "4"))
KILLS = int(os.environ.get("MINIGRAD_KILLS", "3"))
"""How often the run is killed; `MINIGRAD_KILLS=10` is the long form."""

WRONG = ARITHMETIC.replace("x + y", "x - y")
ENDLESS = COMPARISON.replace("return 1.0 if x < y else 0.0", "\n    while True:\n        pass")
ENDED = "import os\nos._exit(0)"
ADDRESS = COMPARISON.replace("return 1.0 if x < y else 0.0", "raise ValueError(object())")
CHILDREN = "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        time.sleep(600)\n" + COMPARISON
CLASS = {
    "ada": (ARITHMETIC, COMPARISON),
    "bea": (WRONG, COMPARISON),
    "cem": ("", ADDRESS),
    "eve": (ARITHMETIC, ENDED),
    "fox": (WRONG, CHILDREN),
    "lea": (ARITHMETIC + "# lea\n", ENDLESS),
    "mia": (WRONG + "# mia\n", COMPARISON + "# mia\n"),
    "ole": (ARITHMETIC + "# ole\n", COMPARISON + "# ole\n"),
}


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """A class of right, wrong and hostile submissions, none of them taken in."""
    return hand_in(make_course(tmp_path_factory.mktemp("killed"), ROOT), CLASS)


@pytest.fixture
def copied(handed, tmp_path):
    """The same class again."""
    return again(handed, tmp_path / "copy")


@pytest.fixture(scope="module")
def undisturbed(handed, tmp_path_factory):
    """The class graded in peace."""
    course = again(handed, tmp_path_factory.mktemp("undisturbed") / "copy")
    grade(course)
    return course


def ledger(course, place=LEDGER):
    """Every entry as it lies there, but for the time."""
    found = sorted((course / place).rglob("*.json"))
    lines = {str(path.relative_to(course / place)): path.read_text().splitlines() for path in found}
    return {name: [line for line in text if '"graded":' not in line] for name, text in lines.items()}


def kill_a_run(course, moment):
    """Begin to grade the class in a process of its own, and kill that; return the processes that it had."""
    before, share, delay = len(times(course)), moment.random(), moment.uniform(0, 0.5)
    goal = before + int(share * (2 * len(CLASS) - before))
    process = os.fork()
    if process == 0:
        try:
            grade(course, jobs=2)
        finally:
            os._exit(0)
    ended = []

    def is_there():
        ended.append(os.waitpid(process, os.WNOHANG)[0])
        return ended[-1] or len(times(course)) >= goal

    assert until(is_there)
    time.sleep(delay)
    below = descendants(process)
    if not ended[-1]:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return below


@in_turn
def test_a_killed_run_is_finished_by_the_next(copied, undisturbed):
    """Killed at random moments, again and again, the class ends up as if nothing had been: nobody lost, none twice."""
    moment = random.Random(SEED)
    print(f"seed {SEED}, {KILLS} kills")
    for _ in range(KILLS):
        graded = times(copied)
        below = kill_a_run(copied, moment)
        assert until(lambda below=below: not any(map(is_running, below))), "a process outlived the run"
        assert graded.items() <= times(copied).items(), "a notebook was graded twice"
    graded = times(copied)
    outcomes = grade(copied)
    assert graded.items() <= times(copied).items(), "a notebook was graded twice"
    assert sorted(each.work.student for each in outcomes) == sorted(CLASS)
    assert not any(each.problem for each in outcomes)
    assert ledger(copied) == ledger(undisturbed)
    assert {key: value for key, value in rows(copied).items() if key != "submission"} == {
        key: value for key, value in rows(undisturbed).items() if key != "submission"
    }
    assert files(copied) == files(undisturbed)
    assert left_aside(copied) == []


def tidy_until(course, home, last):
    """Tidy a submission, and stand still right after one of the moves: a folder of this name, to that one."""
    rename = Path.rename

    def work(stop):
        def move(self, target):
            rename(self, target)
            if (self.name, Path(target).name) == last:
                stop()

        Path.rename = move
        tidy(course, home)

    return standing(work)


def what(folder):
    """A folder's files and what they say; empty if there is no folder."""
    return {path.name: path.read_bytes() for path in folder.glob("*")}


@pytest.mark.full("a class is graded, and ended", share=12)
@pytest.mark.parametrize("last", [("week0", "before"), ("clean", "week0")])
def test_a_submission_that_lies_aside_is_put_back_when_its_process_is_gone(copied, last):
    """Killed after either move of `tidy`, the next run has the submission in its place; before that it is let be."""
    submitted = copied / "submitted"
    home = submitted / "ada" / "week0"
    before = what(home)
    with tidy_until(copied, home, last):
        (aside,) = submitted.glob(".tidy-*")
        now = what(home)
        assert what(aside / "before") == before and bool(now) == (last[0] == "clean")
        put_back(submitted)
        assert what(home) == now and what(aside / "before") == before, "it was taken from a living process"
    put_back(submitted)
    assert what(home) == (now or before)
    assert not aside.exists()


def test_a_process_number_that_came_round_again_keeps_nothing_aside(copied):
    """What a dead run left is put back even if its number is another process's by now, such as this one's."""
    home = copied / "submitted" / "ada" / "week0"
    before = what(home)
    aside = copied / "submitted" / f".tidy-{os.getpid()}-x"
    aside.mkdir()
    (aside / "place").write_text("ada/week0")
    home.rename(aside / "before")
    assert "ada" in [work.student for work in handed_in(copied, "week0")]
    assert what(home) == before and not aside.exists()


def test_a_submission_is_in_its_place_if_the_clean_one_cannot_be(copied, monkeypatch):
    """If the disk refuses the second move of `tidy`, the submission is where it was, and nothing lies aside."""
    home = copied / "submitted" / "ada" / "week0"
    before = sorted(path.name for path in home.iterdir())
    rename = Path.rename

    def refuse(self, target):
        if Path(target) == home and self.name == "clean":
            raise OSError("disk full")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OSError, match="disk full"):
        tidy(copied, home)
    assert sorted(path.name for path in home.iterdir()) == before
    assert not list((copied / "submitted").glob(".tidy-*"))


def made_of(course):
    """Everything that people read of a graded class: notebooks, feedback pages, the report; but for the times."""
    app = load_app(course, "week0")
    converter = GenerateFeedback(coursedir=app.coursedir, parent=app)
    converter.force = True
    converter.start()
    pages = {str(path.relative_to(course)): path.read_text() for path in (course / "feedback").rglob("*.html")}
    report = class_page(gather(load_course(course, tree=False)))
    return {**files(course), **pages, "report": re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?Z?", "then", report)}


@in_turn
def test_two_runs_make_the_same(copied, undisturbed):
    """Graded once more elsewhere, notebooks, feedback pages and report are byte for byte the same but for times."""
    grade(copied, jobs=2)
    one, other = made_of(copied), made_of(undisturbed)
    assert len(one) > 4 * len(CLASS) and "feedback/ada/week0/00_numbers.html" in one
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []


@in_turn
def test_who_grades_changes_nothing(copied, undisturbed):
    """One process or two, in whatever order: the ledger is the same, byte for byte but for the times."""
    works = handed_in(copied, "week0")
    loaded = load_course(copied, tree=False)
    with Judge(loaded, hidden=copied.parent / "hidden", cache=None) as judge:
        found = [each for each in grade_class(judge, works[::-1], jobs=1, keep=False, write=True) if each]
    assert len(found) == len(CLASS)
    assert ledger(copied, WAITING) == ledger(undisturbed) and not ledger(copied)
    text = "".join("".join(lines) for lines in ledger(copied, WAITING).values())
    assert "ValueError" in text and "object at 0x..." in text

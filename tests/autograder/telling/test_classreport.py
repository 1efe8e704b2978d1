"""The page with the class at a glance is right, harmless, complete in itself, and the same in every run."""

import base64
import csv
import dataclasses
import hashlib
import html.parser
import json
import os
import re
import shutil
import statistics
import sys
import warnings
from pathlib import Path

import pytest
from invented_class import HOSTILE, entry, graded, invented, verdict
from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin
from places import ROOT
from small_course import SmallCourse
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import CourseError
from autograder.course.loading import DEFAULT_COURSE
from autograder.gradebook.exporting import KINDS, Mark, as_csv, read_marks
from autograder.results import NOT_BEGUN
from autograder.results.ledger import write_entry
from autograder.telling.classreport import figures
from autograder.telling.classreport.gather import ClassData, gather
from autograder.telling.classreport.markup import code, el
from autograder.telling.classreport.page import class_page
from autograder.telling.likeness import pairs


class Reader(html.parser.HTMLParser):
    """Checks that every element is closed in its order, and keeps what a page refers to."""

    VOID = ("meta", "br", "wbr", "rect", "line")

    def __init__(self, text):
        super().__init__()
        self.open, self.refers, self.names, self.text = [], [], set(), []
        self.ids = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.refers += [value for name, value in attributes if name in ("href", "src", "action", "srcset")]
        self.ids |= {value for name, value in attributes if name == "id"}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.names.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_what_was_not_begun_has_one_name():
    """The sentences by which reports know such work stand once in the grader: no other wording makes it count."""
    texts = [file.read_text() for file in (ROOT / "autograder").rglob("*.py")]
    for sentence in NOT_BEGUN:
        assert sum(text.count(sentence) for text in texts) == 1, sentence


def test_the_page_needs_nothing_from_elsewhere():
    """The page refers to itself alone, and every link of it leads somewhere."""
    reader = Reader(class_page(invented()))
    assert "link" not in reader.names and "img" not in reader.names
    assert all(target.startswith("#") and target[1:] in reader.ids for target in reader.refers)
    assert not re.search(r"url\(|@import|https?:", class_page(invented()))


def test_the_only_script_is_the_one_that_the_policy_names():
    """The policy allows one script by its hash, which holds nothing of this class, and no event handlers."""
    page, other = class_page(invented()), class_page(invented(size=10, seed=2))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert f'content="{policy}"' in page and script in other
    assert "innerHTML" not in script and "eval" not in script and not re.search(r"<[^>]* on\w+=", page)


def test_tables_sort_and_filter(browser, tmp_path):
    """A button in each heading sorts its column, as numbers where it has numbers; fields filter; hostile names stay."""
    rows = [
        entry(who, "01_first", (graded("m.e", earned, 20.0), graded("m.f", 0.0, reason=NOT_STARTED)))
        for who, earned in (("ada", 10.0), (f"bea{HOSTILE}", 9.0), ("cem", 2.5))
    ]
    (tmp_path / "class.html").write_text(class_page(ClassData("c", {"module1": "T"}, rows)))
    window, wrong = browser.new_page(), []
    window.on("console", lambda message: wrong.append(message.text))
    window.on("dialog", lambda dialog: wrong.append(dialog.message))
    window.goto((tmp_path / "class.html").as_uri())
    part = window.locator("#students")
    names = part.locator("tbody tr:visible th")

    def order():
        return [name[:3] for name in names.all_inner_texts()]

    head = part.get_by_role("button", name="points")
    head.press("Enter")
    assert order() == ["cem", "bea", "ada"] and head.locator("..").get_attribute("aria-sort") == "ascending"
    head.press("Enter")
    assert order() == ["ada", "bea", "cem"] and head.locator("..").get_attribute("aria-sort") == "descending"
    part.get_by_role("button", name="student").click()
    assert order() == ["ada", "bea", "cem"] and part.locator("[aria-sort]").count() == 1
    part.get_by_label("points from").fill("5")
    assert order() == ["ada", "bea"] and part.locator("output").inner_text() == "2 of 3"
    part.get_by_label("rows with").fill("ADA")
    assert order() == ["ada"] and wrong == []
    window.close()


def test_a_large_class_fits(monkeypatch):
    """A student takes less than 500 bytes; of several assignments the page lists exercises only where they fit."""
    data = dataclasses.replace(invented(size=400), answers={})
    small = dataclasses.replace(data, entries=[each for each in data.entries if each.student < "student200"])
    more = len(class_page(data).encode()) - len(class_page(small).encode())
    assert more / 200 < 500
    monkeypatch.setattr("autograder.telling.classreport.page.MOST_POINTS", 3_000)
    again = [dataclasses.replace(each, assignment=name) for name in ("module1", "module2") for each in data.entries]
    page = class_page(dataclasses.replace(data, entries=again, titles={"module1": "A", "module2": "B"}))
    table = page[page.index('id="students"') : page.index('id="late"')]
    assert re.findall(r"<th scope=\"col\">(.*?)</th>", table) == ["student", "points", "module1", "module2"]
    assert "`autograder report module1` lists the points of single exercises" in table


def test_the_same_notebook_twice_is_named():
    """Notebooks that are the same to the byte are named, though their answers are those of everybody."""
    same = dataclasses.replace(entry("ada", "01_first", (graded("m.e", 4.0),)), sha256="5" * 64)
    stub = dataclasses.replace(entry("dan", "01_first", (graded("m.e", 0.0, reason=NOT_STARTED),)), sha256="6" * 64)
    rows = [same, *(dataclasses.replace(same, student=who) for who in ("bea", "cem")), entry("eve", "01_first", ())]
    rows += [stub, dataclasses.replace(stub, student="fay")]
    assert figures.same_notebooks(rows) == [("01_first", ("ada", "bea", "cem"))]
    assert "01_first: <strong>ada, bea, cem</strong>" in class_page(ClassData("c", {"module1": "T"}, rows))


def test_what_students_wrote_stays_text():
    """A hostile name, reason, event or answer puts neither markup nor control characters on the page."""
    data = invented()
    hostile = graded("autodiff.chain_rule", 0.0, verdicts=(verdict(False, reason=HOSTILE),), events=(HOSTILE,))
    last = graded("autodiff.chain_rule", 0.0, verdicts=(verdict(False, "a-name", True, reason=HOSTILE),))
    entries = [*data.entries, entry("zoe", "01_first", (hostile,)), entry("zora", "01_first", (last,))]
    answers = {name: {who: f"{text}  # {HOSTILE}" for who, text in own.items()} for name, own in data.answers.items()}
    page = class_page(dataclasses.replace(data, entries=entries, answers=answers))
    assert page.count("<script") == 1 and "&lt;script&gt;" in page
    assert "\x1b" not in page and "\u202e" not in page
    Reader(page)


def test_the_same_class_gives_the_same_page():
    """Two runs give the same bytes, whenever the notebooks were graded."""
    data = invented()
    later = [dataclasses.replace(each, graded="2028-05-05T05:05:05Z") for each in data.entries]
    assert class_page(dataclasses.replace(data, entries=later)) == class_page(data)


def test_shares_fall_into_tenths():
    """A mark on the edge of a tenth belongs to the upper one, full marks to the last."""
    shares = (0.0, 0.1, 0.3, 0.7, 0.999, 1.0)
    assert figures.Distribution("module1", 10, shares).counts == [1, 1, 0, 1, 0, 0, 0, 1, 0, 2]


def test_difficulty_and_discrimination_are_those_of_the_book():
    """Difficulty is the mean share; discrimination correlates an exercise with the sum of all others."""
    rows = {"a": (4.0, 4.0, 2.0), "b": (4.0, 2.0, 2.0), "c": (2.0, 0.0, 4.0), "d": (0.0, 0.0, 0.0)}
    entries = [
        entry(student, "01_first", tuple(graded(f"m.e{i}", earned) for i, earned in enumerate(row)))
        for student, row in rows.items()
    ]
    found = figures.exercises(entries, "module1")
    assert [each.mean for each in found] == [10 / 16, 6 / 16, 8 / 16]
    for place, each in enumerate(found):
        own = [row[place] for row in rows.values()]
        rest = [sum(row) - row[place] for row in rows.values()]
        assert each.discrimination == pytest.approx(statistics.correlation(own, rest))
    assert (found[0].full, found[0].part, found[0].none, found[0].untouched) == (2, 1, 1, 0)


def test_what_does_not_vary_has_no_discrimination():
    """Where everyone has the same mark, or one student is the class, the page says so instead of a number."""
    alone = [entry("a", "01_first", (graded("m.e", 4.0), graded("m.f", 0.0)))]
    assert figures.exercises(alone, "module1")[0].discrimination is None
    assert "does not vary" in class_page(ClassData("c", {"module1": "T"}, alone))


def test_a_dropped_exercise_counts_nowhere():
    """An exercise that is worth nothing has no difficulty, and nobody is stuck in it."""
    rows = [entry(who, "01_first", (graded("m.e", 4.0), graded("m.f", 0.0, 0.0))) for who in "ab"]
    assert figures.exercises(rows, "module1")[1].mean is None
    assert figures.stuck(rows) == []
    assert figures.stuck([entry("a", "01_first", (graded("m.f", 0.0, 0.0),))]) == []
    assert "dropped" in class_page(ClassData("c", {"module1": "T"}, rows))


def test_mistakes_are_counted_by_students():
    """A misconception counts once for a student, only where it is known to fit; else the test is named."""
    twice = (verdict(False, "start-ignored", True), verdict(False, "start-ignored", True))
    rows = [
        entry("a", "01_first", (graded("m.e", 0.0, verdicts=twice),)),
        entry("b", "01_first", (graded("m.e", 0.0, verdicts=twice),)),
        entry("c", "01_first", (graded("m.e", 0.0, verdicts=(verdict(False, "start-ignored", False),)),)),
    ]
    (known,), ((unknown,), aside) = figures.mistakes(rows), figures.unexplained(rows)
    assert aside == []
    assert (known.name, known.students) == ("start-ignored", ("a", "b"))
    assert (unknown.name, unknown.students) == ("Two paths are summed.", ("c",))


def test_one_mistake_is_not_told_again_by_the_tests_that_it_fails():
    """Where a known mistake was seen, what else fails of that answer is no failure of an unknown kind."""
    both = (verdict(False, "start-ignored", True), failing("Its consequence."))
    rows = [entry("a", "01_first", (graded("m.e", 0.0, verdicts=both),))]
    assert [each.name for each in figures.mistakes(rows)] == ["start-ignored"]
    assert figures.unexplained(rows) == ([], [])


def failing(title):
    """A failed test of no known kind."""
    return dataclasses.replace(verdict(False), title=title)


def test_one_forger_does_not_flood_the_class():
    """What only forgers and those who fail nearly everything fail is folded; what others fail has their example."""
    both = [failing("Both."), failing("Only the forger.")]
    forger = graded("m.e", 0.0, verdicts=both, events=("it forged an answer: bytes",))
    rows = [
        entry("a", "01_first", (forger,)),
        entry(
            "b", "01_first", (graded("m.e", 3.0, verdicts=(dataclasses.replace(failing("Both."), reason="got b"),)),)
        ),
        entry("c", "01_first", tuple(graded(f"m.f{i}", 0.0, verdicts=(failing(f"Lost {i}."),)) for i in range(3))),
    ]
    (shared,), aside = figures.unexplained(rows)
    assert (shared.name, shared.students, shared.example.reason) == ("Both.", ("a", "b"), "got b")
    assert {each.name for each in aside} == {"Only the forger.", "Lost 0.", "Lost 1.", "Lost 2."}
    page = class_page(ClassData("c", {"module1": "T"}, rows))
    assert "4 more, only of who forged an answer or fails nearly everything: a, c</summary>" in page
    assert page.index("Both.") < page.index("4 more") < page.index("Only the forger.")


def test_a_forgery_is_told_once():
    """What the sandbox says of a cell and of its exercise is one event, and a forgery either way."""
    said = "the session's process wrote more than it was asked for"
    events = (f"answer to m.e: {said}", f"it forged an answer: {said}")
    late = tuple(entry(who, "01_first", (graded("m.e", 0.0, events=("it ran out of its 5 s",)),)) for who in "bc")
    first, _ = figures.events([entry("a", "01_first", (graded("m.e", 0.0, events=events),)), *late])
    assert (first.event, first.students) == (f"it forged an answer: {said}", ("a",))


def test_everyone_is_listed_with_every_exercise():
    """A table has a line for each student: the points in all, and those of each exercise; less than all is bold."""
    rows = [
        entry("b", "01_first", (graded("m.e", 4.0), graded("m.f", 1.5))),
        entry("a", "01_first", (graded("m.e", 0.0), graded("m.f", 0.0, reason=NOT_STARTED))),
    ]
    page = class_page(ClassData("c", {"module1": "T"}, rows))
    table = page[page.index('id="students"') : page.index('id="exercises"')]
    cells = re.findall(r"<t([dh])(?: [^>]*)?>(.*?)</t\1>", table)
    assert [text for _, text in cells] == [
        "student", "points", "m.<wbr>e", "m.<wbr>f",
        "a", "0", "<b>0</b>", "\N{EN DASH}",
        "b", "5.5", "4", "<b>1.5</b>",
    ]  # fmt: skip


def test_what_is_more_is_there_to_unfold():
    """Rows and names beyond the first are on the page, folded, with their number."""
    who = [f"s{number:02}" for number in range(9)]
    many = tuple(failing(f"Fact {number:02}.") for number in range(45))
    rows = [entry(student, "01_first", (graded("m.e", 3.0, verdicts=many),)) for student in who]
    page = class_page(ClassData("c", {"module1": "T"}, rows))
    assert "<summary>and 5 more</summary>" in page and "Fact 44." in page
    assert page.count("<summary>s00, s01, s02, s03, s04, s05 and 3 more</summary>s06, s07, s08") == 45


def test_the_page_may_say_when_it_was_made():
    """The time of making stands at the top where it is given, and nowhere else."""
    data, said = invented(), "; made 2027-01-02 03:04"
    page = class_page(data, "2027-01-02 03:04")
    assert page.count(said) == 1 and page.replace(said, "") == class_page(data)


def test_forgeries_come_first():
    """Events are one row for each kind, whatever the cell; what no mistake does stands above what many do."""
    late = "answer to m.e: it ran out of its 5 s"
    rows = [
        entry("a", "01_first", (graded("m.e", 0.0, events=(late, "added cell 2: it ran out of its 5 s")),)),
        entry("b", "01_first", (graded("m.f", 0.0, events=("added cell 1: it ran out of its 5 s",)),)),
        # An older result.
        entry("d", "01_first", (graded("m.e", 0.0, events=("solution of m.e: it ran out of its 5 s",)),)),
        entry("c", "01_first", (graded("m.e", 0.0, events=("it forged an answer",)),)),
    ]
    forged, slow = figures.events(rows)
    assert (forged.event, forged.students) == ("it forged an answer", ("c",))
    assert (slow.event, slow.students, slow.exercises) == ("it ran out of its 5 s", ("a", "b", "d"), ("m.e", "m.f"))


NOT_STARTED = "this exercise was not started"


@pytest.mark.parametrize(
    ("earned", "why"),
    [
        ((None, None, None, None), "nothing was begun"),
        ((0.0, 0.0, None, None), "tried, and has no point yet"),
        ((4.0, 0.0, 1.0, 1.0), "tries, and most of it fails"),
        ((4.0, 4.0, 1.0, 1.0), None),
        ((4.0, None, None, None), "most of it was not begun"),
        ((4.0, 4.0, None, None), None),
    ],
)
def test_who_is_stuck(earned, why):
    """Most of it not begun, no points at all, or most of what was tried in vain; whoever did half is not named."""
    row = tuple(
        graded(f"m.e{i}", each or 0.0, reason="" if each is not None else NOT_STARTED) for i, each in enumerate(earned)
    )
    found = figures.stuck([entry("a", "01_first", row)])
    assert [each.why for each in found] == ([why] if why else [])


def test_the_page_names_pairs_that_are_alike():
    """A copied answer with other names is shown beside its like, and no other pair is."""
    data = invented()
    page = class_page(data)
    assert page.count("<details>") == 1
    assert "<strong>student005 and student007</strong>: autodiff.backpropagate" in page
    assert pairs(data.answers["autodiff.chain_rule"]) == []


def test_elements_escape_what_they_hold():
    """Texts and attributes are escaped; only elements stand as they are."""
    assert el("p", "<b>", el("b", "&"), title='"') == '<p title="&quot;">&lt;b&gt;<b>&amp;</b></p>'
    assert code("\tx = 1\x07\n") == '<pre tabindex="0"><code>    x = 1</code></pre>'


@pytest.fixture
def course(tmp_path):
    """A small course with two graded notebooks, one of which was changed since."""
    small = SmallCourse(tmp_path)
    for student, changed in (("ada", False), ("bob", True)):
        cell = {"metadata": {"minigrad": {"kind": "solution", "exercise": "numbers.clamp", "state": "answered"}}}
        text = json.dumps({"cells": [{**cell, "source": ["def clamp(x):\n", f"    return {student!r}"]}]})
        path = tmp_path / "course" / "submitted" / student / "week0" / "00_numbers.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        seen = hashlib.sha256(text.encode()).hexdigest()
        row = (graded("numbers.clamp", 1.0),)
        made = entry(student, "00_numbers", row, "week0")
        write_entry(tmp_path / "course", dataclasses.replace(made, sha256="0" * 64 if changed else seen))
    return small.load()


def test_answers_are_those_that_were_graded(course):
    """The text of a notebook is read only if it is the one that was graded; else the page says that it was not."""
    data = gather(course)
    assert data.answers == {"numbers.clamp": {"ada": "def clamp(x):\n    return 'ada'"}}
    assert data.unread == [("bob", "00_numbers")]
    assert "1 notebook was changed since grading" in class_page(data)
    assert any("return kept" in text for text in data.known["numbers.clamp"])


def test_points_that_a_person_gives_are_told_beside_the_others(course):
    """Where a lesson asks a question, the points by tests are not all that can be had."""
    assert "points by tests; mean" in class_page(gather(course))
    lesson = course.lessons["00_numbers"].path
    lesson.write_text(lesson.read_text() + "\n:::{question} why\n:points: 3\n\nWhy?\n:::\n")
    assert "points by tests (and 3 that a person gives, not counted here); mean" in class_page(gather(course))


def test_what_was_not_graded_is_said(course):
    """An unknown assignment, and one without any grade, are each one sentence."""
    with pytest.raises(CourseError, match="there is no assignment 'week9'; the assignments are week0, week1"):
        gather(course, ["week9"])
    with pytest.raises(CourseError, match="nothing of week1 was graded yet"):
        gather(course, ["week1"])


def lines(marks, kind):
    text, _ = as_csv(marks, kind)
    return list(csv.reader(text.splitlines()))


MARKS = [
    Mark(
        "week0", "2027-02-01 23:59:00", "ada", 5.0, "Byron", "Ada", "ada@x.org", "17", "2027-01-01 10:00:00", 4.25, 1.0
    ),
    Mark("week0", "2027-02-01 23:59:00", "bob", 5.0),
    Mark("week1", "", "ada", 2.5, "Byron", "Ada", "ada@x.org", "17", "2027-01-02 10:00:00", 2.5),
    Mark("week1", "", "bob", 2.5, submitted="2027-01-03 10:00:00", raw=0.5, penalty=2.0),
]


def test_canvas_gets_its_columns():
    """Canvas gets its five columns, a row with what assignments are worth, and no entry where nothing was handed in."""
    assert lines(MARKS, "canvas") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "week0", "week1"],
        ["    Points Possible", "", "", "", "", "5", "2.5"],
        ["Byron, Ada", "17", "", "ada", "", "3.25", "2.5"],
        ["bob", "", "", "bob", "", "", "0"],
    ]


def test_moodle_gets_users_and_grades():
    """Moodle gets user names and addresses to find people by, and a column for each assignment."""
    assert lines(MARKS, "moodle") == [
        ["Username", "First name", "Last name", "Email address", "week0", "week1"],
        ["ada", "Ada", "Byron", "ada@x.org", "3.25", "2.5"],
        ["bob", "", "", "", "", "0"],
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"])
def test_formulas_are_defused(kind, start):
    """A name or id that a spreadsheet would take for a formula gets an apostrophe, and is said; numbers stay."""
    formula = f'{start}HYPERLINK("http://x")'
    marks = [Mark("week0", "", formula, 5.0, formula, formula, submitted="2027-01-01 10:00:00", raw=-1.0)]
    text, changed = as_csv(marks, kind)
    fields = [field for row in csv.reader(text.splitlines(keepends=True)) for field in row]
    assert not any(field.startswith(start) for field in fields if field not in ("-1.0", "0.0"))
    assert formula in changed
    assert f"'{formula}" in fields


def test_no_formula_begins_inside_a_field():
    """Where a spreadsheet separates fields by semicolons, no field of a line begins as a formula either."""
    text, changed = as_csv([Mark("week0", "", "ada", 5.0, "x;=1+1", 'y;"@z')], "moodle")
    fields = [field for row in csv.reader(text.splitlines(), delimiter=";") for field in row]
    assert len(fields) > 2 and not any(field.lstrip('" ').startswith(("=", "@")) for field in fields)
    assert changed == ["x;=1+1", 'y;"@z']


def fill_gradebook(book):
    """Two assignments, three students: one late, one graded by hand as well, one who handed in nothing."""
    for number, name in enumerate(("week0", "week1")):
        book.add_assignment(name, duedate="2027-02-01 23:59:00 UTC" if number else None)
        book.add_notebook("00_numbers", name)
        book.add_grade_cell("clamp-check", "00_numbers", name, max_score=2 + number, cell_type="code")
    book.add_student("ada", first_name="Ada", last_name="Byron", email="ada@x.org", lms_user_id="17")
    book.add_student("bob", last_name="Zed")
    book.add_student("eve", last_name="Zuse")
    for student, points, by_hand in (("ada", 2.0, None), ("bob", 0.5, 1.5)):
        with book.db.no_autoflush:
            book.add_submission("week0", student, timestamp="2027-01-01 10:00:00 UTC")
        grade = book.find_grade("clamp-check", "00_numbers", "week0", student)
        grade.auto_score, grade.manual_score = points, by_hand
    book.find_submission_notebook("00_numbers", "week0", "ada").late_submission_penalty = 0.25
    book.db.commit()


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory, root):
    """A course with nbgrader's own gradebook; nbgrader starts `alembic` by its bare name to make one."""
    folder = tmp_path_factory.mktemp("gradebook")
    small = SmallCourse(folder)
    shutil.copy(root / "course" / "nbgrader_config.py", folder / "course")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        # SQLAlchemy remarks on the order in which nbgrader makes its own rows; they are made all the same.
        warnings.filterwarnings("ignore", message="Object of type <Submitted")
        with Gradebook(f"sqlite:///{folder / 'course' / 'gradebook.db'}", "small") as book:
            fill_gradebook(book)
    return small.load()


@pytest.mark.full("nbgrader exports a class", share=12)
def test_the_export_is_nbgraders_own(gradebook, tmp_path):
    """For names that need no quoting the file has the bytes that `nbgrader export` writes."""
    with Gradebook(f"sqlite:///{gradebook.directory / 'gradebook.db'}", "small") as book:
        CsvExportPlugin(to=str(tmp_path / "theirs.csv")).export(book)
    text, changed = as_csv(read_marks(gradebook), "nbgrader")
    assert text == (tmp_path / "theirs.csv").read_text()
    assert changed == [] and "ada,Byron,Ada,ada@x.org,2.0,0.25,1.75,2.0" in text and "bob,Zed,,,1.5" in text


@pytest.mark.full("nbgrader exports a class", share=12)
def test_the_command_writes_both(gradebook, course, tmp_path):
    """`report` writes the page, and with --csv the gradebook; a wrong name of a file is one sentence."""
    page, table = tmp_path / "class.html", tmp_path / "marks.csv"
    done = CliRunner().invoke(app, ["report", "week0", "--out", str(page), "--course", str(course.directory)])
    assert done.exit_code == 0, done.output
    assert re.search(r"; made 20\d\d-\d\d-\d\d \d\d:\d\d<", page.read_text())
    Reader(page.read_text())
    options = ["--course", str(gradebook.directory)]
    done = CliRunner().invoke(app, ["report", "week0", "--csv", "canvas", "--out", str(table), *options])
    assert done.exit_code == 0, done.output
    assert table.read_text().splitlines()[1:3] == ["    Points Possible,,,,,2", '"Byron, Ada",17,,ada,,1.75']
    done = CliRunner().invoke(app, ["report", "--out", str(table), *options])
    assert done.exit_code == 2 and "add --csv" in done.stderr


def test_files_that_nobody_named(gradebook, course):
    """Without --out, page and tables lie in the course's folder `reports`, a name for each kind, which git ignores."""
    for place, options in ((course, []), (gradebook, ["--csv", "canvas"]), (gradebook, ["--csv", "moodle"])):
        done = CliRunner().invoke(app, ["report", "week0", *options, "--course", str(place.directory)])
        assert done.exit_code == 0, done.output
    assert (course.directory / "reports" / "class.html").is_file()
    names = sorted(path.name for path in (gradebook.directory / "reports").glob("marks*"))
    assert names == ["marks-canvas.csv", "marks-moodle.csv"]
    assert "/reports/" in (DEFAULT_COURSE / ".gitignore").read_text().splitlines()


def test_without_a_gradebook_there_are_no_marks(gradebook, tmp_path):
    """A course without a gradebook, and an assignment that is not in it, are each one sentence."""
    small = SmallCourse(tmp_path)
    shutil.copy(gradebook.directory / "nbgrader_config.py", tmp_path / "course")
    with pytest.raises(CourseError, match="there is no gradebook yet"):
        read_marks(small.load())
    with pytest.raises(CourseError, match="the gradebook has no assignment 'week9'; it has week0, week1"):
        read_marks(gradebook, ["week9"])

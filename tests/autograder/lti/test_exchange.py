"""The roster comes in and marks go out, and what each side said; a platform that misbehaves costs no mark."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import jwt
import pytest
from lti_platform import CLAIM, ROLE, Platform, launch, member
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.cli import app
from autograder.common.claims import Claim
from autograder.course.loading import load_course
from autograder.forgetting import KeptData
from autograder.lti import asking, keeping
from autograder.lti.keeping import Known
from autograder.lti.keys import make_key, read_key
from autograder.lti.roster import Member, compare, students_in

# SQLAlchemy remarks on the order in which nbgrader makes its own rows; they are made all the same.
pytestmark = [
    pytest.mark.full("nbgrader makes a gradebook; commands are started and killed", share=4),
    pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning"),
]
COURSE = """
[course]
name = "small"
version = "1"
seed = 1

[library]
package = "none"

[[assignment]]
name = "week1"
title = "A week"
due = 2027-02-01T23:59:00Z
lessons = ["01_first"]

[[exercise]]
id = "first.middle"
lesson = "01_first"
points = 2
groups = { values = 2 }
"""
CLASS = [
    member("u1", "Ada", "Lovelace"),
    member("u2", "Bob", "Byron"),
    member("t1", "Tea", "Cher", role="Instructor"),
    member("u3", "Eve", "Noether"),
]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course whose gradebook has marks of ada and bob; eve handed in nothing."""
    path = tmp_path_factory.mktemp("course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # nbgrader starts alembic
        with Gradebook(f"sqlite:///{path}/gradebook.db", "small") as gradebook:
            gradebook.add_assignment("week1", duedate="2027-02-01 23:59:00 UTC")
            gradebook.add_notebook("01_first", "week1")
            gradebook.add_grade_cell("test", "01_first", "week1", max_score=2, cell_type="code")
            for student in ("ada", "bob", "eve"):
                gradebook.add_student(student)
            for student in ("ada", "bob"):
                gradebook.add_submission("week1", student, timestamp="2027-02-01 12:00:00 UTC")
    score(path, "ada", 2)
    score(path, "bob", 1.25)
    make_key(path / keeping.KEY)
    (path / "nbgrader_config.py").write_text("c = get_config()\n")  # nbgrader warns where there is none
    return path


@pytest.fixture
def platform(monkeypatch):
    monkeypatch.setattr(asking, "PAUSES", (0.0, 0.0))
    with Platform(CLASS) as platform:
        yield platform


@pytest.fixture
def course(graded, platform, tmp_path):
    """That course, registered at a platform and linked to its course."""
    path = tmp_path / "course"
    shutil.copytree(graded, path)
    (path / "course.toml").write_text(COURSE + platform.toml)
    register(path, platform)
    link = keeping.Link(
        *(platform.url, "client-7", "deployment-1", "course-1", "Small course"),
        *(f"{platform.url}/members", f"{platform.url}/columns?type_id=1"),
    )
    keeping.write_link(path, link)
    return path


def register(course, platform):
    """Give the platform the public key, as an administrator does."""
    platform.tool_jwk = json.loads(read_key(course / keeping.KEY).public_jwk)


def score(course, student, points, penalty=None):
    """Give a mark, as the grader records it."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "small") as gradebook:
        grade = gradebook.find_grade("test", "01_first", "week1", student)
        grade.auto_score, grade.needs_manual_grade = points, False
        gradebook.find_submission_notebook("01_first", "week1", student).late_submission_penalty = penalty
        gradebook.db.commit()


def run(course, *arguments, code=0):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["lti", *arguments, "--course", str(course)])
    assert done.exit_code == code, (done.output, done.exception)
    return " ".join(done.output.split())


def linked(course):
    """The course, with the roster taken in."""
    run(course, "roster")
    return course


def sent(platform):
    return [(user, points) for _, user, points, _, _ in platform.scores]


# The round ---------------------------------------------------------------------------------------------------------


def test_a_round(graded, platform, tmp_path):
    """Keys, a launch, the roster in, marks out, the same marks again: what each side said."""
    course = tmp_path / "course"
    shutil.copytree(graded, course)
    shutil.rmtree(course / ".grades")
    (course / "course.toml").write_text(COURSE + platform.toml)

    said = run(course, "keys")
    assert "https://grader.example.invalid/lti/login" in said and "-----BEGIN PUBLIC KEY-----" in said
    assert "PRIVATE" not in said and (course / keeping.KEY).stat().st_mode & 0o777 == 0o600
    assert run(course, "keys") in said, "a second time the same key is told"
    platform.tool_jwk = json.loads(re.search(r"\{.*?\}", said)[0])

    with listening(course) as (tool, lines):
        student = launch(platform, tool, **{CLAIM + "roles": [ROLE + "Learner"]})
        assert student.status_code == 403 and "no instructor" in student.text
        teacher = launch(platform, tool)
        assert (teacher.status_code, teacher.text) == (
            200,
            "The grader is linked to Small course. This page can be closed.\n",
        )
    assert "no instructor" in lines[1] and lines[2].startswith("linked to 'Small course' (course-1)")

    assert run(course, "roster") == "Small course: 3 students listed, 0 new, 3 changed"
    names = {student: row["last_name"] for student, row in students_in(load_course(course, tree=False)).items()}
    assert names == {"ada": "Lovelace", "bob": "Byron", "eve": "Noether"}

    assert run(course, "marks", "week1") == "week1: 2 sent, 1 nothing handed in"
    assert platform.scores == [("1", "u2", 1.25, 2.0, "FullyGraded"), ("1", "u1", 2.0, 2.0, "FullyGraded")]
    assert platform.columns[0]["label"] == "week1: A week" and platform.columns[0]["scoreMaximum"] == 2
    heard = [("POST", "/token", 200), ("GET", "/columns", 200), ("POST", "/columns", 201)]
    assert platform.heard[-5:] == [*heard, *[("POST", "/columns/1/scores", 200)] * 2]

    assert "2 the same as sent before" in run(course, "marks", "week1") and len(platform.scores) == 2
    score(course, "bob", 1.5)
    assert "1 sent, 1 the same as sent before" in run(course, "marks", "week1")
    assert sent(platform)[2:] == [("u2", 1.5)] and len(platform.columns) == 1


@contextlib.contextmanager
def listening(course):
    """`autograder lti listen` in a process of its own: its address, and the lines that it has said at the end."""
    command = [sys.executable, "-m", "autograder", "lti", "listen", "--port", "0", "--course", str(course)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        lines = [process.stdout.readline()]
        yield re.search(r"http://127\.0\.0\.1:\d+", lines[0])[0], lines
        lines += process.stdout.read().splitlines()
        assert process.wait(60) == 0, lines
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_another_course_is_not_linked_by_chance(course, platform):
    """A launch of another course is refused until the command says that it may; then members are asked for anew."""
    linked(course)
    (course / keeping.LINK).write_text((course / keeping.LINK).read_text().replace("course-1", "course-0"))
    with listening(course) as (tool, _):
        refused = launch(platform, tool)
        assert refused.status_code == 403 and "`autograder lti listen --relink`" in refused.text
        again = keeping.read_link(course)
        assert again.context == "course-0"
        (course / keeping.LINK).unlink()
        launch(platform, tool, **{CLAIM + "context": {"id": "course-0", "label": "Before"}})
    assert keeping.read_link(course).title == "Before" and keeping.read_members(course)
    keeping.write_link(course, replace(again, context="course-2"))
    assert not keeping.read_members(course)


def test_a_port_that_is_taken(course, platform):
    """The command says so, and how another one is chosen."""
    port = platform.url.rpartition(":")[2]
    said = run(course, "listen", "--port", port, code=2)
    assert f"port {port} cannot be had: Address already in use" in said and "choose another one by --port" in said


# The roster --------------------------------------------------------------------------------------------------------


def test_a_removed_student(course, platform):
    """Who is not listed any more is named and stays, with marks; the platform is sent nothing of that student."""
    linked(course)
    del platform.members[1]
    said = run(course, "roster")
    assert "not listed any more, and not deleted: bob; `autograder forget ID` deletes a student" in said
    assert "bob" in students_in(load_course(course, tree=False))
    said = run(course, "marks", "week1")
    assert "1 sent" in said and "not on the platform's list: bob" in said and sent(platform) == [("u1", 2.0)]
    platform.members.append(CLASS[1])
    run(course, "roster")
    assert "1 sent, 1 the same" in run(course, "marks", "week1")


def test_a_student_who_was_removed_since_the_roster(course, platform):
    """The platform refuses that mark; the others are sent, and exit code 1 says so."""
    linked(course)
    platform.members[1] = member("u2", "Bob", "Byron", status="Inactive")
    said = run(course, "marks", "week1", code=1)
    assert "1 sent" in said and 'refused by the platform (404 {"errors": "no such user in this course"}): bob' in said
    assert "not listed any more, and not deleted: bob" in run(course, "roster")


def test_whose_member_it_is(course, platform):
    """A known member keeps the student, listed or not; others are found by id or address, one for a student."""
    linked(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db", "small") as gradebook:
        gradebook.add_student("s42", email="Zoe@example.invalid")
    platform.members[0] = member("u1", "Augusta", "King")  # a new name and address
    platform.members[1] = member("u9", "Bob", "Byron")  # the address of somebody who is not listed any more
    platform.members += [
        member("u4", "Eve", "Noether"),  # the address of somebody who is known
        member("u5"),  # no address is told
        member("u6", "Dan", "D", email="../dan@example.invalid"),
        member("u7", "Kim", "K1"),
        member("u8", "Kim", "K2"),
        member("u10", "Zoe", "Z", email="zoe@example.invalid"),
    ]
    said = run(course, "roster")
    students = {user: each.student for user, each in keeping.read_members(course).items() if each.active}
    assert students == {"u1": "ada", "u3": "eve", "u10": "s42"}
    assert "member u9: would be bob, who is member u2 of an earlier roster; left out" in said
    assert "member u4: would be eve, who is member u3 of an earlier roster; left out" in said
    assert "kim: more than one member would be this student; left out: u7, u8" in said
    assert "member u5: the platform tells no email" in said and "'../dan' cannot be a student's id" in said
    row = students_in(load_course(course, tree=False))["ada"]
    assert row == {"first_name": "Augusta", "last_name": "King", "email": "augusta@example.invalid"}


@pytest.mark.parametrize(
    ("address", "known", "why"),
    [
        ("ada@elsewhere.org", {"1": Known("ada", active=True)}, "who is member 1 of an earlier roster"),
        ("ADA@uni.edu", {"1": Known("ada", active=False)}, "who is member 1 of an earlier roster"),
        ("a.lovelace@uni.edu", {"1": Known("s42", active=False)}, "who is member 1 of an earlier roster"),
        ("ada@elsewhere.org", {}, "who has another address in the gradebook"),
        ("Ada@uni.edu", {}, None),
    ],
)
def test_a_namesake_gets_nobodys_work(address, known, why):
    """A member whom no roster knew does not become a student who was another member or has another address."""
    students = {"ada": {"email": "ada@uni.edu"}, "s42": {"email": "a.lovelace@uni.edu"}}
    found = compare([Member("2", True, {"email": address})], known, students, "login")
    assert ("2" in found.members, bool(found.rows)) == (why is None, why is None)
    assert [why in note and "left out" in note for note in found.notes] == [True] * (why is not None)


def test_forget_forgets_here_too(course, platform):
    """`autograder forget` takes a student out of members and sent marks, and leaves the others."""
    linked(course)
    run(course, "marks", "week1")
    data = KeptData(load_course(course, tree=False))
    data.delete(data.people["ada"])
    assert {each.student for each in keeping.read_members(course).values()} == {"bob", "eve"}
    assert "ada" not in (course / keeping.SENT).read_text() and "bob" in (course / keeping.SENT).read_text()


# Marks -------------------------------------------------------------------------------------------------------------


def test_lateness_costs_what_the_tables_say(course, platform):
    """A penalty is taken off as in the tables for Canvas and Moodle, and a mark that a person has to give waits."""
    linked(course)
    score(course, "ada", 2, penalty=0.5)
    with Gradebook(f"sqlite:///{course}/gradebook.db", "small") as gradebook:
        gradebook.find_grade("test", "01_first", "week1", "bob").needs_manual_grade = True
        gradebook.db.commit()
    said = run(course, "marks", "week1")
    assert platform.scores == [("1", "u2", 1.25, 2.0, "PendingManual"), ("1", "u1", 1.5, 2.0, "FullyGraded")]
    assert "answers that a person has still to mark, so that the mark is not final: bob (week1): 1" in said
    done = CliRunner().invoke(app, ["report", "--csv", "canvas", "--course", str(course)])
    assert done.exit_code == 0, done.output
    assert re.findall(r",(ada|bob),,([\d.]+)", (course / "reports" / "marks-canvas.csv").read_text()) == [
        ("bob", "1.25"),
        ("ada", "1.5"),
    ]


def test_a_platform_that_lists_all_columns(course, platform):
    """Columns of others, and of other assignments, are left alone; two for one assignment are a question."""
    linked(course)
    platform.filters = False
    for number, (tag, name) in enumerate((("other", "week1"), ("small", "week2"), (None, None)), 1):
        platform.columns.append({"id": f"{platform.url}/columns/{number}?type_id=1", "tag": tag, "resourceId": name})
    run(course, "marks", "week1")
    assert {column for column, *_ in platform.scores} == {"4"} and len(platform.columns) == 4
    platform.columns.append({**platform.columns[3], "id": f"{platform.url}/columns/5?type_id=1"})
    assert "week1: the platform has 2 columns" in run(course, "marks", "week1", code=2)


def test_a_column_that_was_removed(course, platform):
    """A new column is made, and gets all marks."""
    linked(course)
    run(course, "marks", "week1")
    platform.columns[0]["tag"] = "removed"
    assert "2 sent" in run(course, "marks", "week1")
    assert len(platform.columns) == 2


def test_an_access_token_that_expires_midway(course, platform):
    """A new one is asked for, and no mark is lost or sent twice."""
    linked(course)
    platform.token_uses = 1
    assert "2 sent" in run(course, "marks", "week1")
    assert sorted(sent(platform)) == [("u1", 2.0), ("u2", 1.25)]
    assert ("POST", "/columns/1/scores", 401) in platform.heard
    assert len(platform.assertions) == len(platform.tokens) >= 4, "each proof of who the grader is was used once"


def test_a_token_that_never_counts(course, platform):
    """The second refusal ends the command: asking on would help nobody."""
    platform.token_uses = 0
    assert "takes no access token, not even a new one: 401" in run(course, "roster", code=2)


def test_another_key(course, platform):
    """The platform refuses what is signed by a key that it does not know, and the command says what to compare."""
    (course / keeping.KEY).unlink()
    run(course, "keys")
    said = run(course, "roster", code=2)
    assert "gives no access token: 400" in said and "public key of `autograder lti keys`" in said


def test_a_key_that_others_can_read(course):
    """It is not used: whoever read it can send marks."""
    (course / keeping.KEY).chmod(0o644)
    assert "others can read the key" in run(course, "roster", code=2)


def test_an_assertion_expires(course, platform):
    """The proof of who the grader is counts for a minute: the platform's own check refuses it later."""
    token = read_key(course / keeping.KEY).assertion(load_course(course, tree=False).platform)
    said = jwt.decode(token, options={"verify_signature": False})
    assert 0 < said["exp"] - said["iat"] <= 60 and said["aud"] == f"{platform.url}/token"


def test_killed_between_sending_and_keeping(course, platform):
    """The mark that was sent and not kept is sent again, and no other: the platform has each mark at the end."""
    linked(course)
    command = [sys.executable, "-m", "autograder", "lti", "marks", "week1", "--course", str(course)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    came = threading.Event()
    taken = platform.score

    def take_and_kill(query, body, column):
        answer = taken(query, body, column)
        if len(platform.scores) == 2:
            process.send_signal(signal.SIGKILL)
            process.wait()
            came.set()
        return answer

    platform.score = take_and_kill
    assert came.wait(60)
    process.stdout.close()
    platform.score = taken
    assert sent(platform) == [("u2", 1.25), ("u1", 2.0)]
    assert list(keeping.read_sent(course, platform.columns[0]["id"])) == ["u2"]
    assert "1 sent, 1 the same as sent before" in run(course, "marks", "week1")
    assert sent(platform)[2:] == [("u1", 2.0)]
    assert "2 the same as sent before" in run(course, "marks", "week1")


def test_a_line_that_was_cut_off(course, platform):
    """A crash may leave half a line: what it told of is sent again, and later lines count."""
    linked(course)
    run(course, "marks", "week1")
    log = course / keeping.SENT
    log.write_bytes(log.read_bytes()[:-20])
    assert "1 sent, 1 the same" in run(course, "marks", "week1")
    assert "2 the same" in run(course, "marks", "week1")


def test_two_runs_at_once(course):
    """The second one is refused: both would send the same marks."""
    linked(course)
    claim = Claim(course / keeping.LOCK)
    assert claim.take()
    assert "another `autograder lti marks` is at this course" in run(course, "marks", "week1", code=2)
    claim.give_back()
    run(course, "marks", "week1")


# A platform that misbehaves ----------------------------------------------------------------------------------------


def answering(platform, path, *answers):
    """Let the platform give these answers first to requests of a path."""
    left = list(answers)
    platform.before = lambda method, asked: left.pop(0) if asked.partition("?")[0] == path and left else None


def test_a_platform_that_is_busy(course, platform):
    """Errors of its server are waited out; where they last, a sentence says so and sent marks stay kept."""
    answering(platform, "/members", (500, {}, b"oh"), (429, {}, b""))
    assert "3 students listed" in run(course, "roster")
    taken = platform.score
    platform.score = lambda query, body, column: (
        taken(query, body, column) if not platform.scores else (503, {}, b"later")
    )
    said = run(course, "marks", "week1", code=2)
    assert "1 sent" in said and "answered 503 later, 3 times; give the same command again later" in said
    platform.score = taken
    assert "1 sent, 1 the same" in run(course, "marks", "week1")


def test_a_platform_that_is_silent(course, platform, monkeypatch):
    """Silence ends after a time, and so does an answer that comes drop by drop."""
    monkeypatch.setattr(asking, "SILENCE", 0.05)
    platform.before = lambda method, path: time.sleep(0.3)
    assert "gave no answer (timed out), 3 times" in run(course, "roster", code=2)
    monkeypatch.setattr(asking, "SILENCE", 20.0)
    monkeypatch.setattr(asking, "LONGEST", -1.0)
    platform.before = lambda method, path: None
    assert "gave no answer (not whole after -1 s)" in run(course, "roster", code=2)


def test_a_page_without_end(course, platform, monkeypatch):
    """A page that is too large is left, and pages that lead in a circle are counted."""
    monkeypatch.setattr(asking, "LARGEST", 10_000)
    answering(platform, "/members", (200, {}, b" " * 20_000))
    assert "its answer has more than 0.01 MB" in run(course, "roster", code=2)
    circle = (200, {"Link": f'<{platform.url}/members>; rel="next"'}, b'{"members": []}')
    answering(platform, "/members", circle, circle)
    assert "its pages do not end: 1 were read" in run(course, "roster", code=2)


@pytest.mark.parametrize("way", ["next page", "redirect", "column"])
def test_a_page_of_another_host(course, platform, way):
    """Nobody but the platform is asked, whatever its messages name: the token would go along."""
    linked(course)
    with Platform() as neighbour:
        elsewhere = f"{neighbour.url}/members"
        if way == "next page":
            answering(platform, "/members", (200, {"Link": f'<{elsewhere}>; rel="next"'}, b'{"members": []}'))
            said = run(course, "roster", code=2)
        elif way == "redirect":
            answering(platform, "/members", (302, {"Location": elsewhere}, b""))
            said = run(course, "roster", code=2)
        else:
            platform.columns.append({"id": elsewhere, "tag": "small", "resourceId": "week1"})
            said = run(course, "marks", "week1", code=2)
        assert "on a host that course.toml does not give" in said or "which is not followed" in said
        assert not neighbour.heard
        text = (course / "course.toml").read_text()
        (course / "course.toml").write_text(text + f'services = ["{neighbour.url}"]\n')
        if way == "next page":
            answering(platform, "/members", (200, {"Link": f'<{elsewhere}>; rel="next"'}, b'{"members": []}'))
            run(course, "roster", code=2)
            assert neighbour.heard, "an address that course.toml gives is asked"


@pytest.mark.parametrize(
    "said",
    [b"<html>", b"[]", b"{}", b'{"members": [7]}', b"[" * 100_000, b'{"members": null}'],
    ids=["html", "list", "empty", "numbers", "deep", "null"],
)
def test_a_page_that_is_no_list(course, platform, said):
    """What is no list of members is refused in a sentence, and changes nothing."""
    before = students_in(load_course(course, tree=False))
    answering(platform, "/members", (200, {}, said))
    assert f"error: {platform.url}/members: its answer is no" in run(course, "roster", code=2)
    assert students_in(load_course(course, tree=False)) == before


# What is missing ---------------------------------------------------------------------------------------------------


def test_steps_that_are_missing(course):
    """Each command says which one comes before it."""
    assert "is known yet; give `autograder lti roster` first" in run(course, "marks", "week1", code=2)
    link = (course / keeping.LINK).rename(course / "link")
    said = "give `autograder lti listen`, then `autograder lti roster` first"
    assert said in run(course, "marks", "week1", code=2)
    link.rename(course / keeping.LINK)
    linked(course)
    (course / keeping.MEMBERS).write_text("{")
    assert "members.json: is damaged; remove it, then give `autograder lti roster`" in run(course, "roster", code=2)
    (course / keeping.LINK).unlink()
    assert "give `autograder lti listen`" in run(course, "roster", code=2)
    (course / "course.toml").write_text(COURSE)
    assert "has no table [lti]" in run(course, "keys", code=2)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('token_url = "http://127', 'token_url = "http://10', "write an address that begins with https://"),
        ('student_id = "login"', 'student_id = "name"', "'student_id' is 'name'; write one of login, email"),
        ('client_id = "client-7"\n', "", "the key 'client_id' is missing"),
        ('student_id = "login"', 'student_id = "login"\nservices = ["lms"]', "'services' holds 'lms'"),
    ],
)
def test_a_registration_that_cannot_be(course, old, new, said):
    """A table that is not right is refused with the key and what to write."""
    text = (course / "course.toml").read_text()
    assert old in text
    (course / "course.toml").write_text(text.replace(old, new))
    assert said in run(course, "keys", code=2)

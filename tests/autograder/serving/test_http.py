"""Handing in by HTTP: work lands in the exchange, students see their own alone, a hostile client gets nothing."""

import asyncio
import datetime as dt
import hashlib
import json
import os
import shutil
import socket
import sqlite3
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
import requests
from class_runs import again
from nbgrader.api import Gradebook
from served_courses import Served, hand_in, notebooks, served_course
from two_lessons import ARITHMETIC, COMPARISON
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import CourseError
from autograder.gradebook import dates
from autograder.gradebook.dates import Dates
from autograder.gradebook.inbox import Inbox, listed
from autograder.gradebook.tokens import FILE, Tokens
from autograder.grafting.tidying import course_of
from autograder.reading.handed_in import SECRET
from autograder.results import Submission
from autograder.results.ledger import Entry, write_entry
from autograder.serving import web
from autograder.serving.hub import Hub
from autograder.serving.status import Line, Status

# SQLAlchemy remarks on the order in which nbgrader makes its own rows; they are made all the same.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")

RIGHT = (ARITHMETIC, COMPARISON)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course that was released into an exchange of its own."""
    return served_course(tmp_path_factory.mktemp("http"))


@pytest.fixture
def course(made, tmp_path):
    """The same course again."""
    return again(made, tmp_path / "copy")


@pytest.fixture
def tokens(course):
    """The tokens of two students."""
    return Tokens(course).make(["ada", "bea"])


class Client:
    """Asks an application without a network."""

    def __init__(self, course, identity):
        made = web.application(web.Desk(course, lambda _: ["week0"]), identity)
        self._transport = httpx.ASGITransport(made, raise_app_exceptions=False)

    def request(self, method, path, **what):
        """Ask, and return the answer."""

        async def asked():
            async with httpx.AsyncClient(transport=self._transport, base_url="http://here") as client:
                return await client.request(method, path, **what)

        return asyncio.run(asked())

    def get(self, path, **what):
        """Ask for something."""
        return self.request("GET", path, **what)

    def post(self, path, **what):
        """Hand something in."""
        return self.request("POST", path, **what)


@pytest.fixture
def client(course):
    """A client of the application; no command is running."""
    return Client(course, Tokens(course))


def bearer(token):
    """The header that says who asks."""
    return {"Authorization": f"Bearer {token}"}


def inbound(course):
    """The names of what was handed in."""
    return listed(course / "exchange" / "minigrad" / "inbound")


def post(client, course, token, texts=RIGHT, **more):
    """Hand in."""
    return client.post("/week0", json={"files": notebooks(course, texts)} | more, headers=bearer(token))


def test_a_hand_in_lands_in_the_exchange(client, course, tokens):
    """It is what `nbgrader submit` would have left, found by the inbox that watches the exchange."""
    assert client.get("/week0", headers=bearer(tokens["ada"])).json()["state"] == "none"
    answer = post(client, course, tokens["ada"])
    assert answer.status_code == 202 and answer.json()["state"] == "queued" and answer.json()["student"] == "ada"
    (name,) = inbound(course)
    inbox = Inbox(course_of(course), "week0")
    (found,) = inbox.newest([name])
    assert found.work.student == "ada" and inbox.collect([found]) == {} and inbox.is_current(found)
    kept = json.loads((course / "submitted" / "ada" / "week0" / "00_numbers.ipynb").read_text())
    assert any("x + y" in "".join(cell["source"]) for cell in kept["cells"])
    assert client.get("/week0", headers=bearer(tokens["bea"])).json()["state"] == "none"


def test_a_section_has_its_date_and_a_group_its_newest_hand_in(client, course, tokens):
    """A student reads the own section's due date, and what a member of the group handed in."""
    (course / "sections.csv").write_text("student_id,section\nbea,late\n")
    (course / "groups.csv").write_text("group,student_id\nreds,ada\nreds,bea\n")
    with (course / "course.toml").open("a") as file:
        file.write('\n[[section]]\nname = "late"\ndue = { week0 = 2127-02-03T12:00:00Z }\n')
    posted = post(client, course, tokens["ada"]).json()
    seen = client.get("/week0", headers=bearer(tokens["bea"])).json()
    assert seen["due"] == seen["deadline"] == "2127-02-03T12:00:00+00:00" != posted["due"]
    assert seen["state"] == "queued" and seen["handed_in"] == posted["handed_in"] is not None
    assert post(client, course, tokens["bea"]).status_code == 202 and len(inbound(course)) == 2


@pytest.fixture
def forged(course, monkeypatch):
    """Makes folders in the exchange that say a student's name and belong to another user of the machine."""
    names = set()
    monkeypatch.setattr("autograder.gradebook.exchange._is_user", lambda name: True)

    def owner(self, record):
        return 1 if record["filename"] in names else os.geteuid()

    monkeypatch.setattr("autograder.gradebook.exchange.GraftingCollect._owner", owner)

    def make(student, when, texts=RIGHT):
        folder = hand_in(course, student, texts, when)
        names.add(folder.name)
        return folder

    return make


def test_a_forged_name_takes_nothing_away(client, course, tokens, forged):
    """A folder of another user's with ada's name and a later time hides neither the hand-in nor its state."""
    posted = post(client, course, tokens["ada"]).json()
    forged("ada", dt.datetime(2127, 6, 1))
    forged("ada", dt.datetime.now(dt.UTC).replace(tzinfo=None))
    seen = client.get("/week0", headers=bearer(tokens["ada"])).json()
    assert seen["state"] == "queued" and seen["handed_in"] == posted["handed_in"]
    (found,) = Inbox(course_of(course), "week0").newest(inbound(course))
    assert found.when.isoformat(timespec="seconds") == posted["handed_in"].removesuffix("+00:00")


def test_where_students_have_no_users_each_folder_counts(client, course, tokens, forged, monkeypatch):
    """Then an owner says nothing, and the newest folder is the hand-in, whichever way it came."""
    monkeypatch.setattr("autograder.gradebook.exchange._is_user", lambda name: False)
    post(client, course, tokens["ada"])
    later = forged("ada", dt.datetime(2127, 6, 1))
    (found,) = Inbox(course_of(course), "week0").newest(inbound(course))
    assert found.name == later.name


def test_forged_names_use_up_no_hand_ins(client, course, tokens, forged, monkeypatch):
    """What others put into the exchange is not counted against a student."""
    monkeypatch.setattr(web, "HAND_INS", 2)
    for _ in range(3):
        forged("ada", None)
    assert post(client, course, tokens["ada"]).status_code == 202
    assert post(client, course, tokens["ada"], (ARITHMETIC, "")).status_code == 202
    assert post(client, course, tokens["ada"], ("", "")).status_code == 429


@pytest.mark.parametrize("kind", ["pipe", "link", "large"])
def test_what_lies_in_the_exchange_is_read_with_bounds(client, course, tokens, tmp_path, kind):
    """Another notebook than the one that is handed in may be anything: nobody waits for a pipe, or follows a link."""
    folder = hand_in(course, "ada", RIGHT)
    path = folder / "00_numbers.ipynb"
    kept = path.rename(tmp_path / "kept.ipynb")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(kept)
    else:
        with path.open("wb") as file:
            file.truncate(10**11)
    assert post(client, course, tokens["ada"]).status_code == 202 and len(inbound(course)) == 2


def test_what_is_released_later_is_taken_too(course, tokens):
    """The assignments that are served are asked for at each request."""
    names = []
    client = Client(course, Tokens(course))
    client._transport = httpx.ASGITransport(web.application(web.Desk(course, lambda _: names), Tokens(course)))
    answer = client.get("/week0", headers=bearer(tokens["ada"]))
    assert answer.status_code == 404 and answer.json() == {"error": "week0 is not handed in here; nothing is"}
    names.append("week0")
    assert client.get("/week0", headers=bearer(tokens["ada"])).json()["state"] == "none"


DUE = dt.datetime(2027, 2, 1, 12)


def granted(course, student, due, **more):
    """Set a due date as Formgrader does, grant an extension as nbgrader does; return the row's lateness."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission("week0", student)
        gradebook.update_or_create_assignment("week0", duedate=due)
        gradebook.grant_extension("week0", student, **more)
        return Dates(course_of(course)).of(gradebook.find_submission("week0", student))


@pytest.mark.parametrize("more", [{}, {"days": 2, "hours": 3}])
def test_dates_that_stand_in_nbgraders_database_alone_are_told(client, course, tokens, monkeypatch, more):
    """A due date of Formgrader's and an extension of nbgrader's are the student's; another one has no extension."""
    monkeypatch.setattr(dates, "AGE", 0.0)
    assert post(client, course, tokens["ada"]).json()["due"] is None
    late = granted(course, "ada", DUE, **more)
    seen = client.get("/week0", headers=bearer(tokens["ada"])).json()
    assert (seen["due"], seen["deadline"]) == (late.due.isoformat(), late.deadline.isoformat())
    assert late.due == DUE.replace(tzinfo=dt.UTC) and late.deadline == late.due + dt.timedelta(**more)
    assert client.get("/week0", headers=bearer(tokens["bea"])).json()["deadline"] == late.due.isoformat()
    over = granted(course, "ada", dt.datetime(2020, 1, 1), **more).deadline
    seen = client.get("/week0", headers=bearer(tokens["ada"])).json()
    assert seen["late"] == pytest.approx((dt.datetime.fromisoformat(seen["handed_in"]) - over).total_seconds(), abs=1)


def test_a_gradebook_that_cannot_be_used_shuts_nobody_out(client, course, tokens, monkeypatch):
    """While it is locked the dates that were read last are told; without one, or with a damaged one, those of files."""
    monkeypatch.setattr(dates, "AGE", 0.0)
    monkeypatch.setattr(dates, "WAIT", 0.05)
    granted(course, "ada", DUE)
    assert client.get("/week0", headers=bearer(tokens["ada"])).json()["due"] == "2027-02-01T12:00:00+00:00"
    with sqlite3.connect(course / "gradebook.db", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        answer = post(client, course, tokens["ada"])
        assert (answer.status_code, answer.json()["due"]) == (202, "2027-02-01T12:00:00+00:00")
        afresh = Client(course, Tokens(course))
        assert afresh.get("/week0", headers=bearer(tokens["ada"])).json()["due"] is None
        other.execute("ROLLBACK")
    (course / "gradebook.db").write_bytes(b"damaged " * 1000)
    assert afresh.get("/week0", headers=bearer(tokens["ada"])).json()["state"] == "queued"
    (course / "gradebook.db").unlink()
    assert afresh.get("/week0", headers=bearer(tokens["ada"])).json()["due"] is None
    assert not (course / "gradebook.db").exists()


def test_a_page_of_an_earlier_hand_in_is_not_out(course):
    """Between the mark of a new hand-in and its page the page of the last one still lies there."""
    inbox = Inbox(course_of(course), "week0")
    page, submitted = course / "feedback" / "ada" / "week0", course / "submitted" / "ada" / "week0"
    out = inbox._page("a" * 64, "00_numbers")
    for folder in (page, submitted, out.parent):
        folder.mkdir(parents=True, exist_ok=True)
    (page / SECRET).write_text("a" * 64)
    for file in (page / "00_numbers.html", out):
        file.write_text("5 of 7 points")
    for secret, is_out in (("a" * 64, True), ("b" * 64, False)):
        (submitted / SECRET).write_text(secret)
        assert inbox.is_out("ada") == is_out


def group(course, *students):
    """Let students hand in together."""
    (course / "groups.csv").write_text("group,student_id\n" + "".join(f"reds,{each}\n" for each in students))


def test_a_replay_is_compared_with_the_groups_newest(client, course, tokens):
    """Earlier notebooks count again after another member's; another member's very notebooks are a hand-in as well."""
    group(course, "ada", "bea")
    for student, texts in (("ada", RIGHT), ("bea", ("", "")), ("ada", RIGHT), ("ada", RIGHT), ("bea", RIGHT)):
        post(client, course, tokens[student], texts)
    assert sorted(name.partition("+")[0] for name in inbound(course)) == ["ada", "ada", "bea", "bea"]


def recorded(course, student, when=None):
    """Take the newest hand-in of a student in, and record it as grading does."""
    inbox = Inbox(course_of(course), "week0")
    (found,) = (each for each in inbox.newest(inbound(course)) if each.work.student == student)
    assert inbox.collect([found]) == {}
    folder = course / "submitted" / student / "week0"
    if when:
        (folder / "timestamp.txt").chmod(0o644)
        (folder / "timestamp.txt").write_text(when)
    shutil.copytree(folder, course / "autograded" / student / "week0")
    for lesson in course_of(course).assignments["week0"].lessons:
        sha256 = hashlib.sha256((folder / f"{lesson}.ipynb").read_bytes()).hexdigest()
        write_entry(course, Entry(student, "week0", lesson, sha256, "", Submission(lesson, ())))
    return found


def test_who_joins_a_group_later_has_no_mark_yet(client, course, tokens):
    """The group's hand-in is the student's when the student's own folder has it, recorded; until then it is queued."""
    post(client, course, tokens["ada"])
    recorded(course, "ada")
    group(course, "ada", "bea")
    assert client.get("/week0", headers=bearer(tokens["bea"])).json()["state"] == "queued"
    for tree in ("submitted", "autograded", ".grades/submissions/week0"):
        own = "" if tree.endswith("week0") else "week0"
        shutil.copytree(course / tree / "ada" / own, course / tree / "bea" / own)
    for tree in ("submitted", "autograded"):  # the time of the member's own hand-in of the very same
        (course / tree / "bea" / "week0" / "timestamp.txt").chmod(0o644)
        (course / tree / "bea" / "week0" / "timestamp.txt").write_text("2027-01-01 00:00:00 UTC")
    assert client.get("/week0", headers=bearer(tokens["bea"])).json()["state"] == "graded"


def test_what_came_another_way_since_is_told(client, course, tokens, monkeypatch):
    """A hand-in that an archive superseded is not queued for ever: what counts now is told, with its time."""
    monkeypatch.setattr(Inbox, "is_out", lambda *_: True)
    post(client, course, tokens["ada"])
    recorded(course, "ada", "2127-01-01 00:00:00 UTC")
    answer = client.get("/week0", headers=bearer(tokens["ada"])).json()
    assert (answer["state"], answer["handed_in"]) == ("graded", "2127-01-01T00:00:00+00:00")


def test_what_keeps_a_hand_in_waiting_is_told(client, course, tokens):
    """The sentence is that of this hand-in: none of an earlier one, nor of another student."""
    post(client, course, tokens["ada"])
    (found,) = Inbox(course_of(course), "week0").newest(inbound(course))
    status = Status(course / "reports", 1, found.arrived)
    status.lines = (Line("ada", "week0", found.arrived, "refused", "the disk is full"),)
    status.write(found.arrived)
    answer = client.get("/week0", headers=bearer(tokens["ada"])).json()
    assert (answer["state"], answer["said"]) == ("refused", "the disk is full")
    post(client, course, tokens["bea"])
    assert client.get("/week0", headers=bearer(tokens["bea"])).json()["state"] == "queued"
    status.lines = (Line("ada", "week0", found.arrived - dt.timedelta(seconds=9), "refused", "an earlier one"),)
    status.write(found.arrived)
    answer = client.get("/week0", headers=bearer(tokens["ada"])).json()
    assert (answer["state"], answer["said"]) == ("queued", "")


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer x", "Basic ada:ada", f"Bearer {'x' * 10_000}", "Bearer a b"])
def test_without_a_token_nothing_is_told(client, course, tokens, header):
    """No state, no page, no hand-in."""
    headers = {"Authorization": header} if header else {}
    for answer in (
        client.get("/week0", headers=headers),
        client.get("/week0/00_numbers.html", headers=headers),
        client.post("/week0", json={"files": notebooks(course, RIGHT)}, headers=headers),
    ):
        assert answer.status_code == 401 and set(answer.json()) == {"error"}
    assert inbound(course) == []


def test_nobody_hands_in_for_another(client, course, tokens):
    """Whatever a request says besides, the token alone says whose it is."""
    post(client, course, tokens["bea"], student="ada", username="ada")
    client.post("/week0?student=ada", json={"files": notebooks(course, ("", ""))}, headers=bearer(tokens["bea"]))
    assert len(inbound(course)) == 2 and all(name.startswith("bea+week0+") for name in inbound(course))
    assert client.get("/week0?student=ada", headers=bearer(tokens["bea"])).json()["student"] == "bea"


def test_a_replaced_token_is_void(client, course, tokens):
    """The server reads the file again; the earlier token opens nothing."""
    assert client.get("/week0", headers=bearer(tokens["ada"])).status_code == 200
    again = Tokens(course).make(["ada"])
    assert client.get("/week0", headers=bearer(tokens["ada"])).status_code == 401
    assert client.get("/week0", headers=bearer(again["ada"])).status_code == 200
    Tokens(course).remove("ada")
    assert client.get("/week0", headers=bearer(again["ada"])).status_code == 401
    assert client.get("/week0", headers=bearer(tokens["bea"])).status_code == 200


def test_a_replay_is_no_second_hand_in(client, course, tokens):
    """The same request again changes nothing; other notebooks are another hand-in."""
    for _ in range(3):
        post(client, course, tokens["ada"])
    assert len(inbound(course)) == 1
    post(client, course, tokens["ada"], ("", COMPARISON))
    assert len(inbound(course)) == 2


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"../../../etc/passwd": "x"}, 422),
        ({"00_numbers.ipynb": "{}", "sitecustomize.py": "x"}, 422),
        ({"timestamp.txt": "2020-01-01 00:00:00 UTC"}, 422),
        ({"submission_secret.txt": "x"}, 422),
        ({"00_numbers.ipynb": 7}, 422),
        ({}, 422),
        ([], 422),
        (None, 422),
    ],
)
def test_only_the_notebooks_of_the_assignment_are_taken(client, course, tokens, files, code):
    """No name leads anywhere else, and nobody sets the time or the secret of a hand-in."""
    assert client.post("/week0", json={"files": files}, headers=bearer(tokens["ada"])).status_code == code
    assert inbound(course) == []


@pytest.mark.parametrize("body", [b"", b"no json", b"[" * 200_000, b"7", b'{"files": {"00_numbers.ipynb": "\\ud800"}}'])
def test_a_body_that_is_none_is_refused_in_a_sentence(client, course, tokens, body):
    """Whatever came, the answer is a sentence, and the next request is answered."""
    answer = client.post("/week0", content=body, headers=bearer(tokens["ada"]))
    assert answer.status_code == (202 if b"ud800" in body else 422)
    assert client.get("/week0", headers=bearer(tokens["ada"])).status_code == 200


def test_a_body_is_bounded(client, course, tokens, monkeypatch):
    """What is larger is not read to its end, whether or not it says its length; nor a large notebook kept."""
    monkeypatch.setattr(web, "BODY", 100_000)
    sent = []

    async def parts():
        for _ in range(1000):
            sent.append(1)
            yield b" " * 10_000

    assert client.post("/week0", content=parts(), headers=bearer(tokens["ada"])).status_code == 413
    assert len(sent) < 100
    monkeypatch.setattr(web, "MAX_BYTES", 1000)
    assert post(client, course, tokens["ada"]).status_code == 413
    assert inbound(course) == []


def test_a_flood_is_bounded(client, course, tokens, monkeypatch):
    """A student who asks too often is told to wait, and hands in only so often on a day; another one is not held up."""
    monkeypatch.setattr(web, "HAND_INS", 3)
    codes = [post(client, course, tokens["ada"], (f"# {number}", "")).status_code for number in range(5)]
    assert codes == [202, 202, 202, 429, 429] and len(inbound(course)) == 3
    codes = [client.get("/week0", headers=bearer(tokens["ada"])).status_code for _ in range(web.REQUESTS)]
    assert codes[0] == 200 and codes[-1] == 429
    assert client.get("/week0", headers=bearer(tokens["bea"])).status_code == 200


def test_a_slow_body_ends(course, tokens, monkeypatch):
    """A client that sends a byte now and then does not keep its connection."""
    monkeypatch.setattr(web, "BODY_SECONDS", 0.2)
    received, sent = [], []

    async def receive():
        received.append(1)
        await asyncio.sleep(0.05)
        if len(received) > 40:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/week0",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {tokens['ada']}".encode())],
    }
    asyncio.run(web.application(web.Desk(course, lambda _: ["week0"]), Tokens(course))(scope, receive, send))
    assert sent[0]["status"] == 408


def test_a_full_disk_is_said_and_nothing_is_left(client, course, tokens, monkeypatch):
    """The student is told to try again; the next attempt is taken."""

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("autograder.gradebook.inbox.put", full)
        answer = post(client, course, tokens["ada"])
    assert answer.status_code == 507 and "No space left" in answer.json()["error"]
    assert inbound(course) == []
    assert post(client, course, tokens["ada"]).status_code == 202


def test_a_course_that_contradicts_itself_is_not_shown(client, course, tokens):
    """The sentence about course.toml is the instructor's; students are told to come again."""
    toml = course / "course.toml"
    toml.write_text(toml.read_text() + "\n[nonsense")
    answer = client.get("/week0", headers=bearer(tokens["ada"]))
    assert answer.status_code == 503 and "course.toml" not in answer.text


def test_tokens_are_kept_hashed_and_closed(course):
    """The file holds no token, and is its owner's; one that others can read is refused."""
    made = CliRunner().invoke(app, ["tokens", "ada", "--course", str(course)])
    token = made.output.splitlines()[1].partition(",")[2]
    file = course / FILE
    assert Tokens(course).student_of(token) == "ada" and token not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    Tokens(course).make(["bea"])
    assert file.stat().st_mode & 0o777 == 0o600 and Tokens(course).students() == ["ada", "bea"]
    file.chmod(0o644)
    with pytest.raises(CourseError, match="can be read by others"):
        Tokens(course).student_of(token)
    file.chmod(0o600)
    file.write_text("half")
    with pytest.raises(CourseError, match="cannot be read"):
        Tokens(course).student_of(token)


def test_a_table_of_tokens_replaces_no_other(course, tmp_path):
    """It is closed to others; what stands in an earlier one is nowhere else, and its tokens stay good."""
    out, command = tmp_path / "tokens.csv", ["tokens", "--course", str(course), "--out"]
    assert CliRunner().invoke(app, [*command, str(out), "ada"]).exit_code == 0
    (line,) = [each for each in out.read_text().splitlines() if each.startswith("ada,")]
    assert out.stat().st_mode & 0o777 == 0o600
    again = CliRunner().invoke(app, [*command, str(out), "ada"])
    assert again.exit_code == 2 and "is there already" in again.output
    nowhere = CliRunner().invoke(app, [*command, str(tmp_path / "none" / "x.csv"), "ada"])
    assert nowhere.exit_code == 2 and "cannot be written (No such file or directory)" in nowhere.output
    assert Tokens(course).student_of(line.partition(",")[2]) == "ada"


@pytest.mark.parametrize("name", ["../ada", "", ".hidden", "a/b"])
def test_a_token_is_for_a_students_id(course, name):
    """A name that leads elsewhere gets none."""
    with pytest.raises(CourseError, match="cannot be a student's id"):
        Tokens(course).make([name])


USERS = {
    "of-ada": {"kind": "user", "name": "ada", "scopes": ["access:services!service=autograder"]},
    "of-a-server": {"kind": "user", "name": "ada", "scopes": ["access:servers!server=ada/"]},
    "of-another": {"kind": "user", "name": "ada", "scopes": ["access:services!service=other"]},
    "of-a-service": {"kind": "service", "name": "ada", "scopes": ["access:services!service=autograder"]},
    "of-nowhere": {"kind": "user", "name": "../ada", "scopes": ["access:services"]},
}


@pytest.fixture
def hub(monkeypatch):
    """What JupyterHub's API says of a token, as a service asks it."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            user = USERS.get(self.headers["Authorization"].split()[1]) if self.path == "/hub/api/user" else None
            self.send_response(200 if user else 403)
            self.end_headers()
            self.wfile.write(json.dumps(user or {}).encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("JUPYTERHUB_API_URL", f"http://127.0.0.1:{server.server_port}/hub/api")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "the service's own")
    monkeypatch.setenv("JUPYTERHUB_SERVICE_NAME", "autograder")
    yield server
    server.shutdown()
    server.server_close()


def test_a_hub_says_who_asks(hub):
    """A user's token that is for this service counts, and no other."""
    identity = Hub()
    assert {token: identity.student_of(token) for token in (*USERS, "unknown")} == {
        **dict.fromkeys((*USERS, "unknown")),
        "of-ada": "ada",
    }


def test_a_hub_that_is_away_lets_nobody_in(hub, course):
    """Nobody is taken for anybody while the hub does not answer."""
    identity = Hub()
    hub.shutdown()
    hub.server_close()
    client = Client(course, identity)
    assert client.get("/week0", headers=bearer("of-ada")).status_code == 503


def test_a_service_is_started_by_the_hub(monkeypatch):
    """Elsewhere the option is refused in one sentence."""
    monkeypatch.delenv("JUPYTERHUB_API_TOKEN", raising=False)
    with pytest.raises(CourseError, match="is for a service that the hub starts"):
        Hub()


def test_serving_by_http_needs_tokens_and_a_port(course):
    """What is missing is said before anything is begun."""
    words = ["serve", "week0", "--http", "--course", str(course)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2 and "run `autograder tokens` first" in " ".join(result.output.split())
    Tokens(course).make(["ada"])
    with web.Web(course, lambda _: ["week0"], Tokens(course), 0) as taken:
        result = CliRunner().invoke(app, [*words, "--port", str(taken.port)])
    assert result.exit_code == 2 and f"port {taken.port} of 127.0.0.1 cannot" in " ".join(result.output.split())


def test_the_process_that_answers_is_started_again(course, tokens):
    """It keeps nothing, so that whatever ends it, the next one answers the same."""
    with web.Web(course, lambda _: ["week0"], Tokens(course), 0) as answering:
        address = f"http://127.0.0.1:{answering.port}/week0"
        sent = requests.post(
            address, json={"files": notebooks(course, RIGHT)}, headers=bearer(tokens["ada"]), timeout=60
        )
        assert sent.status_code == 202
        answering._process.kill()
        answering._process.join()
        answering.keep_up()
        state = requests.get(address, headers=bearer(tokens["ada"]), timeout=60).json()
        assert state["handed_in"] == sent.json()["handed_in"] and state["state"] == "queued"


@pytest.mark.parametrize("head", [b"", b"GET /week0 HTTP/1.1\r\n"])
def test_a_connection_without_a_request_is_closed(course, tokens, monkeypatch, head):
    """It takes nobody's place for longer than a head may take, also after an answer; a request in time is answered."""
    monkeypatch.setattr(web, "HEAD_SECONDS", 0.5)
    whole = f"GET /week0 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {tokens['ada']}\r\n\r\n".encode()
    with web.Web(course, lambda _: ["week0"], Tokens(course), 0) as answering:
        for first in (b"", whole):
            with socket.create_connection((web.HOST, answering.port), timeout=10) as asked:
                if first:
                    asked.sendall(first)
                    answer = b""
                    while not answer.endswith(b"}"):
                        answer += asked.recv(10_000)
                    assert answer.startswith(b"HTTP/1.1 200")
                if not first or head:
                    asked.sendall(head)
                    assert asked.recv(10_000) == b""


@pytest.mark.full("a hand-in is graded", share=12)
def test_a_hand_in_by_http_is_graded(course, tokens):
    """The mark and the page come back to the student who handed in, and to no other."""
    served = Served(course, "--http", "--port", "0")
    served.until(lambda: "takes hand-ins" in served.log.read_text())
    place = served.log.read_text().partition("http://")[2].partition(" ")[0]
    address = f"http://{place}/week0"
    mine = {"headers": bearer(tokens["ada"]), "timeout": 60}
    assert requests.post(address, json={"files": notebooks(course, RIGHT)}, **mine).status_code == 202
    states = []

    def graded():
        time.sleep(1.5)
        states.append(requests.get(address, **mine).json())
        return states[-1]["state"] == "graded"

    assert served.until(graded)
    assert (states[-1]["earned"], states[-1]["points"]) == (7, 7) and states[0]["state"] in ("queued", "being graded")
    page = requests.get(f"{address}/00_numbers.html", **mine)
    assert page.status_code == 200 and "3 of 3" in page.text and "sandbox" in page.headers["Content-Security-Policy"]
    other = {"headers": bearer(tokens["bea"]), "timeout": 60}
    assert requests.get(f"{address}/00_numbers.html", **other).status_code == 404
    assert requests.get(f"{address}/secrets.html", **mine).status_code == 404
    assert served.end(15) == 0, served.log.read_text()

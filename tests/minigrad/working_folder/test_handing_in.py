"""`minigrad submit --wait` at a server that a test plays, and the due dates that a folder shows."""

import datetime as dt
import json

import pytest
from played_server import TOKEN, Played, state
from typer.testing import CliRunner

from minigrad import cli
from minigrad.errors import MinigradError
from minigrad.exercises import syllabus, telling
from minigrad.working_folder import dates, handing_in, starting

NOW = dt.datetime(2027, 2, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def played(monkeypatch):
    """A server that the environment names."""
    made = Played()
    monkeypatch.setenv("MINIGRAD_SERVER", made.address)
    monkeypatch.setenv("MINIGRAD_TOKEN", TOKEN)
    monkeypatch.setattr(handing_in, "EVERY", 0.0)
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder that is worked in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(telling, "_folder", None)
    folder = tmp_path / "work"
    starting.start(folder)
    return folder


def run(*words):
    """Run a command; return what it said, and its error."""
    result = CliRunner().invoke(cli.app, list(map(str, words)))
    assert result.exception is None or isinstance(result.exception, MinigradError | SystemExit), result.exception
    return " ".join(result.output.split()), str(result.exception or "")


def submit(work):
    """Hand module1 in."""
    return run("submit", work.name, "--assignment", "module1", "--wait")


def test_the_mark_comes_back(work, played):
    """The notebooks go to the server with the token; it is asked until there is a mark; the pages lie in the folder."""
    times = {"due": "2027-02-01T12:00:00+00:00", "deadline": "2027-02-03T12:00:00+00:00"}
    graded = state("graded", earned=62.5, points=67.0, lessons=[{"lesson": "02_chain_rule"}], **times)
    came = {"handed_in": "2027-02-02T12:00:00+00:00"}
    played.answers = [state(**times), state("being graded"), graded | came]
    said, error = submit(work)
    assert not error and "module1: 62.5 of 67 points." in said and "It came in time." in said
    assert set(played.files) == {f"{lesson}.ipynb" for lesson in lessons("module1")}
    assert [each[:2] for each in played.asked] == [
        ("POST", "/module1"),
        ("GET", "/module1"),
        ("GET", "/module1"),
        ("GET", "/module1/02_chain_rule.html"),
    ]
    assert {each[2] for each in played.asked} == {f"Bearer {TOKEN}"}
    page = work / ".minigrad" / "feedback" / "module1" / "02_chain_rule.html"
    assert page.read_text() == "<p>a page</p>" and page.as_uri() in said
    assert dates.dates_of(work, ["module1"], NOW)[0].endswith("with your extension: 2 days are left.")


def lessons(name):
    """The lessons of an assignment."""
    return next(each["lessons"] for each in syllabus.course()["assignments"] if each["name"] == name)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            state("waits", said="until 2027-02-02 00:00 UTC"),
            "graded after 2027-02-02 00:00 UTC. Ask again later with `minigrad submit --wait --assignment module1`.",
        ),
        (state("refused", said="the disk is full"), "could not be graded yet: the disk is full. It is tried again."),
        (
            state("waits", handed_in="2027-02-02T00:00:00+00:00", deadline="2027-02-01T00:00:00+00:00"),
            "It came after the due date, 2027-02-01",
        ),
    ],
)
def test_what_keeps_the_mark_is_said(work, played, found, words):
    """A hand-in that has to wait longer than minutes does not keep the terminal."""
    played.answers = [state(), found]
    said, error = submit(work)
    assert not error and words in said


def test_pages_of_an_earlier_mark_are_not_fetched_again(work, played):
    """They are there already, and may go at this moment: a newer hand-in is being taken in."""
    played.answers = [
        state(),
        state("waits", said="until 2027-02-02", earned=1.0, points=2.0, lessons=[{"lesson": "x"}]),
    ]
    said, error = submit(work)
    assert not error and "Your mark so far: 1 of 2 points." in said
    assert not any(path.endswith(".html") for _, path, _ in played.asked)


def test_the_wait_for_a_mark_ends(work, played, monkeypatch):
    """A hand-in that stays queued does not keep the terminal for ever; how to ask again is said."""
    monkeypatch.setattr(handing_in, "LONGEST", 0.0)
    played.answers = [state()]
    said, error = submit(work)
    assert not error and "is queued. Ask again later with `minigrad submit --wait --assignment module1`." in said


@pytest.mark.parametrize(
    ("code", "answer", "words"),
    [
        (401, {"error": "no token of this\ncourse"}, "refuses: no token of this course"),
        (500, [], "refuses: 500 Internal Server Error"),
        (302, {}, "refuses: 302 Found"),
        (200, {"hello": "world"}, "is no server of the course; ask your instructor"),
        (200, 7, "is no server of the course; ask your instructor"),
    ],
)
def test_a_refusal_is_one_sentence(work, played, code, answer, words):
    """Whatever answers; and no redirection takes the token elsewhere."""
    played.code, played.answers = code, [answer]
    _, error = submit(work)
    assert words in error and "\n" not in error and len(played.asked) == 1
    assert (work / "module1.zip").is_file()


def test_the_folder_may_name_the_server(work, played, monkeypatch):
    """The environment comes first; a file that is damaged, or an address that is none, is one sentence."""
    assert TOKEN not in repr(handing_in.server_for(work))
    monkeypatch.delenv("MINIGRAD_SERVER")
    monkeypatch.delenv("MINIGRAD_TOKEN")
    assert handing_in.server_for(work) is None
    path = work / ".minigrad" / "server.json"
    path.write_text(json.dumps({"address": played.address + "/", "token": "of the folder"}))
    assert handing_in.server_for(work) == handing_in.Server(played.address, "of the folder")
    for content, words in (
        ("{", "cannot be read; write it as"),
        ('{"address": "file:///etc/passwd", "token": "x"}', "is no address of a server"),
        ('{"address": "http://127.0.0.1:1"}', "there is no token for"),
        ('{"address": "http://127.0.0.1:1", "token": "a\\nb"}', "there is no token for"),
    ):
        path.write_text(content)
        with pytest.raises(MinigradError, match=words):
            handing_in.server_for(work)
    path.write_text('{"address": "http://127.0.0.1:1", "token": "of the folder"}')
    with pytest.raises(MinigradError, match="does not answer"):
        handing_in.server_for(work).state("module1")


def test_the_hubs_token_goes_to_the_named_address_alone(work, played, monkeypatch):
    """It opens the student's own server: a folder that somebody sends cannot have it sent elsewhere."""
    monkeypatch.delenv("MINIGRAD_TOKEN")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of the hub")
    assert handing_in.server_for(work).token == "of the hub"
    monkeypatch.delenv("MINIGRAD_SERVER")
    path = work / ".minigrad" / "server.json"
    path.write_text(json.dumps({"address": played.address}))
    with pytest.raises(MinigradError, match="there is no token for"):
        handing_in.server_for(work)
    monkeypatch.setenv("MINIGRAD_TOKEN", TOKEN)
    with pytest.raises(MinigradError, match="there is no token for"):
        handing_in.server_for(work)


def test_without_a_server_nothing_is_waited_for(work, monkeypatch):
    """The option is refused before anything is packed."""
    monkeypatch.delenv("MINIGRAD_SERVER", raising=False)
    _, error = submit(work)
    assert "no server of your course is named" in error and not (work / "module1.zip").exists()


@pytest.fixture
def due(monkeypatch):
    """A course whose first two assignments have dates."""
    course = json.loads(json.dumps(syllabus.course()))
    course["assignments"][0]["due"] = "2027-01-31T12:00:00+00:00"
    course["assignments"][1]["due"] = "2027-02-01T15:00:00+00:00"
    monkeypatch.setattr(dates, "course", lambda: course)


def test_dates_are_said(work, due):
    """The next one that is to come; of one that is asked for also what is over."""
    (said,) = dates.next_dates(work, NOW)
    assert said.startswith("module1 is due 2027-02-01 ") and said.endswith(": 3 hours are left.")
    (late,) = dates.dates_of(work, ["module0", "module2"], NOW)
    assert late.startswith("module0 was due 2027-01-31 ") and late.endswith("handed in now is late by 24 hours.")
    assert dates.next_dates(work, NOW + dt.timedelta(days=9)) == []


def test_what_the_server_said_counts(work, due):
    """An extension moves the date; a damaged file is as none."""
    dates.remember(work, state(due="2027-02-01T15:00:00+00:00", deadline="2027-02-05T15:00:00+00:00"))
    assert dates.dates_of(work, ["module1"], NOW)[0].endswith("with your extension: 4 days are left.")
    (work / ".minigrad" / dates.FILE).write_text("[")
    assert dates.dates_of(work, ["module1"], NOW)[0].endswith(": 3 hours are left.")


def test_a_due_date_that_moved_since_replaces_what_the_server_said(work, due):
    """The server's word counts for the due date that it was said for, in whatever zone and fraction of a second."""
    dates.remember(work, state(due="2027-02-01T15:00:00+00:00", deadline="2027-02-05T15:00:00+00:00"))
    first = dates.course()["assignments"][1]
    for same in ("2027-02-01T16:00:00+01:00", "2027-02-01T15:00:00.500000+00:00"):
        first["due"] = same
        assert dates.dates_of(work, ["module1"], NOW)[0].endswith("with your extension: 4 days are left.")
    first["due"] = "2027-02-08T15:00:00+00:00"
    assert dates.dates_of(work, ["module1"], NOW)[0].endswith(": 7 days are left.")
    dates.remember(work, state(due=None, deadline=None))
    assert dates.dates_of(work, ["module1"], NOW)[0].endswith(": 7 days are left.")
    del first["due"]  # sections have dates of their own, which only the server knows
    dates.remember(work, state(due="2027-02-02T12:00:00+00:00", deadline="2027-02-04T12:00:00+00:00"))
    assert dates.dates_of(work, ["module1"], NOW)[0].endswith("with your extension: 3 days are left.")


@pytest.mark.parametrize(
    "words", [("start", "work"), ("progress", "work"), ("check", "work/01_numerical_derivatives.ipynb")]
)
def test_commands_show_the_date(work, due, words):
    """A student need not ask the instructor when it is due."""
    monday = dt.datetime.now(dt.UTC) + dt.timedelta(days=3, hours=1)
    dates.course()["assignments"][1]["due"] = monday.isoformat()
    assert "module1 is due " in run(*words)[0]

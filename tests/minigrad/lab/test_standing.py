"""What JupyterLab's page shows of an assignment, at a server that a test plays, and what it may ask for."""

import datetime as dt
import json
import tomllib

import pytest
from played_server import TOKEN, Played, state

from minigrad import lab
from minigrad.errors import MinigradError
from minigrad.exercises import syllabus, telling
from minigrad.lab.standing import feedback, hand_in, standing
from minigrad.working_folder import handing_in, starting

SOON = (dt.datetime.now(dt.UTC) + dt.timedelta(days=3, minutes=1)).isoformat(timespec="seconds")
LATER = (dt.datetime.now(dt.UTC) + dt.timedelta(days=5, minutes=1)).isoformat(timespec="seconds")
MARKED = {"earned": 62.5, "points": 67.0, "lessons": [{"lesson": "02_chain_rule", "earned": 9.5, "points": 12.0}]}


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder as nbgrader fetches it: lessons, and nothing of `minigrad start`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(telling, "_folder", None)
    monkeypatch.delenv("MINIGRAD_SERVER", raising=False)
    starting.start(tmp_path / "made")
    folder = tmp_path / "module1"
    folder.mkdir()
    for lesson in next(each["lessons"] for each in syllabus.course()["assignments"] if each["name"] == "module1"):
        (tmp_path / "made" / f"{lesson}.ipynb").rename(folder / f"{lesson}.ipynb")
    return folder


@pytest.fixture
def played(work, monkeypatch):
    """A server that the environment names."""
    made = Played()
    monkeypatch.setenv("MINIGRAD_SERVER", made.address)
    monkeypatch.setenv("MINIGRAD_TOKEN", TOKEN)
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_what_is_no_lesson_shows_nothing(work, played):
    """A student's own notebook has no button, and no server is asked."""
    assert standing(work / "notes.ipynb") == {} and played.asked == []


def test_without_a_server_the_due_date_is_shown(work, monkeypatch):
    """There is no button then, and a course without dates shows nothing."""
    lesson = work / "02_chain_rule.ipynb"
    nothing = {"submit": "", "state": "none", "handed_in": None, "is_late": False, "lines": [], "pages": []}
    assert standing(lesson) == nothing
    course = json.loads(json.dumps(syllabus.course()))
    course["assignments"][1]["due"] = SOON
    for module in ("minigrad.lab.standing", "minigrad.working_folder.dates"):
        monkeypatch.setattr(f"{module}.course", lambda: course)
    (line,) = standing(lesson)["lines"]
    assert line.startswith("module1 is due ") and line.endswith(": 3 days are left.")


def test_the_mark_and_an_extension_are_shown(work, played):
    """The mark comes first, then whether it came in time, until when work can be handed in, and a link a lesson."""
    came = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    played.answers = [state("graded", due=SOON, deadline=LATER, handed_in=came, **MARKED)]
    found = standing(work / "02_chain_rule.ipynb")
    assert found["lines"][:2] == ["module1: 62.5 of 67 points.", "It came in time."]
    assert found["lines"][2].endswith("with your extension: 5 days are left.") and found["lines"][3:] == []
    assert found["pages"] == [{"lesson": "02_chain_rule", "label": "02_chain_rule: 9.5 of 12 points"}]
    assert (found["submit"], found["state"]) == ("Submit", "graded")
    assert sorted(path.name for path in work.iterdir()) == sorted(
        f"{lesson}.ipynb" for lesson in ("01_numerical_derivatives", "02_chain_rule", "03_backprop")
    )


def test_late_work_has_no_days_left(work, played):
    """Behind the due date only that it came late is said."""
    played.answers = [
        state("graded", due="2026-01-01T00:00:00+00:00", deadline="2026-01-01T00:00:00+00:00",
              handed_in="2026-01-02T00:00:00+00:00", late=86400.0, **MARKED)
    ]  # fmt: skip
    found = standing(work / "02_chain_rule.ipynb")
    assert found["lines"][1].startswith("It came after the due date, 2026-01-01") and found["is_late"]
    assert found["lines"][2:] == []


def test_who_was_in_time_is_told_that_the_due_date_is_over(work, played):
    """To hand in once more would be late, and take the place of the mark."""
    past, before = "2026-01-01T00:00:00+00:00", "2025-12-31T00:00:00+00:00"
    played.answers = [state("graded", due=past, deadline=past, handed_in=before, late=0.0, **MARKED)]
    found = standing(work / "02_chain_rule.ipynb")
    assert found["lines"][1] == "It came in time." and "what is handed in now is late by" in found["lines"][2]
    assert not found["is_late"]


def test_a_mark_stays_in_sight_while_a_limit_holds_the_next_one_back(work, played):
    """So does the link to its page."""
    played.answers = [state("waits", said="until 2027-02-02 00:00 UTC", **MARKED)]
    found = standing(work / "02_chain_rule.ipynb")
    assert found["lines"][1] == "Your mark so far: 62.5 of 67 points." and len(found["pages"]) == 1


def test_a_lesson_in_chinese_speaks_chinese(work, played):
    """The words are those of the notebook's language, whatever else the server of Jupyter serves."""
    for path in work.glob("*.ipynb"):
        notebook = json.loads(path.read_text())
        notebook["metadata"]["minigrad"]["language"] = "zh_CN"
        path.write_text(json.dumps(notebook))
    came = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    played.answers = [state("graded", due=SOON, deadline=LATER, handed_in=came, **MARKED)] * 2
    found = hand_in(work / "02_chain_rule.ipynb")
    texts = [found["submit"], *found["lines"], *(page["label"] for page in found["pages"]), *found["warnings"]]
    assert len(texts) >= 6 and all(any("\u4e00" <= letter <= "\u9fff" for letter in text) for text in texts), texts
    assert telling.language() == "en"


def test_all_notebooks_of_the_assignment_are_handed_in(work, played):
    """As they lie there; what looks unfinished is said, and a missing one is refused before anything is sent."""
    played.answers = [state()]
    found = hand_in(work / "02_chain_rule.ipynb")
    assert len(played.files) == 3 and found["lines"] == ["Your hand-in is queued."]
    assert found["warnings"][0].startswith("01_numerical_derivatives.ipynb: nothing is written yet in ")
    (work / "03_backprop.ipynb").unlink()
    with pytest.raises(MinigradError, match=r"03_backprop\.ipynb is missing$"):
        hand_in(work / "02_chain_rule.ipynb")
    with pytest.raises(MinigradError, match=r"copy\.ipynb is no lesson's notebook"):
        hand_in(work / "copy.ipynb")
    assert [method for method, *_ in played.asked] == ["POST"]


def test_a_feedback_page_is_the_servers(work, played, monkeypatch):
    """Its name cannot leave the assignment's address; without a server there is none."""
    assert feedback(work / "02_chain_rule.ipynb", "../eve") == b"<p>a page</p>"
    assert played.asked[-1][1] == "/module1/../eve.html" or "%2F" in played.asked[-1][1]
    monkeypatch.delenv("MINIGRAD_SERVER")
    monkeypatch.setattr(handing_in, "FILE", "none.json")
    with pytest.raises(MinigradError, match="no server of your course is named"):
        feedback(work / "02_chain_rule.ipynb", "02_chain_rule")


def test_jupyter_finds_both_parts(root):
    """What an installation puts where Jupyter looks is there, and names what is there."""
    wheel = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    at = {place: root / source for source, place in wheel["shared-data"].items()}
    page = at["share/jupyter/labextensions/minigrad-course"]
    package = json.loads((page / "package.json").read_text())
    assert (page / package["jupyterlab"]["_build"]["load"]).is_file()
    assert f'_JUPYTERLAB ??= {{}})["{package["name"]}"]' in (page / "static" / "submit.js").read_text()
    server = json.loads(at["etc/jupyter/jupyter_server_config.d/minigrad.json"].read_text())["ServerApp"]
    (point,) = lab._jupyter_server_extension_points()
    assert server["jpserver_extensions"] == {point["module"]: True}

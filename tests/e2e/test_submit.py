"""*Submit* in JupyterLab: the due date, the mark, a limit of tries and lateness come into the notebook."""

import datetime as dt
import re
import signal
import socket

import pytest
from lab import PATIENCE, jupyter_lab, person, window
from playwright.sync_api import Browser, expect
from served_courses import Served, served_course
from two_lessons import ARITHMETIC

from autograder.building.editions import make_edition
from autograder.course.loading import load_course
from autograder.gradebook.tokens import Tokens

FIRST, SECOND = "week0/00_numbers.ipynb", "week0/01_order.ipynb"
WRONG = ARITHMETIC.replace("x + y", "x - y")
HOUR = dt.timedelta(hours=1)


def due(course, when):
    """Write another due date into course.toml."""
    path = course / "course.toml"
    text = re.sub(r"^due = .*\n", "", path.read_text(), flags=re.MULTILINE)
    path.write_text(text.replace('name = "week0"\n', f'name = "week0"\ndue = {when.isoformat(timespec="seconds")}\n'))


@pytest.fixture
def course(tmp_path):
    """A course that is released, with two tries a day and a due date in an hour."""
    made = served_course(tmp_path / "class")
    path = made / "course.toml"
    path.write_text(path.read_text().replace("tries_per_day = 100", "tries_per_day = 2").replace('"points"', '"all"'))
    due(made, dt.datetime.now(dt.UTC) + HOUR)
    return made


@pytest.fixture
def served(course):
    """The course, served by HTTP, with the variables that name the server to ada."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = Tokens(course).make(["ada"])["ada"]
    command = Served(course, "--http", "--port", str(port))
    command.names = {"MINIGRAD_SERVER": f"http://127.0.0.1:{port}", "MINIGRAD_TOKEN": token}
    yield command
    command.process.kill()
    command.process.wait()


@pytest.fixture
def lab_extension(root, tmp_path):
    """What an installation puts where Jupyter looks, of this checkout."""
    prefix, source = tmp_path / "prefix", root / "src" / "minigrad" / "lab"
    for target, file in (
        (prefix / "share" / "labextensions" / "minigrad-course", source / "page"),
        (prefix / "etc" / "jupyter_server_config.d" / "minigrad.json", source / "jupyter_server_config.json"),
    ):
        target.parent.mkdir(parents=True)
        target.symlink_to(file)
    return {"JUPYTER_PATH": str(prefix / "share"), "JUPYTER_CONFIG_PATH": str(prefix / "etc")}


def test_the_mark_comes_into_the_notebook(browser: Browser, course, served, lab_extension, tmp_path, root):
    """Fetched, wrong, mended, above the limit of tries, after the due date: each is seen in the notebook."""
    home = tmp_path / "ada"
    exchange = f"c.Exchange.root = {str(course / 'exchange')!r}\nc.CourseDirectory.course_id = 'minigrad'\n"
    env = person(home, exchange) | served.names | lab_extension
    found = load_course(course)
    make_edition(home / "edition", found.exercises, found)
    work = home / "work"
    work.mkdir()
    pictures = root / "build" / "screenshots" / "submit"
    expect.set_options(timeout=PATIENCE)  # a mark takes seconds, on a busy machine more
    with (
        jupyter_lab(work, env | {"PYTHONPATH": str(home / "edition")}) as address,
        window(browser, address, pictures) as lab,
    ):
        lab.open_lab()
        listed = lab.assignments()
        listed.locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
        expect(listed.locator("#fetched_assignments_list")).to_contain_text("week0")

        lab.open_notebook(FIRST)
        strip = lab.page.locator(".mg-standing:visible")
        expect(strip).to_contain_text(re.compile(r"week0 is due .*: \d\d minutes are left\."))
        lab.page.wait_for_timeout(500)
        lab.picture("1-due")

        lab.type_into(lab.cell("# exercise:"), WRONG)  # not saved: Submit does that
        lab.toolbar("Submit")
        expect(strip).to_contain_text("01_order.ipynb: nothing is written yet")
        lab.picture("2-handed-in")
        expect(strip).to_contain_text("week0: 1 of 7 points.")
        expect(strip).to_contain_text("It came in time.")
        lab.picture("3-marked")

        with lab.page.expect_popup() as opened:
            strip.get_by_role("link", name="00_numbers: 1 of 3 points").click()
        expect(opened.value.locator("body")).to_contain_text("use +")
        policy = lab.page.request.get(opened.value.url).headers["content-security-policy"]
        assert policy.startswith("sandbox;")  # the page quotes code: nothing in it runs
        opened.value.close()

        lab.type_into(lab.cell("# exercise:"), ARITHMETIC)
        lab.toolbar("Submit")
        expect(strip).to_contain_text("week0: 3 of 7 points.")
        lab.picture("4-mended")

        lab.type_into(lab.cell("# exercise:"), WRONG)
        lab.toolbar("Submit")
        expect(strip).to_contain_text("Your hand-in has arrived; a limit lets it be graded after")
        lab.picture("5-limit")

        due(course, dt.datetime.now(dt.UTC) - HOUR)
        lab.type_into(lab.cell("# exercise:"), ARITHMETIC)
        lab.toolbar("Submit")
        expect(strip).to_contain_text("It came after the due date")
        lab.picture("6-late")
        assert lab.asked_of_others() == []

        served.end(signal.SIGKILL)
        lab.open_notebook(SECOND)
        expect(strip).to_contain_text(f"the server at {served.names['MINIGRAD_SERVER']} does not answer")

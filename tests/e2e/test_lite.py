"""The site of `make lite`: Python in the browser, the lessons in it, and no other host asked for anything."""

import json
import re
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from lab import window
from playwright.sync_api import expect

from autograder.building.slicing import slice_exercise
from autograder.course.loading import load_course
from book.lite.making import ready
from book.lite.notebooks import address_of
from book.lite.places import LiteError, Places

COURSE = load_course()
SITE = Places().site
PATIENCE = 240_000  # milliseconds: Python itself is loaded with the first cell

NEW_TEXT = """from pathlib import Path
import minigrad
from minigrad.working_folder import browser
given = Path(minigrad.__file__).parent / "notebooks" / "03_backprop.ipynb"  # as another version of the site has it
given.write_text(given.read_text().replace("back along a chain.", "back along any chain."))
browser.lessons()
browser.update()"""

pytestmark = pytest.mark.full("Python in a browser, in the site of `make lite`")


@pytest.fixture(scope="module")
def site():
    """The address of the site, served as its maker says."""
    try:
        ready()
    except LiteError as error:
        pytest.skip(str(error))
    if not (SITE / "index.html").is_file():
        pytest.skip("build/lite is not there: run `make lite`")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(SITE), str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(address, timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def student(browser, site, root, request):
    """Return a function that opens a lesson, waits for its first cell, and gives it to a person."""
    name = request.node.name.removeprefix("test_")
    with window(browser, site, root / "build" / "screenshots" / "lite" / name) as lab:
        lab.page.set_default_timeout(PATIENCE)

        def start(lesson):
            begun = time.monotonic()
            lab.page.goto(f"{address_of(lesson, f'{site}/')}&reset")
            lab.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()
            cells = lab.page.locator(".jp-NotebookPanel .jp-CodeCell")
            lab.run(cells.nth(0), PATIENCE)  # the site's own, which asks for news
            outputs = lab.run(cells.nth(1), PATIENCE)
            seconds = time.monotonic() - begun
            assert outputs.inner_text().strip() == "", "a lesson's first cell prints nothing"
            print(f"{lesson}: {seconds:.1f} s from the page's address to its first executed cell")
            return lab

        yield start
        assert lab.asked_of_others() == []
        assert any("pyodide.asm.wasm" in url for url in lab.asked)


def answered(lab, exercise, answer):
    """Type an answer, run it and its check, and return the report's text."""
    cell = lab.cell(f"# exercise: {exercise}")
    lab.type_into(cell, answer)
    lab.run(cell, PATIENCE)
    outputs = lab.run(lab.cell(f'check("{exercise}")'), PATIENCE)
    expect(outputs.locator(".jp-OutputArea-child")).to_have_count(1)
    return " ".join(outputs.locator(".minigrad-check").inner_text().split())


def test_lesson_03_is_solved_in_the_page(student):
    """A wrong answer gets the hint that it gets anywhere; with the right one every check is green."""
    lab = student("03_backprop")
    wrong = "# exercise: autodiff.topological_sort\ndef topological_sort(variable):\n    return [variable]\n"
    report = answered(lab, "autodiff.topological_sort", wrong)
    lab.picture("1-wrong")
    assert re.match(r"autodiff.topological_sort: \d of \d checks pass", report)
    assert "Hint:" in report
    assert 'hint("autodiff.topological_sort") gives a nudge' in report
    exercises = COURSE.of_lesson("03_backprop")
    for exercise in exercises:
        report = answered(lab, exercise.id, slice_exercise(COURSE, exercise.id).reference_cell)
        assert re.match(rf"{re.escape(exercise.id)}: all \d+ checks pass", report), report
    lab.picture("2-right")
    used = lab.run(lab.cell("minigrad.use()"), PATIENCE).inner_text()
    assert re.search(rf"03_backprop +{len(exercises)} of {len(exercises)} yours", used), used


def test_a_lesson_that_changed_is_offered_and_the_answer_stays(student):
    """A reader comes back when the site has a new text: it comes when asked for, around what was written."""
    lab = student("03_backprop")
    lab.type_into(lab.cell("# exercise: mlp.SGD"), "# exercise: mlp.SGD\nmine = 1\n")
    lab.save()
    first = lab.page.locator(".jp-NotebookPanel .jp-CodeCell").first
    lab.type_into(first, NEW_TEXT)
    outputs = lab.run(first, PATIENCE).inner_text()
    assert "03_backprop has changed on this site" in outputs
    assert "03_backprop: 1 cell is new or reworded, 0 were taken out" in outputs
    lab.page.locator(".lm-MenuBar-itemLabel").get_by_text("File", exact=True).click()
    lab.page.locator(".lm-Menu-item").get_by_text("Reload Notebook from Disk").click()
    lab.page.locator(".jp-Dialog button.jp-mod-accept").click()
    lab.page.locator(".jp-RenderedMarkdown").get_by_text("You can go back along any chain.").wait_for()
    assert "mine = 1" in lab.cell("# exercise: mlp.SGD").inner_text()
    lab.picture("1-updated")


def test_a_widget_moves(student):
    """A click in the page changes the state in the kernel, and the picture follows."""
    lab = student("03_backprop")
    lab.run(lab.page.locator(".jp-CodeCell").filter(has_text="widgets.backprop(").first, PATIENCE)
    widget = lab.page.locator(".mgw").first
    expect(widget).to_be_visible(timeout=PATIENCE)
    said = widget.locator(".mgw-said")
    before = said.inner_text()
    widget.get_by_role("button", name="Step").click()
    expect(said).not_to_have_text(before, timeout=PATIENCE)
    assert "Step 1 of" in said.inner_text()
    lab.picture("1-a-step")


def test_a_lesson_with_numpy(student):
    """NumPy is there; a check that needs Numba is left out and says so, the others decide."""
    without = json.loads((Places().parts / "made-of.json").read_text(encoding="utf-8"))["missing"]
    if "NumPy" in without:
        pytest.skip("the site was made without NumPy; see docs/self-study/README.md")
    lab = student("04_strides")
    report = answered(
        lab,
        "tensor_data.index_to_position",
        slice_exercise(COURSE, "tensor_data.index_to_position").reference_cell,
    )
    assert "all 5 checks pass" in report
    assert "Not checked here: Numba compiles it" in report
    lab.picture("1-left-out")

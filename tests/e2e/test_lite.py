"""The site of `make lite`: Python in the browser, there and in the book's pages, and no other host asked."""

import json
import os
import re
import subprocess
import sys
import time

import nbformat
import pytest
from axe import serious
from lab import window
from playwright.sync_api import expect
from serving import served

from autograder.building.slicing import slice_exercise
from autograder.course.loading import load_course
from book.course_facts import Facts
from book.lessons import lesson_page
from book.lite.making import ready
from book.lite.notebooks import address_of
from book.lite.places import LiteError, Places
from book.making import SITE as SPHINX

COURSE = load_course()
SITE = Places().site
IN_PLACE = ("00_fundamentals", "01_numerical_derivatives", "02_chain_rule", "03_backprop")
PATIENCE = 240_000  # milliseconds: Python itself is loaded with the first cell

NEW_TEXT = """from pathlib import Path
import minigrad
from minigrad.working_folder import browser
given = Path(minigrad.__file__).parent / "notebooks" / "03_backprop.ipynb"  # as another version of the site has it
given.write_text(given.read_text().replace("back along a chain.", "back along any chain."))
browser.lessons()
browser.update()"""

LOADED = """import sys
from pathlib import Path
print([name for name in ("numpy", "matplotlib", "PIL", "ipywidgets", "ssl") if name in sys.modules])
files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
places = [Path(file) for file in files if file and "site-packages" in file and file.endswith(".py")]
print([place.name for place in places if not list((place.parent / "__pycache__").glob(f"{place.stem}.*"))])"""

pytestmark = pytest.mark.full("Python in a browser, in the site of `make lite`")


@pytest.fixture(scope="module")
def made():
    """The folder of the site."""
    try:
        ready()
    except LiteError as error:
        pytest.skip(str(error))
    if not (SITE / "index.html").is_file():
        pytest.skip("build/lite is not there: run `make lite`")
    return SITE


@pytest.fixture(scope="module")
def site(made):
    """The address of the site, served as its maker says."""
    with served(made) as address:
        yield address


@pytest.fixture(scope="module")
def pages(made, tmp_path_factory):
    """The address of the book's pages of these lessons, printed without results but one, with the site beside them."""
    facts, folder = Facts(), tmp_path_factory.mktemp("book")
    source, html = folder / "source", folder / "html"
    (source / "lessons").mkdir(parents=True)
    for name in IN_PLACE:
        lesson = facts.lessons[name]
        page = lesson_page(facts, lesson, lesson.source, run=address_of(name, "../run/"))
        for cell in page.cells:
            if cell.source.endswith("sub(5.0, 3.0)"):
                cell.outputs = [nbformat.v4.new_output("stream", text="as printed")]
        (source / "lessons" / f"{name}.ipynb").write_text(nbformat.writes(page))
    (source / "index.md").write_text("# minigrad\n\n```{toctree}\n:glob:\n\nlessons/*\n```\n")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(SPHINX), str(source), str(html)]
    subprocess.run(command, check=True, capture_output=True)
    (html / "run").symlink_to(made)
    with served(html) as address:
        yield f"{address}/lessons/"


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
        python = [n for n, url in enumerate(lab.asked) if url.endswith("/pyodide.asm.wasm")]
        lesson = next(n for n, url in enumerate(lab.asked) if "/files/" in url)
        assert len(python) == 1 and python[0] < lesson, "Python starts with the page, and the kernel gets that one"


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


def test_a_lesson_starts_with_what_its_cells_need(student):
    """No picture library before the first picture, and bytecode for every module; later packages come by themselves."""
    lab = student("03_backprop")
    cell = lab.page.locator(".jp-NotebookPanel .jp-CodeCell").first

    def printed(code):
        lab.type_into(cell, code)
        return lab.run(cell, PATIENCE)

    assert printed(LOADED).inner_text().split() == ["[]", "[]"]
    curve = printed("from minigrad import draw\ndraw.curves({'x': lambda x: x}, low=0.0, high=1.0, variable='x')")
    expect(curve.locator("img, svg").first).to_be_visible(timeout=PATIENCE)
    assert "'matplotlib'" in printed(LOADED).inner_text()


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


def test_a_lesson_is_open_whatever_the_address_says(browser, site):
    """The site's root leads to the first lesson; a reload, and the root the next time, to the one that was open."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    tab = page.locator(".lm-DockPanel .lm-TabBar-tabLabel")
    page.goto(site)
    expect(tab).to_have_text("00_fundamentals.ipynb", timeout=PATIENCE)
    page.goto(address_of("03_backprop", f"{site}/", "zh_CN"))
    for again in (page.reload, lambda: page.goto(site)):
        expect(tab).to_have_text("03_backprop.ipynb", timeout=PATIENCE)
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
        assert "path" not in page.url, "JupyterLite took it out"
        again()
    expect(tab).to_have_text("03_backprop.ipynb", timeout=PATIENCE)
    page.close()


class Cell:
    """A cell of the book's page, found by its number or by a line of its code."""

    def __init__(self, page, which):
        self.page = page
        codes = page.locator("pre[contenteditable]")
        lines = enumerate(codes.all_inner_texts())
        self.number = which if isinstance(which, int) else next(n for n, text in lines if which in text)
        self.code = codes.nth(self.number)
        self.box = self.code.locator("xpath=ancestor::*[contains(@class, 'cell ') or contains(@class, 'exercise ')][1]")
        self.button = self.box.locator(".cell-bar button").first
        self.output = self.box.locator(".cell_output")

    def write(self, text):
        """Put a text in the place of the cell's, as by typing."""
        self.code.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def run(self):
        """Run it by keyboard, wait until it is done, and return what came out."""
        self.code.evaluate("code => code.closest('details')?.setAttribute('open', '')")
        self.code.click()
        self.page.keyboard.press("Shift+Enter")
        expect(self.output).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
        return self.output.inner_text().strip()


def test_cells_of_the_book_run_in_place(browser, pages):
    """A cell runs with what it needs, is changed, fails in words, is stopped; what was typed outlives a reload."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{pages}00_fundamentals.html")
    assert page.locator(".cell_output").inner_text().strip() == "as printed"
    assert page.locator("pre[contenteditable]").count() == 0
    begun = time.monotonic()
    page.get_by_role("button", name="Run the cells here").click()
    sub, fold = Cell(page, "return x - y"), Cell(page, "squares = map(")
    assert sub.run() == "2.0"
    print(f"{time.monotonic() - begun:.1f} s from the button to the first result, load {os.getloadavg()[0]:.1f}")

    sub.write("print('mine')\nsubtract(7.0, 3.0)")
    assert sub.run().startswith("mine")
    assert sub.output.locator("p").inner_text() == "NameError: name 'subtract' is not defined"
    assert serious(page) == []
    assert "variance" in fold.run(), "the setup cell and solutions that nobody has written ran before it"

    answer = Cell(page, "# exercise: operators.arithmetic")
    assert "operators.arithmetic: 0 of" in answer.run()
    answer.write(slice_exercise(COURSE, "operators.arithmetic").reference_cell)
    assert "operators.arithmetic: all" in answer.run()

    drawn = Cell(page, "draw.fold(")
    drawn.run()
    expect(drawn.output.locator("svg, img").first).to_be_visible()

    sub.write("print('mine')\nwhile True: print('on and on')")
    sub.code.press("Control+Enter")
    expect(sub.output).to_contain_text("mine", timeout=PATIENCE)
    expect(sub.button).to_have_text("Stop")
    sub.button.click()
    expect(sub.button).to_have_text("Run")
    assert "while True" in sub.code.inner_text()
    assert Cell(page, 'print("nan < 1').run().startswith("nan < 1     False"), "Python started anew"

    page.reload()
    assert "while True" in sub.code.inner_text(), "what was typed is there, and Python has not started"
    assert page.locator("[role=status].cells-said").inner_text() == ""
    page.evaluate(
        "number => localStorage.setItem(Object.keys(localStorage).find(key => key.startsWith('minigrad-cells/')),"
        " JSON.stringify([{cell: number, given: 'def sub(): ...', typed: 'older'}]))",
        sub.number + 1,
    )
    page.reload()
    assert "return x - y" in sub.code.inner_text()
    sub.box.get_by_role("button", name="Show what you wrote").click()
    assert sub.code.inner_text() == "older"
    sub.box.get_by_role("button", name="Back to the site's text").click()
    assert "return x - y" in sub.code.inner_text()
    assert [url for url in asked if not url.startswith((pages.removesuffix("lessons/"), "data:"))] == []
    page.close()


@pytest.mark.parametrize("lesson", IN_PLACE)
def test_every_cell_of_a_lesson_runs_in_place(browser, pages, lesson):
    """In order, on demand: an exercise that is not written says so and spoils no later cell; every picture has room."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{pages}{lesson}.html")
    page.get_by_role("button", name="Run the cells here").click()
    begun, drawn = time.monotonic(), 0
    for number in range(page.locator("pre[contenteditable]").count()):
        cell = Cell(page, number)
        said = cell.run()
        assert cell.output.locator(".cell-error").count() == 0, (cell.code.inner_text(), said)
        assert ("0 of 1 checks pass" in said) == cell.code.inner_text().startswith("# exercise: ")
        assert "font cache" not in said
        pictures = cell.output.locator("img, svg")
        drawn += pictures.count()
        room = cell.output.bounding_box()["width"] + 1
        assert [box for each in pictures.all() if (box := each.bounding_box()) and box["width"] > room] == []
    assert drawn > 2
    print(f"{lesson}: all cells in {time.monotonic() - begun:.0f} s, load {os.getloadavg()[0]:.1f}")
    page.close()

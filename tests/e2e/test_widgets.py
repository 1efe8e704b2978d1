"""Widgets in JupyterLab: a click or a key changes the state in the kernel, and the picture follows."""

import re

import nbformat
import pytest
from axe import serious
from lab import LabPage, jupyter_lab, person, window
from nbclient import NotebookClient
from playwright.sync_api import Locator, expect

from minigrad import draw

in_turn = pytest.mark.full("a notebook in a browser", share=96)

PATIENCE = 30_000

BACKPROP = """\
from minigrad import Scalar, widgets
x = Scalar(5.0, name="x")
a = x * 2.0
b = a * 3.0
w = widgets.backprop(a * b, a=a, b=b)
w
"""
INDEX = """\
import numpy as np
from minigrad import widgets
w = widgets.index_explorer(np.broadcast_to(np.arange(6).reshape(2, 1, 3), (2, 2, 3)))
w
"""
BROADCAST = """\
from minigrad import widgets
w = widgets.broadcast_explorer((4, 1), (3,))
w
"""
DERIVATIVE = """\
from minigrad import widgets
w = widgets.derivative_explorer("sin", 1.0)
w
"""
PUZZLE = """\
from minigrad import widgets
w = widgets.memory_puzzle()
w
"""
PLAYGROUND = """\
from minigrad import widgets
w = widgets.playground(data="circle", hidden=[8], optimizer="Adam")
w
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """JupyterLab over an empty folder: its address, and the folder."""
    home = tmp_path_factory.mktemp("player")
    work = home / "work"
    work.mkdir()
    with jupyter_lab(work, person(home)) as address:
        yield address, work


class Player:
    """A person with one widget in front of them."""

    def __init__(self, lab: LabPage, code: str) -> None:
        self.lab = lab
        first = code.splitlines()[0]
        lab.run(lab.cell(first))
        self.widget: Locator = lab.page.locator(".mgw").first
        expect(self.widget).to_be_visible(timeout=PATIENCE)

    def asks(self, expression: str) -> str:
        """Return what an expression is in the kernel now."""
        ask = self.lab.cell("# ask")
        self.lab.type_into(ask, f"# ask\nprint({expression})")
        return self.lab.run(ask).inner_text().strip()

    def says(self, pattern: str) -> None:
        """Wait until the sentence below the pictures says something."""
        expect(self.widget.locator(".mgw-said")).to_contain_text(re.compile(pattern), timeout=PATIENCE)

    def stage(self, starts: str) -> Locator:
        """Return a picture by the beginning of its label, with the keyboard's focus on it."""
        place = self.widget.locator(f'[aria-label^="{starts}"]')
        place.focus()
        return place

    def dark(self, name: str) -> None:
        """Look at the widget in JupyterLab's dark theme, and keep a picture of it."""
        self._theme("JupyterLab Dark", light="false")
        expect(self.widget).to_have_css("color", "rgb(230, 237, 243)")
        self.picture(name)
        self._theme("JupyterLab Light", light="true")
        expect(self.widget).to_have_css("color", "rgb(31, 35, 40)")

    def _theme(self, name: str, light: str) -> None:
        page = self.lab.page
        page.locator(".lm-MenuBar-itemLabel").get_by_text("Settings", exact=True).click()
        page.locator(".lm-Menu-item").get_by_text("Theme", exact=True).hover()
        page.locator(".lm-Menu-item").get_by_text(name, exact=True).click()
        page.locator(f'body[data-jp-theme-light="{light}"]').wait_for(state="attached")
        page.locator("#jupyterlab-splash").wait_for(state="detached")

    def picture(self, name: str) -> None:
        """Keep a picture of the widget, in which axe-core finds nothing serious."""
        self.lab.pictures.mkdir(parents=True, exist_ok=True)
        self.widget.scroll_into_view_if_needed()
        self.widget.screenshot(path=self.lab.pictures / f"{name}.png")
        assert self._faults() == []

    def _faults(self) -> list[str]:
        """Return axe-core's faults. It takes most text in JupyterLab's boxes for hidden, so the widget leaves them."""
        paper = "position: relative; z-index: 9; background: var(--jp-layout-color1)"
        self.widget.evaluate(
            "(w, paper) => { w.before(w.place = new Comment()); document.body.append(w); w.style.cssText = paper; }",
            paper,
        )
        faults = serious(self.lab.page, ".mgw")
        self.widget.evaluate("w => { w.style.cssText = ''; w.place.replaceWith(w); }")
        return faults


@pytest.fixture
def play(browser, served, root, request):
    """Return a function that opens a notebook with a widget and gives it to a person."""
    address, work = served
    name = request.node.name.removeprefix("test_")
    with window(browser, address, root / "build" / "screenshots" / "widgets" / name) as lab:

        def start(code: str) -> Player:
            cells = [nbformat.v4.new_code_cell(code), nbformat.v4.new_code_cell("# ask")]
            kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
            nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), work / f"{name}.ipynb")
            lab.open_notebook(f"{name}.ipynb")
            return Player(lab, code)

        yield start
        assert lab.asked_of_others() == []


@in_turn
def test_backprop_steps(play):
    """Step by click and by key, run to the end, go back: the kernel knows each time, and so does the picture."""
    player = play(BACKPROP)
    player.picture("1-start")
    player.widget.get_by_role("button", name="Step").click()
    player.says("Step 1 of 4: .* is visited with 1, which is complete.* still waits for b")
    assert player.asks("w.step") == "1"
    graph = player.stage("The graph")
    graph.press("ArrowRight")
    player.says("Step 2 of 4: b is visited with 10")
    expect(graph.locator("g.ms-now")).to_contain_text("b =")
    player.picture("2-second")
    graph.press("End")
    player.says("visited once, with its whole gradient")
    assert player.asks("w.step, x.grad") == "4 None"
    player.picture("3-end")
    player.widget.get_by_role("button", name="Back").click()
    player.says("Step 3 of 4")
    graph.press("Home")
    graph.press(" ")
    player.says("Step 1 of 4")
    player.widget.get_by_role("button", name="Pause").click()
    player.widget.get_by_role("button", name="Reset").click()
    player.says("Before the first step")
    assert player.asks("w.step") == "0"
    graph.press("ArrowRight")
    player.dark("4-dark")


@in_turn
def test_backprop_shows_another_engine_after_a_reset(play):
    """With a wrong order in the library, Reset shows its mistake; the kernel is the same."""
    player = play(BACKPROP)
    wrong = "lambda v: [v, *dict.fromkeys(p for p in v.parents if not p.is_constant()), *v.parents[0].parents[:1]]"
    player.asks(f'__import__("minigrad.exercises").exercises.install({{"autodiff.topological_sort": {wrong}}})')
    player.widget.get_by_role("button", name="Reset").click()
    player.says("Before the first step")
    graph = player.stage("The graph")
    graph.press("ArrowRight")
    graph.press("ArrowRight")
    player.says("too early: it still waits for b")
    expect(graph.locator("g.ms-early")).to_have_count(1)
    player.picture("1-too-early")


@in_turn
def test_backprop_keeps_the_focus(play):
    """A button with no more to do keeps the keyboard's focus, says that it is disabled, and does nothing."""
    player = play(BACKPROP)
    for name, end, said in (("Step", "4", "Step 4 of 4"), ("Back", "0", "Before the first step")):
        pressed = player.widget.get_by_role("button", name=name)
        pressed.focus()
        for _ in range(6):
            pressed.press("Enter")
        player.says(said)
        expect(pressed).to_be_focused()
        expect(pressed).to_be_disabled()
        expect(pressed).to_have_css("border-style", "dashed")
        assert player.asks("w.step") == end
        expect(player.widget.get_by_role("button", disabled=True)).to_have_count(1)


@in_turn
def test_backprop_hears_capitals(play):
    """R resets with Shift and with Caps Lock as well; with Alt it is left to others."""
    player = play(BACKPROP)
    graph = player.stage("The graph")
    for capital in ("R", "Shift+R"):
        graph.press("End")
        player.says("visited once, with its whole gradient")
        graph.press(capital)
        player.says("Before the first step")
        assert player.asks("w.step") == "0"
    graph.press("ArrowRight")
    graph.press("Alt+r")
    graph.press("ArrowRight")
    player.says("Step 2 of 4")
    assert player.asks("w.step") == "2"


@in_turn
def test_index_explorer(play):
    """The pointer and the keys look at an element; its place in the storage is marked, and the way back shows both."""
    player = play(INDEX)
    expect(player.widget.locator(".mgw-keys")).to_contain_text("Page up and down for the axes before them")
    view = player.stage("The view")
    view.press("ArrowRight")
    player.says(r"index \(0, 0, 1\): 0·3 \+ 0·0 \+ 1·1 = position 1")
    assert player.asks("w.index, w.position") == "[0, 0, 1] 1"
    player.widget.locator('[data-part="view:1,1,2"]').hover()
    player.says(r"position 5.*\n?.*also|index \(1, 1, 2\)")
    assert player.asks("w.index, w.position") == "[1, 1, 2] 5"
    player.picture("1-pointed")
    player.widget.locator('[data-part="storage:4"]').click()
    player.says(r"shown by 2 indices: \(1, 0, 1\), \(1, 1, 1\): a step along axis 1 has stride 0")
    storage = player.stage("The storage")
    storage.press("Enter")
    expect(player.widget.locator('[data-part="view:1,1,1"] .mgw-here')).to_have_count(1)
    assert player.asks("w.index") == "[1, 1, 1]"
    player.picture("2-storage")
    player.dark("3-dark")


@in_turn
def test_broadcast_explorer(play):
    """Typing a shape changes the result or names the clash; pointing at an element shows what it reads."""
    player = play(BROADCAST)
    player.widget.locator('[data-part="out:2,1"]').hover()
    player.says(r"out\[2, 1\] reads a\[2, 0\] and b\[1\]")
    expect(player.widget.locator('[data-part="a:2,0"] .mp-mark')).to_have_count(1)
    assert player.asks("w.where, w.index") == "out [2, 1]"
    player.picture("1-pointed")
    grid = player.stage("The elements of the result")
    grid.press("ArrowDown")
    player.says(r"out\[3, 1\] reads a\[3, 0\]")
    player.widget.get_by_label("shape of b").fill("2, 3")
    player.says("axis -2 has sizes 4 and 2; they must match or one must be 1")
    assert player.asks("w.shape") == "None"
    player.picture("2-clash")
    player.widget.get_by_label("shape of b").fill("2, 1, 3")
    player.says(r"out\[0, 0, 0\] reads")
    assert player.asks("w.shape") == "[2, 4, 3]"
    player.dark("3-dark")


@in_turn
def test_derivative_explorer(play):
    """The slider's keys, a click in the chart and another function change what is measured."""
    player = play(DERIVATIVE)
    slider = player.widget.get_by_label("epsilon", exact=True)
    slider.focus()
    slider.press("ArrowLeft")
    player.says("With epsilon = 0.0562")
    assert player.asks("w.exponent") == "-1.25"
    player.picture("1-wide")
    player.widget.locator('[data-part="epsilon:-8.0"]').click()
    player.says(r"With epsilon = 1e-08:\s+forward difference 0.5403")
    expect(slider).to_have_value("-8")
    player.widget.get_by_label("function", exact=True).select_option("x ** 3")
    player.widget.get_by_label("x", exact=True).fill("2")
    player.says(r"x \*\* 3 at x = 2 has the slope 12\.")
    assert player.asks("w.function, w.x, w.exponent") == "x ** 3 2.0 -8.0"
    player.picture("2-narrow")
    slider.press("Home")
    player.says("forward difference 0, error 12: rounding prevails")
    player.dark("3-dark")


@in_turn
def test_memory_puzzle(play):
    """Boxes move by key, by button and by click; a clash and a solution are told; the kernel knows."""
    player = play(PUZZLE)
    player.picture("1-pile")
    player.says("has 512 bytes. Can you reach it")
    block = player.stage("The block")
    for _ in range(2):
        block.press("ArrowRight")
    for _ in range(4):
        block.press("ArrowDown")
    player.says("a and c are both there at step 3, in the same bytes")
    expect(block.locator("rect.mp-bad")).to_have_count(2)
    player.picture("2-clash")
    for _ in range(4):
        block.press("ArrowUp")
    player.widget.get_by_role("button", name="Next box").click()
    player.says("d lies in bytes 384 to 511")
    block.locator('[data-part="e"]').click()
    for _ in range(4):
        player.widget.get_by_role("button", name="Down").click()
    player.says("e lies in bytes 256 to 511")
    block.locator('[data-part="f"]').click()
    for _ in range(12):
        block.press("ArrowDown")
    player.says("no plan is lower: solved")
    assert player.asks("w.places") == "{'a': 0, 'b': 128, 'c': 256, 'd': 384, 'e': 256, 'f': 0}"
    player.picture("3-solved")
    player.dark("4-dark")
    block.press("r")
    player.says("The block has 1024 bytes")


@pytest.mark.full("a notebook in a browser", share=96)
def test_playground(play):
    """Training runs while other cells run, pauses, goes on with another engine, and begins anew."""
    player = play(PLAYGROUND)
    canvas = player.widget.locator("canvas")
    before = canvas.evaluate("canvas => canvas.toDataURL()")
    player.picture("1-fresh")
    player.widget.get_by_role("button", name="Step", exact=True).click()
    expect(player.widget.locator(".mgw-score")).to_contain_text("epoch 1,", timeout=PATIENCE)
    player.widget.get_by_role("button", name="Start").click()
    player.says("Training")
    first = int(player.asks("w.epoch"))  # another cell runs in between
    expect(player.widget.locator(".mgw-score")).to_have_text(re.compile(r"epoch \d{3,}, .* [78]\d of 80"))
    assert int(player.asks("w.epoch")) > first > 0
    player.picture("2-running")
    player.stage("What the network says").press(" ")
    player.says("Paused: epoch")
    stopped = int(player.asks("w.epoch"))
    assert canvas.evaluate("canvas => canvas.toDataURL()") != before
    player.widget.get_by_label("engine").select_option("scalar")
    player.says("engine scalar")
    player.widget.get_by_role("button", name="Step", exact=True).click()
    expect(player.widget.locator(".mgw-score")).to_contain_text(f"epoch {stopped + 1},", timeout=PATIENCE)
    assert int(player.asks("w.epoch")) == stopped + 1
    player.dark("3-dark")
    player.widget.get_by_role("button", name="add a hidden layer").click()
    player.says("2 → 8 → 4 → 1")
    assert player.asks("w.hidden, w.epoch") == "[8, 4] 0"


@in_turn
def test_the_playground_keeps_the_focus(play):
    """The buttons for hidden layers keep the keyboard's focus where there is no layer less, and no layer more."""
    player = play(PLAYGROUND)
    for name, layers in (("remove a hidden layer", "2 → 1 with"), ("add a hidden layer", "2 → 4 → 4 → 4 → 4 → 1 with")):
        pressed = player.widget.get_by_role("button", name=name)
        pressed.focus()
        for _ in range(6):
            player.lab.page.keyboard.press("Enter")
        player.says(layers)
        expect(pressed).to_be_focused()
        expect(pressed).to_be_disabled()
        assert player.asks("len(w.hidden)") == str(layers.count("→") - 1)


@in_turn
def test_the_playground_hears_letters(play):
    """S steps and R resets, as capitals too; while training runs there is no step."""
    player = play(PLAYGROUND)
    player.asks("w.__dict__.update(heard=[], hear=w._hear, _hear=lambda what: (w.heard.append(what), w.hear(what)))")
    player.widget.get_by_role("button", name="Start").click()
    player.says("Training")
    expect(player.widget.get_by_role("button", name="Step", exact=True)).to_be_disabled()
    picture = player.stage("What the network says")
    picture.press("s")
    picture.press("S")
    picture.press(" ")
    player.says("Paused: epoch")
    stopped = int(player.asks("w.epoch"))
    assert player.asks("'step' in w.heard") == "False"
    picture.press("S")
    expect(player.widget.locator(".mgw-score")).to_contain_text(f"epoch {stopped + 1},", timeout=PATIENCE)
    picture.press("Alt+r")
    picture.press("Shift+S")
    expect(player.widget.locator(".mgw-score")).to_contain_text(f"epoch {stopped + 2},", timeout=PATIENCE)
    picture.press("R")
    expect(player.widget.locator(".mgw-score")).to_contain_text("epoch 0,", timeout=PATIENCE)
    assert player.asks("[what for what in w.heard if what != 'slice']") == "['step', 'step', 'reset']"


@in_turn
def test_the_playground_has_whole_seeds(play):
    """What is typed as a seed becomes one: whole, not negative, and exact in both languages."""
    player = play(PLAYGROUND)
    player.asks("w.observe(lambda change: setattr(w, 'said', f'The seed is {w.seed!r}.'), 'seed')")
    seed = player.widget.get_by_label("seed")
    for typed, taken in (("2.6", "3"), ("-3", "0"), ("-1", "0"), ("1e300", "9007199254740991"), ("", "0")):
        seed.press("Control+a")
        seed.press("Delete")
        seed.press_sequentially(typed)
        seed.press("Tab")
        expect(seed).to_have_value(taken)
        player.says(rf"The seed is {taken}\.")
    player.widget.get_by_role("button", name="Step", exact=True).click()
    expect(player.widget.locator(".mgw-score")).to_contain_text("epoch 1,", timeout=PATIENCE)


@in_turn
def test_the_playground_shows_the_units_it_has(play):
    """A layer's box shows what was taken, also where that is what it was."""
    player = play(PLAYGROUND)
    units = player.widget.get_by_label("units in hidden layer 1")
    for _ in range(2):
        units.fill("99")
        units.press("Tab")
        expect(units).to_have_value(units.get_attribute("max"))


@in_turn
def test_the_playground_hears_interrupts(play):
    """The kernel's interrupt ends the training, as it ends a cell; Start goes on."""
    player = play(PLAYGROUND)
    player.widget.get_by_role("button", name="Start").click()
    player.says("Training")
    expect(player.widget.locator(".mgw-score")).to_have_text(re.compile(r"epoch [1-9]"))
    player.lab.menu("Kernel", "kernelmenu:interrupt")
    player.says("Interrupted. Start goes on from here.")
    stopped = int(player.asks("w.epoch"))
    assert player.asks("w.running, w.epoch") == f"False {stopped}"
    player.widget.get_by_role("button", name="Start").click()
    expect(player.widget.locator(".mgw-score")).not_to_contain_text(f"epoch {stopped},", timeout=PATIENCE)


@in_turn
def test_the_playground_stops_with_its_page(play):
    """Whoever closes the page ends the training, and Start goes on where it stopped."""
    player = play(PLAYGROUND)
    page = player.lab.page
    player.widget.get_by_role("button", name="Start").click()
    player.says("Training")
    page.goto("about:blank")
    player.lab.open_notebook("the_playground_stops_with_its_page.ipynb")
    still = int(player.asks("w.epoch"))
    assert int(player.asks("w.epoch")) == still > 0
    again = player.lab.cell("# ask")
    player.lab.type_into(again, "# ask\nw")
    player.lab.run(again)
    player.widget = page.locator(".mgw").last
    player.widget.get_by_role("button", name=re.compile("Start|Pause")).click()
    expect(player.widget.locator(".mgw-score")).not_to_contain_text(f"epoch {still},", timeout=PATIENCE)


@in_turn
def test_a_saved_widget_is_a_picture(browser, served, root):
    """While a widget lives its picture is hidden; in a notebook whose kernel is gone the picture is there."""
    address, work = served
    name = "saved_widget"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(PUZZLE)]
    saved = NotebookClient(nbformat.v4.new_notebook(cells=cells, metadata=kernel), timeout=300).execute()
    widget, still = saved.cells[0].outputs
    assert "application/vnd.jupyter.widget-view+json" in widget.data
    assert widget.data["text/plain"].startswith("Memory puzzle: ")
    assert list(still.data) == ["text/html"]
    del saved.metadata["widgets"]
    nbformat.write(saved, work / f"{name}.ipynb")
    with window(browser, address, root / "build" / "screenshots" / "widgets" / name) as lab:
        lab.open_notebook(f"{name}.ipynb")
        cell = lab.cell("from minigrad import widgets")
        picture = cell.get_by_role("img", name="Memory puzzle: a lies in bytes")
        expect(picture).to_be_visible(timeout=PATIENCE)
        assert picture.evaluate("img => img.naturalWidth") > 100
        lab.picture("1-saved")
        lab.run(cell)
        expect(cell.locator(".mgw")).to_be_visible(timeout=PATIENCE)
        expect(cell.locator("[id^=mgw-still-]")).to_have_count(1)
        expect(cell.locator("[id^=mgw-still-]")).to_be_hidden()
        lab.picture("2-living")


@in_turn
def test_pictures_have_words(browser, served, root):
    """A screen reader is told what a picture shows, in a notebook that is not trusted as well."""
    address, work = served
    name = "pictures_have_words"
    code = "from minigrad import draw\ndraw.broadcast((4, 1), (3,))"
    plot = "# plot\ndraw.curves({'x * x': lambda x: x * x})"
    saved = nbformat.v4.new_code_cell("# saved")
    html = draw.reduction((2, 3), 1)._repr_html_()
    saved.outputs = [nbformat.v4.new_output("execute_result", {"text/html": html, "text/plain": "-"})]
    cells = [nbformat.v4.new_code_cell(code), nbformat.v4.new_code_cell(plot), saved]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), work / f"{name}.ipynb")
    with window(browser, address, root / "build" / "screenshots" / "widgets" / name) as lab:
        lab.open_notebook(f"{name}.ipynb")
        for starts, words in (
            ("from minigrad", "Shapes aligned from the right: (4, 1) and (3,)"),
            ("# plot", "the graphs of x"),
            ("# saved", "A reduction: shape (2, 3)"),
        ):
            cell = lab.cell(starts)
            shown = cell if starts == "# saved" else lab.run(cell)
            picture = shown.get_by_role("img", name=words)
            expect(picture).to_be_visible(timeout=PATIENCE)
            assert picture.evaluate("img => img.naturalWidth") > 100
        lab.picture("1-pictures")

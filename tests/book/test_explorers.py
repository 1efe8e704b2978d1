"""What the book shows of widgets: every state is computed, and a page chooses among them without a kernel."""

import ast
import inspect
import json
import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from places import ROOT
from playwright.sync_api import expect

import minigrad
from book import states
from book.executing import BookError, executed
from book.explorers import LARGEST, explorer, with_explorers
from book.making import SITE
from book.states import EXPLORER, Explorer, Group, State, packed, states_of
from book.wording import Said, say_with
from minigrad import Scalar, derivatives, widgets

MOST_STATES = 200
PATIENCE = 30_000  # milliseconds on a busy machine
STATIC = [SITE / "static" / "book.css", SITE / "static" / "explorers.js"]
STYLE = Path(minigrad.__file__).parent / "widgets" / "widgets.css"


def shown_in_lessons():
    """Yield the cells of the lessons that end with a widget: the lesson, and the cell's code."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            code = "".join(cell["source"])
            if cell["cell_type"] == "code" and re.search(r"^widgets\.\w+\(", code, re.MULTILINE):
                yield path.stem, code


SHOWN = list(shown_in_lessons())
NAMES = [f"{lesson}-{re.search(r'^widgets.(.*?)[(]', code, re.M)[1]}" for lesson, code in SHOWN]
EPOCHS = (0, 1, 2, 3)
"""The tests need not wait until a network has learned."""


def widget_of(code):
    """Run a lesson's cell, and return the widget that it ends with."""
    *first, last = ast.parse(code).body
    names = {"Scalar": Scalar, "minigrad": minigrad, "np": np, "widgets": widgets}
    exec(compile(ast.Module(first, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.fixture(scope="module")
def explorers():
    """The states of each widget that a lesson shows, by lesson and widget."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "EPOCHS", EPOCHS)
        return {name: states_of(widget_of(code)) for name, (_, code) in zip(NAMES, SHOWN, strict=True)}


def all_states(shown):
    return [state for group in shown.groups for state in group.states]


def has_choice(shown):
    return len(all_states(shown)) > 1


# --- states ---------------------------------------------------------------------------------------------------------


def test_the_lessons_show_every_widget():
    """Each widget is shown by a lesson, so that the tests below see each."""
    assert {name.partition("-")[2] for name in NAMES} == set(widgets.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_has_states_or_a_reason(explorers, name):
    """A page shows several states, of a bounded number and size, or says why it shows one."""
    shown = explorers[name]
    if has_choice(shown):
        assert shown.slider
        assert "notebook" in shown.note
    else:
        assert "in the notebook only" in shown.note
    assert len(all_states(shown)) <= MOST_STATES
    assert len(explorer(packed(shown))) < LARGEST


@pytest.mark.parametrize("name", NAMES)
def test_states_are_complete_and_differ(explorers, name):
    """Each has its words and whole pictures; no two are alike, in words and pictures; names tell them apart."""
    shown = explorers[name]
    for state in all_states(shown):
        assert state.said
        assert state.pictures
        for picture in state.pictures:
            assert picture.startswith("<svg ") and picture.endswith("</svg>")
            assert "<title>" in picture and "<desc>" in picture
    seen = [(state.said, *state.pictures) for state in all_states(shown)]
    assert len(set(seen)) == len(seen)
    for group in shown.groups:
        assert len({state.name for state in group.states}) == len(group.states)
    assert len({group.name for group in shown.groups}) == len(shown.groups)


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_is_left_as_it_was(monkeypatch, name):
    """Computing its states changes none of its own, and begins with the one that it is in."""
    monkeypatch.setattr(states, "EPOCHS", EPOCHS)
    widget = widget_of(SHOWN[NAMES.index(name)][1])
    before, pictures = widget.get_state(), widget.still()
    shown = states_of(widget)
    assert widget.get_state() == before
    group, at = shown.start
    assert list(shown.groups[group].states[at].pictures) == pictures


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_put_together_again(explorers, name):
    """The pieces of a picture, in their order, are the picture; a piece is kept once."""
    shown = explorers[name]
    made = packed(shown)
    assert len(set(made["pieces"])) == len(made["pieces"])
    for group, given in zip(made["groups"], shown.groups, strict=True):
        for state, wanted in zip(group["states"], given.states, strict=True):
            for runs, picture in zip(state["pictures"], wanted.pictures, strict=True):
                pairs = zip(runs[::2], runs[1::2], strict=True)
                assert "".join("".join(made["pieces"][a : b + 1]) for a, b in pairs) == picture


@pytest.mark.parametrize("name", NAMES)
def test_what_can_be_pointed_at_leads_to_a_state(explorers, name):
    """Every part of a picture leads to a state, but for constants of a graph; no state has a part that is not drawn."""
    shown = explorers[name]
    if not has_choice(shown):
        return
    for group in shown.groups:
        drawn = set(re.findall(r'data-part="([^"]+)"', "".join("".join(state.pictures) for state in group.states)))
        leading = [part for state in all_states(shown) for part in state.parts]
        constants = {part for part in drawn if part.isdigit()} - set(leading)
        assert drawn - constants <= set(leading)
        assert {part for state in group.states for part in state.parts} <= drawn


def test_the_answer_to_the_question_of_lesson_05_can_be_looked_up(explorers):
    """Lesson 05 asks for the common shape of two shapes before one looks."""
    shown = explorers["05_broadcasting-broadcast_explorer"]
    (found,) = [group for group in shown.groups if group.name == "(7, 2, 1, 5) and (2, 3, 1)"]
    (state,) = found.states
    assert state.said.startswith("(7, 2, 1, 5) and (2, 3, 1) together: (7, 2, 3, 5);")


def test_positions_are_those_of_numpy(explorers):
    """The state of an index says the place where NumPy has the element, for the lesson's own array."""
    shown = explorers["04_strides-index_explorer"]
    array = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)
    for state in shown.groups[0].states:
        position = int(array[ast.literal_eval(state.name)])
        assert f"= position {position}, where {position} stands" in state.said


def test_the_shapes_that_a_lesson_asks_for_come_first():
    """An explorer of other shapes begins with these, and has them once."""
    assert states_of(widgets.broadcast_explorer((5, 1), (2,))).groups[0].name == "(5, 1) and (2,)"
    groups = [group.name for group in states_of(widgets.broadcast_explorer((2, 3), (2, 1))).groups]
    assert groups[0] == "(2, 3) and (2, 1)"
    assert groups.count("(2, 3) and (2, 1)") == 1


def test_the_epochs_of_the_book():
    """The playground's slider begins before training and goes up."""
    assert states.EPOCHS[0] == 0
    assert list(states.EPOCHS) == sorted(set(states.EPOCHS))


def test_a_widget_that_nobody_has_thought_of_is_refused():
    """A new widget needs its states, or a reason."""
    with pytest.raises(NotImplementedError, match="which states of Surprise the book shows, or why none"):
        states_of(type("Surprise", (), {})())


# --- HTML -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_page_needs_nothing_from_elsewhere(explorers, name):
    """No address but a namespace's name, no handler and no program: only data, and the first state as HTML."""
    html = explorer(packed(explorers[name]))
    assert set(re.findall(r"https?://[^\s\"'<>\\]+", html)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"(?:href|src)=\\?\"([^\"]{5})", html)) <= {"data:"}
    assert re.findall(r"\son\w+=", html) == []
    assert set(re.findall(r"<script\b[^>]*>", html)) <= {'<script type="application/json">'}
    shown = explorers[name]
    first = shown.groups[shown.start[0]].states[shown.start[1]]
    before = html.partition("<script")[0]
    assert all(picture in before for picture in first.pictures)
    assert first.said in unescape(before)


def test_words_cannot_end_the_data():
    """A sentence with tags is shown as it is, and the data is what was given."""
    said = 'a < b & "c" </script><!-- <b>'
    states = [State("<1", said, ["<svg><b>x</b></svg>"]), State("2", "", ["<svg/>"])]
    made = Explorer(Said.EXPLORER_INDEX, "", Said.EXPLORER_AT, [Group("", states)], Said.EXPLORER_NOTE_INDEX)
    html = explorer(packed(made))
    assert html.count("</script>") == html.count("<script") == 1
    assert "<!--" not in html
    assert f'aria-live="polite">{said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")[:9]}' in html
    data = json.loads(re.search(r'json">(.*)</script>', html)[1])
    assert data["groups"][0]["states"][0]["said"] == said


def test_too_large_an_explorer_is_refused():
    """A page is not to become heavy by accident."""
    many = [State(str(n), "x" * 1000, ["<svg></svg>"]) for n in range(301)]
    with pytest.raises(
        ValueError, match=r"^Playground: \d+ characters are too many; book/states.py chooses the states$"
    ):
        explorer(packed(Explorer("Playground", "", "epoch", [Group("", many)], Said.EXPLORER_NOTE_PLAYGROUND)))


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_in_the_language_of_the_page(explorers, name):
    """Every label is looked up, filled in; what is said of a state, and names of functions and shapes, stay English."""
    known = {each: f"«{each}»" for each in Said}
    shown = explorers[name]
    html = unescape(explorer(packed(shown), say_with(known)))
    assert f"<strong>«{shown.title}»</strong>" in html
    assert f"«{shown.note.replace('{x}', shown.filled.get('x', ''))}»" in html
    first = shown.groups[shown.start[0]].states[shown.start[1]]
    assert f'lang="en" role="status" aria-live="polite">{first.said}</p>' in html
    if has_choice(shown):
        assert all(f">«{each}»</button>" in html for each in (Said.EXPLORER_BACK, Said.EXPLORER_FORWARD))
        assert f"<label>«{shown.slider}» <input" in html
    if len(shown.groups) > 1:
        assert f"<label>«{shown.choice}» <select" in html
        words = [Said.EXPLORER_VIEW, Said.EXPLORER_STORAGE]
        names = [known.get(group.name, group.name) for group in shown.groups]
        assert all(f">{each}</option>" in html for each in names)
        assert ("«an index" in html) == (shown.groups[0].name in words)


def test_a_label_without_words_is_refused():
    """A new widget's labels need their words in every language of the book."""
    with pytest.raises(ValueError, match="'New widget' is not a valid Said"):
        explorer(packed(Explorer("New widget", "", "", [Group("", [State("", "", [])])], "")))


# --- the kernel -----------------------------------------------------------------------------------------------------


def notebook(*codes):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [nbformat.v4.new_code_cell(code) for code in codes]
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def test_a_kernel_of_the_book_gives_states(tmp_path):
    """A cell's widget, with the cell's arguments, becomes an explorer where the widget was; other outputs stay."""
    lesson = SimpleNamespace(source=notebook("from minigrad import widgets\nprint(1)", SHOWN[0][1], "2 + 3"))
    made = executed({"a_lesson": lesson}, tmp_path, lambda _: None)["a_lesson"]
    outputs = made.cells[1].outputs
    assert [set(each.data) for each in outputs] == [{EXPLORER, "text/plain"}]
    assert outputs[0].data[EXPLORER] == json.loads(json.dumps(packed(states_of(widget_of(SHOWN[0][1])))))
    with_explorers(outputs)
    assert outputs[0].data["text/html"].startswith('<div class="mgw explorer"')
    assert made.cells[0].outputs[0].text == "1\n"
    assert made.cells[2].outputs[0].data["text/plain"] == "5"
    assert "widgets" not in made.metadata


def test_a_lesson_of_the_book_takes_nothing_from_folders_beside(tmp_path, monkeypatch):
    """`use` looks for a reader's answers beside the kernel's folder: whoever keeps some there gets the same book."""
    beside = tmp_path / "work"
    beside.mkdir()
    answer = inspect.getsource(derivatives.central_difference)
    written = notebook(f"# exercise: derivatives.central_difference\n{answer}")
    nbformat.write(written, beside / "01_numerical_derivatives.ipynb")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lesson = SimpleNamespace(source=notebook("import minigrad\nminigrad.use(verbose=True)"))
    (said,) = executed({"a_lesson": lesson}, tmp_path / "kept", lambda _: None)["a_lesson"].cells[0].outputs
    assert "derivatives.central_difference" in said.text and "yours" not in said.text


def test_a_busy_machine_shortens_no_training(tmp_path):
    """A page is made of all steps, however long they take here; the text of its cell is the reader's."""
    cell = "seconds = 60.0\nprint(min(300, int(seconds / 0.29)), 'steps')"  # a step that takes 0.29 s
    lesson = SimpleNamespace(source=notebook(cell))
    (made,) = executed({"a_lesson": lesson}, tmp_path, lambda _: None)["a_lesson"].cells
    assert (made.source, made.outputs[0].text) == (cell, "300 steps\n")


def test_a_training_that_is_cut_short_fails_the_book(tmp_path):
    """A build on a busy machine prints no network that has hardly begun."""
    lesson = SimpleNamespace(source=notebook("print('143 steps, fewer than planned. The milestone comes after 300:')"))
    with pytest.raises(BookError, match=r"a_lesson: the cell .* was cut short: 143 steps, fewer than planned\."):
        executed({"a_lesson": lesson}, tmp_path, lambda _: None)


def test_a_widget_of_another_library_fails_the_book(tmp_path):
    """What no page can show is not left out in silence."""
    lesson = SimpleNamespace(source=notebook("import ipywidgets\nipywidgets.IntSlider()"))
    with pytest.raises(BookError, match=r"a_lesson: the cell 'import ipywidgets.*' shows a widget"):
        executed({"a_lesson": lesson}, tmp_path, lambda _: None)


# --- a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(explorers, tmp_path_factory):
    """A page with all explorers and nothing else but the book's styles and its JavaScript."""
    shown = "".join(explorer(packed(explorers[name])) for name in NAMES)
    styles = "".join(f'<link rel="stylesheet" href="{path.as_uri()}">' for path in (STYLE, STATIC[0]))
    script = f'<script defer src="{STATIC[1].as_uri()}"></script>'
    size = '<meta name="viewport" content="width=device-width,initial-scale=1">'
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{size}{styles}{script}<title>x</title></head>'
        f'<body data-theme="auto">{shown}</body></html>'
    )
    return path


@pytest.fixture
def opened(browser, file, root):
    """Return a function that opens the page; what it asks for and complains of is looked at in the end."""
    told, asked, contexts = [], [], []
    expect.set_options(timeout=PATIENCE)

    def open_page(path=file, **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri(), wait_until="domcontentloaded")  # explorers.js has run, the formulas may wait
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert told == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def seen(shown):
    """What a person sees and hears of an explorer now."""
    words = shown.locator(".mgw-said").inner_text()
    return words, shown.locator(".mgw-row").inner_html(), shown.locator("desc").all_text_contents()


WIDGETS = [name.partition("-")[2] for name in NAMES]
AGAIN = {name for place, name in enumerate(NAMES) if WIDGETS[place] in WIDGETS[:place]}


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(
            number,
            id=name,
            marks=pytest.mark.full("a widget that another lesson shows too", share=4) if name in AGAIN else (),
        )
        for number, name in enumerate(NAMES)
    ],
)
def test_the_keyboard_leads_through_the_states(opened, explorers, number):
    """Every control is reached by Tab; arrows, Home and End, and Enter on a button change picture, words and names."""
    page, wanted = opened(), explorers[NAMES[number]]
    shown = page.locator(".explorer").nth(number)
    if not has_choice(wanted):
        assert shown.locator("button, input, select").count() == 0
        return
    slider, (back, forward) = shown.locator("input"), shown.locator("button").all()
    states_here = wanted.groups[wanted.start[0]].states
    back.focus()
    page.keyboard.press("Tab")
    expect(forward).to_be_focused()
    page.keyboard.press("Tab")
    expect(slider).to_be_focused()
    page.keyboard.press("Home")
    for state in states_here[:3]:
        assert slider.get_attribute("aria-valuetext") == shown.locator("output").inner_text() == state.name
        words, pictures, _ = seen(shown)
        assert words == state.said
        assert all(re.sub(r"/>", ">", picture)[:60] in pictures for picture in state.pictures)
        page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert seen(shown)[0] == states_here[-1].said
    last = seen(shown)
    page.keyboard.press("ArrowRight")
    assert seen(shown) == last
    forward.focus()
    page.keyboard.press("Enter")
    expect(forward).to_have_attribute("aria-disabled", "true")
    assert seen(shown) == last
    page.keyboard.press("Shift+Tab")
    page.keyboard.press(" ")
    changed = seen(shown)
    assert changed[0] == states_here[-2].said
    assert all(now != before for now, before in zip(changed, last, strict=True))


@pytest.mark.parametrize("number", [n for n, name in enumerate(NAMES) if "broadcast" in name or "derivative" in name])
def test_another_group_is_chosen(opened, explorers, number):
    """A function keeps the step of the one before it, shapes an element; shapes may have nothing to slide through."""
    page, wanted = opened(), explorers[NAMES[number]]
    shown = page.locator(".explorer").nth(number)
    choice, slider = shown.locator("select"), shown.locator("input")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    for group in wanted.groups[1:]:
        before, at = shown.locator("output").inner_text(), int(slider.input_value())
        choice.focus()
        page.keyboard.press("ArrowDown")
        kept = at < len(group.states) and group.states[at].name == before
        state = group.states[at if kept else 0]
        expect(shown.locator(".mgw-said")).to_have_text(state.said)
        expect(shown.locator("output")).to_have_text(state.name)
        expect(slider).to_be_visible(visible=len(group.states) > 1)
        expect(shown.locator(".mgw-stage:visible")).to_have_count(len(state.pictures))


def test_a_part_of_a_picture_is_clicked(opened):
    """An element of the storage leads to its state, and one of the view back to the other group."""
    page = opened()
    shown = page.locator(".explorer").nth(NAMES.index("04_strides-index_explorer"))
    shown.locator('[data-part="storage:5"]').click()
    expect(shown.locator(".mgw-said")).to_contain_text("position 5 holds 5")
    expect(shown.locator("select")).to_have_value("a position in the storage")
    shown.locator('[data-part="view:2,1,0"]').click()
    expect(shown.locator(".mgw-said")).to_contain_text("index (2, 1, 0)")
    expect(shown.locator("output")).to_have_text("(2, 1, 0)")


def test_a_narrow_page_and_the_dark(opened, root):
    """At 360 pixels only a picture scrolls, and not the page; in the dark all colours are dark."""
    page = opened(viewport={"width": 360, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for control in page.locator("input, select, button, output").all():
        box = control.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    for paper in page.locator(".mp-paper, .mg-paper").all():
        expect(paper).to_have_css("fill", "rgb(22, 27, 34)")
    folder = root / "build" / "screenshots" / "explorers"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / "narrow-dark.png", full_page=True)
    page.evaluate("document.body.dataset.theme = 'light'")
    expect(page.locator(".explorer").first).to_have_css("background-color", "rgb(255, 255, 255)")


@pytest.mark.full("Sphinx makes a page", share=24)
def test_without_javascript_and_on_paper(opened):
    """The first state is there, and no control that does nothing. Paper is light, whatever the screen was."""
    page = opened(java_script_enabled=False)
    expect(page.locator(".mgw-stage:visible")).to_have_count(page.locator(".mgw-stage:not([hidden])").count())
    expect(page.locator("button:visible, input:visible, select:visible")).to_have_count(0)
    expect(page.locator(".mgw-said:visible")).to_have_count(len(NAMES))
    page = opened(color_scheme="dark")
    page.evaluate("document.body.dataset.theme = 'dark'")
    page.emulate_media(media="print")
    expect(page.locator("button:visible, input:visible, select:visible")).to_have_count(0)
    expect(page.locator(".mgw-stage svg:visible")).to_have_count(page.locator(".mgw-stage svg").count())
    expect(page.locator(".explorer").first).to_have_css("background-color", "rgb(255, 255, 255)")


@pytest.mark.full("Sphinx makes a page", share=24)
def test_a_page_of_the_book(opened, explorers, tmp_path):
    """Sphinx leaves explorers as they are; its own keys do not take their arrows; no page is wider than a telephone."""
    page = notebook(*(code for _, code in SHOWN))
    for cell, name in zip(page.cells, NAMES, strict=True):
        cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": explorer(packed(explorers[name]))})]
    page.cells.insert(0, nbformat.v4.new_markdown_cell("# Explorers"))
    (tmp_path / "source" / "extra").mkdir(parents=True)
    nbformat.write(page, tmp_path / "source" / "index.ipynb")
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "-q", "-b", "html", "-c", SITE, "source", "html"]
    subprocess.run(list(map(str, command)), cwd=tmp_path, check=True)
    page = opened(tmp_path / "html" / "index.html", viewport={"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    shown = page.locator(".explorer:has(input)")
    for number in range(shown.count()):
        before = seen(shown.nth(number))
        shown.nth(number).locator("input").focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("End")
        assert page.url.endswith("index.html")
        assert seen(shown.nth(number))[0] != before[0]

"""Feedback pages and the class report for everybody: contrast in light and in dark (WCAG 2.2 AA), and axe-core."""

import datetime as dt
import functools

import nbformat
import pytest
from axe import serious
from drawn_pages import DIAMOND, exporter
from invented_class import invented
from keyboard import walked

from autograder.board.events import Counted
from autograder.board.page import board_page
from autograder.board.ranking import Line, Ranked, events_of
from autograder.building.masters import find_master
from autograder.course.loading import load_course
from autograder.gradebook.nbgrader_hooks import fill
from autograder.proof.demo.typing_in import answers
from autograder.proof.demo.typing_in import fill as fill_in
from autograder.results import Example, Graded, GroupScore, Submission, Verdict, pictures
from autograder.results.ledger import Entry
from autograder.telling.classreport.page import class_page
from autograder.telling.report import page

PAIRS = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parse = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat([1]);
  const light = colour => {
    const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const [r, g, b] = colour.slice(0, 3).map(v => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const sheet = document.body.appendChild(document.createElement("div"));
  sheet.style.backgroundColor = "Canvas";  // what lies below the page; a canvas of its own knows no dark scheme
  const canvasColour = parse(getComputedStyle(sheet).backgroundColor);
  const layers = element => {        // the colours below an element's text, from top to bottom
    const found = [];
    for (let e = element; e; e = e.parentElement) found.push(parse(getComputedStyle(e).backgroundColor));
    return found;
  };
  const shapes = (element, x, y) => { // the shapes below a text of a drawing
    const below = document.elementsFromPoint(x, y).filter(e => e.ownerSVGElement && !(e.closest("text")));
    const found = below.map(e => getComputedStyle(e).fill).filter(fill => fill !== "none").map(parse);
    return found.concat(layers(element.closest("svg").parentElement));
  };
  const flat = colours => colours.reverse().reduce((under, top) => over(top, under), canvasColour);
  const seen = {};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement, words = node.textContent.trim();
    if (!words || ["STYLE", "SCRIPT", "title", "desc", "style"].includes(element.tagName)) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    const drawn = element.closest("svg"), style = getComputedStyle(element);
    if (drawn) element.scrollIntoView({block: "center"});
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height || box.right < 0) continue;
    const ground = flat(drawn ? shapes(element, box.x + box.width / 2, box.y + box.height / 2) : layers(element));
    const ink = over(parse(drawn ? style.fill : style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((one, other) => other - one);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const kind = `${element.tagName}.${element.getAttribute("class") || ""}`;
    const key = `${kind} ${ink.map(Math.round)} on ${ground.map(Math.round)}`;
    seen[key] = [(a + .05) / (b + .05), large ? 3 : 4.5, words.slice(0, 40)];
  }
  return seen;
}
"""

FOUND = [{"kind": "x", "array": "out", "index": [0], "first": "0", "second": "1", "acts": ["reads", "writes"]}]
DRAWN = {
    "gradient-overwritten": pictures.graph(DIAMOND, {"x": 110.0, "y": 76.0}, {"x": 152.0, "y": 76.0}),
    "order-forgotten": pictures.order({"a": ["x"], "b": ["a"], "z": ["a", "b"]}, ["z", "a", "b", "x"], []),
    "strides-swapped": pictures.view(6, [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [[0, 3], [1, 4], [2, 5]]),
    "left-aligned": pictures.aligned({"shape1": [2, 3], "shape2": [3]}, "came", [2, 2], [2, 3]),
    "steps-reversed": pictures.steps([2, 3], [1, 40], [3, 1]),
    "buffer-shared": pictures.collisions(FOUND),
}
"""A picture of every kind."""


def failed(name, picture):
    """A failed test with everything that a report can say of it."""
    example = Example((("x", "2.0"), ("y", "3.0")), came="7.0", wanted="6.0", picture=picture)
    because = "lesson 03, 'Two paths': gradients that reach a node twice are summed"
    words = {"reason": "got 3.0", "hint": "each use adds", "misconception": name, "confirmed": name[0] < "m"}
    return Verdict(f"test_{name}", "It holds.", "values", because, False, example=example, **words)


@pytest.fixture(scope="module")
def submission():
    """A report with full points, some and none, every picture, a reason, notes and a withheld example."""
    full = (GroupScore("values", 2, 2), GroupScore("paths", 1, 1))
    some = (GroupScore("values", 2, 2), GroupScore("paths", 1, 0))
    verdicts = tuple(failed(name, picture) for name, picture in DRAWN.items())
    withheld = Verdict("t", "It waits.", "values", "x", False, example=Example(withheld="Shown from 2027-02-15."))
    return Submission(
        "03_backprop",
        (
            Graded("autodiff.topological_sort", 3, full, (Verdict("t", "It holds.", "values", "x", True),)),
            Graded("autodiff.backpropagate", 3, some, (*verdicts, withheld), notes=("2 cells hold this exercise",)),
            Graded("scalar.Scalar", 3, some, reason="this exercise was not started"),
        ),
        ("the notebook was cut off",),
    )


def feedback_page(root, submission):
    """nbgrader's feedback page of a notebook with code, Markdown, reports and an answer in words."""
    course = load_course(root / "course", tree=False)
    notebook = find_master(course, "03_backprop")
    fill_in(notebook, answers(course))
    points = {exercise.id: exercise.points for exercise in course.of_lesson("03_backprop")}
    graded = tuple(
        Graded(each, points[each], (GroupScore("values", points[each], 0.0),), submission.exercises[1].verdicts)
        for each in points
    )
    fill(notebook, Submission("03_backprop", graded), course)
    settings = {"grade": True, "solution": True, "grade_id": "q", "points": 1, "score": 1, "comment": "Good."}
    words = "An *answer* in `words`, [a link](https://example.org).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted"
    notebook.cells.append(nbformat.v4.new_markdown_cell(words, metadata={"nbgrader": {**settings, "locked": False}}))
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update({"score": 0, "comment": "Look again.", **cell.metadata.nbgrader})
    resources = {"nbgrader": {"notebook": "n", "score": 1, "max_score": 2, "late_penalty": 0}}
    return exporter(root, "feedback").from_notebook_node(notebook, resources=resources)[0]


def report_page(root, submission):
    """The report of `autograder grade --html`."""
    return page(submission)


def class_report(root, submission):
    """The class at a glance, with a drawn example of every kind."""
    data = invented()
    entries = [*data.entries, Entry("zoe", "module1", "03_backprop", "0" * 64, "2027", submission)]
    return class_page(type(data)(data.name, data.titles, entries, data.answers, data.known, data.unread))


def board(root, submission):
    """The board, with an event and one that nobody is on."""
    first, *_, last = events_of(load_course(root / "course", tree=False))
    line = Line("Turing's owl", Counted((1, 2), ("1,024", "256")), dt.datetime(2027, 1, 10, 10, 5))
    return board_page("minigrad", [Ranked(first, [line, line], []), Ranked(last, [], [])], 7)


PAGES = {"feedback": feedback_page, "report": report_page, "class": class_report}
FEW_KINDS = {"board": board}
"""Pages with few kinds of text."""


@pytest.fixture(scope="module")
def look(browser, root, submission, tmp_path_factory):
    """Asks something of a page in the browser."""

    def asked(ask, name, scheme, style=""):
        path = tmp_path_factory.mktemp(name) / f"{name}.html"
        path.write_text(
            (PAGES | FEW_KINDS)[name](root, submission).replace("</body>", f"<style>{style}</style></body>")
        )
        window = browser.new_page(color_scheme=scheme, viewport={"width": 1200, "height": 900})
        window.goto(path.as_uri())
        found = ask(window)
        window.close()
        return found

    return asked


@pytest.fixture(scope="module")
def pairs(look):
    """Computes the contrast of every pair of colours on a page."""
    return functools.partial(look, lambda window: window.evaluate(PAIRS))


@pytest.mark.full("axe-core walks every page", share=12)
@pytest.mark.parametrize("name", [*PAGES, *FEW_KINDS])
def test_axe_finds_no_serious_fault(look, name):
    """Names, roles, headings, tables and focus are as a screen reader and a keyboard need them."""
    assert look(serious, name, "light") == []


@pytest.mark.full("Tab walks every page", share=12)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [*PAGES, *FEW_KINDS])
def test_tab_reaches_everything(look, name, scheme):
    """A person without a mouse comes everywhere, and sees where they are."""
    assert look(walked, name, scheme) == []


def test_what_tab_leaves_out_is_found(look):
    """A button that hides its ring, and one that nobody reaches."""
    put = "document.body.append(document.createElement('button'))"
    hidden = "button { outline: none }"
    found = look(lambda w: (w.evaluate(put), walked(w))[1], "report", "light", hidden)
    assert found == ["no ring: <button></button>"]
    lost = "window.addEventListener('focusin', e => e.target.tagName === 'BUTTON' && e.target.blur())"
    found = look(lambda w: (w.evaluate(put), w.evaluate(lost), walked(w))[2], "report", "light")
    assert "never reached: <button></button>" in found


def test_axe_finds_a_picture_without_words(look):
    """A fault that is put in is found."""
    put = "document.body.append(new Image())"
    assert [each.partition(":")[0] for each in look(lambda w: (w.evaluate(put), serious(w))[1], "report", "light")] == [
        "image-alt"
    ]


@pytest.mark.full("the colours of every page are computed", share=12)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "kinds"), [*((name, 10) for name in PAGES), *((name, 8) for name in FEW_KINDS)])
def test_every_text_can_be_read(pairs, name, kinds, scheme):
    """Ordinary text has a contrast of 4.5 at least, large text of 3."""
    found = pairs(name, scheme)
    assert len(found) >= kinds
    weak = "\n".join(f"{pair}: {seen}" for pair, seen in found.items() if seen[0] < seen[1])
    assert not weak, weak


def test_a_pale_text_is_found(pairs):
    """Grey on white of a contrast of 2.8, in a page and in a drawing, is reported."""
    found = pairs("report", "light", ".mg-report .dim { color: #999 } .mg-text { fill: #999 !important }")
    weak = {pair.partition(".")[0] for pair, (contrast, least, _) in found.items() if contrast < least}
    assert {"SPAN", "text"} <= weak


@pytest.mark.full("the colours of every page are computed", share=12)
def test_every_misconception_is_drawn_once(root, submission):
    """The class report draws one example beside each misconception that has a picture."""
    html = class_report(root, submission)
    named = {name for name in DRAWN if name[0] < "m"}
    assert html.count('<div class="drawn">') >= len(named)
    assert all(pictures.as_svg(DRAWN[name]) in html for name in named)

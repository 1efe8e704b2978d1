"""The decks: what of a lesson stands on slides, and that every slide can be read from the last row."""

import copy
import re

import nbformat
import pytest

from book.course_facts import Facts
from book.executing import BookError
from book.slides.decks import LEFT_OUT, deck, slides_of
from book.slides.making import index_of, make, sphinx
from minigrad import draw

FACTS = Facts()
LESSON = "03_backprop"
WIDE, HIGH = 1280, 720


def executed(name):
    """A lesson in which the first cell without an exercise has drawn a picture, as if it had been executed."""
    notebook = copy.deepcopy(FACTS.lessons[name].source)
    cell = next(each for each in notebook.cells if each.cell_type == "code" and "draw.expression_graph" in each.source)
    html = draw.fold("fn", "start", ["x1", "x2"])._repr_html_()
    cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": html})]
    return notebook


@pytest.mark.parametrize("name", FACTS.lessons)
def test_a_deck_has_headings_exercises_and_slips(name):
    """Each section begins a column; each exercise has a slide, each slip one, and its answer the next."""
    notebook = FACTS.lessons[name].source
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    slides = slides_of(FACTS, notebook)
    begun = [slide.title for slide in slides if slide.begins]
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert begun == ["You will be able to", *(title for title in headings if title not in LEFT_OUT)]
    told = ["\n\n".join(slide.parts) for slide in slides]
    for exercise in FACTS.course.of_lesson(name):
        assert sum(f"**Exercise** `{exercise.id}`" in each for each in told) == 1
    slips = [number for number, each in enumerate(told) if "**Find the slip.**" in each]
    assert len(slips) == text.count("**Find the slip.**")
    assert [each for each in told if "Sidebar" in each] == []


def test_a_picture_stands_below_the_sentence_that_leads_to_it():
    """An output's image has a slide of its own, without the style that it has in a notebook."""
    (slide,) = [each for each in slides_of(FACTS, executed(LESSON)) if any("data:image" in part for part in each.parts)]
    lead, picture = slide.parts
    assert slide.title == "A graph, not a tree"
    assert lead == "The slopes at $x = 2$ stand on the arrows:"
    assert picture.startswith("```{raw} html\n<img ") and " style=" not in picture


def test_no_other_lesson_is_made():
    """A name that is no lesson is refused before anything is executed."""
    with pytest.raises(BookError, match=r"there is no lesson '03_backprob'; choose some of: 00_fundamentals, "):
        make(["03_backprob"])


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """The decks of all lessons without their results, but for one picture."""
    pytest.importorskip("sphinx_revealjs", reason="sphinx-revealjs is not installed: pip install '.[book]'")
    source, html = (tmp_path_factory.mktemp(name) for name in ("source", "html"))
    for name, built in FACTS.lessons.items():
        notebook = executed(name) if name == LESSON else built.source
        (source / f"{name}.md").write_text(deck(FACTS, built, notebook), encoding="utf-8")
    (source / "index.md").write_text(index_of(FACTS, FACTS.lessons), encoding="utf-8")
    sphinx(source, html)
    return html


SIZES = """() => [...document.querySelectorAll('.reveal .slides section:not(:has(section))')].map((slide) => {
  const {h, v} = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  const parts = [...slide.querySelectorAll('*')].map((part) => part.getBoundingClientRect());
  return [slide.textContent.trim().slice(0, 60), Math.max(...parts.map((box) => box.bottom)),
    Math.max(...parts.map((box) => box.right)), Math.min(...parts.map((box) => box.left))];
})"""


@pytest.mark.full("Sphinx makes all decks, and a browser shows each slide", share=40)
@pytest.mark.parametrize("name", ["index", *FACTS.lessons])
def test_every_slide_fits_the_screen(browser, decks, name):
    """On 16:9 nothing is cut, at any side; no request leaves the machine, and the console is empty."""
    window = browser.new_page(viewport={"width": WIDE, "height": HIGH}, color_scheme="dark")
    asked, said = [], []
    window.on("request", lambda request: asked.append(request.url))
    window.on("console", lambda message: said.append(message.text))
    window.goto((decks / f"{name}.html").as_uri())
    window.wait_for_load_state("networkidle")
    window.evaluate("window.MathJax && MathJax.startup.promise")  # a page without formulas has none
    slides = window.evaluate(SIZES)
    assert [each for each in slides if each[1] > HIGH or each[2] > WIDE or each[3] < 0] == []
    assert len(slides) == (
        1 if name == "index" else len(slides_of(FACTS, FACTS.lessons[name].source)) + (name == LESSON)
    )
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    window.close()

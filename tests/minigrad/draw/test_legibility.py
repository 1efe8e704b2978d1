"""Pictures can be read: nothing is cut, nothing overlaps, and colours differ for the color-blind and in grey print."""

import base64
import re
import xml.etree.ElementTree as ET
from html import escape
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from drawn_examples import FEEDBACK, MATPLOTLIB, SVG
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from autograder.results import pictures
from autograder.results.pictures import paper as feedback_paper
from minigrad import draw
from minigrad.debug import draw as accesses
from minigrad.draw import graph, paper, plots

NAMESPACE = "{http://www.w3.org/2000/svg}"
MEASURED = (Path(__file__).parent / "measured.js").read_text(encoding="utf-8")
DRAWN = {
    **{name: (lambda make=make: make().svg) for name, make in SVG.items()},
    **{f"feedback: {name}": (lambda found=found: pictures.as_svg(found)) for name, found in FEEDBACK.items()},
}


@pytest.fixture(scope="module", params=["light", "dark"])
def page(request, browser):
    """A page whose reader prefers light or dark."""
    opened = browser.new_page(color_scheme=request.param)
    yield opened
    opened.close()


def test_every_function_has_an_example():
    """A picture that is added to the library is measured here as well."""
    shown = {name.split(",")[0] for name in [*SVG, *MATPLOTLIB]}
    assert shown == set(draw.__all__) - {"snapshot"}  # what a film is made of is no picture yet


@pytest.mark.parametrize("name", DRAWN)
def test_letters_and_boxes(name, page):
    """No text is cut, small, crossed by a line, over another or over a border, or too faint to be read."""
    page.set_content(DRAWN[name]())
    assert page.evaluate(MEASURED) == []


@pytest.mark.parametrize("name", DRAWN)
def test_what_a_screen_reader_says(name):
    """Each picture says that it is one, with a title and a description."""
    root = ET.fromstring(DRAWN[name]())
    assert root.get("role") == "img"
    assert root.find(f"{NAMESPACE}title").text and len(root.find(f"{NAMESPACE}desc").text) > 10


@pytest.mark.parametrize("name", SVG)
def test_words_reach_the_page(name):
    """Jupyter is given an image with words: of the SVG alone it makes one without."""
    picture = SVG[name]()
    shown = ET.fromstring(picture._repr_html_()).find("img")
    kind, _, data = shown.get("src").partition(";base64,")
    assert kind == "data:image/svg+xml"
    assert base64.b64decode(data).decode() == picture.svg == picture._repr_svg_()
    assert picture.description in shown.get("alt")


@pytest.mark.parametrize("name", ["expression_graph, wider than a page", "strides, three axes", "accesses, two axes"])
def test_a_narrow_page_scrolls(name, browser):
    """A page may shrink a picture until the small letters have 9 pixels; a narrower one scrolls."""
    page = browser.new_page(viewport={"width": 400, "height": 600})
    picture = SVG[name]()
    width = float(re.search(r'width="(\d+)"', picture.svg)[1])
    for content in (picture.svg, picture._repr_html_()):
        page.set_content(content)
        shown = page.locator("svg, img").bounding_box()
        assert 0.84 < shown["width"] / width < 0.86
        assert shown["height"] / shown["width"] == pytest.approx(_height(picture.svg) / width, rel=0.01)
    assert page.evaluate("document.documentElement.scrollWidth") == 400  # a box of the picture's own scrolls
    page.emulate_media(media="print")
    assert page.locator("img").bounding_box()["width"] <= 400  # nobody scrolls on paper
    page.close()


def test_a_plot_fits_its_page(browser):
    """Its paper is not wider than the page either."""
    page = browser.new_page(viewport={"width": 900, "height": 600})
    page.set_content(MATPLOTLIB["film"]()._repr_html_())
    assert page.locator("img").bounding_box()["width"] == pytest.approx(884, abs=1)  # without the body's margins
    page.close()


def _height(svg):
    return float(re.search(r'height="(\d+)"', svg)[1])


@pytest.mark.full("every picture is drawn in each style", share=12)
@pytest.mark.parametrize("name", MATPLOTLIB)
def test_pictures_of_matplotlib(name):
    """They have words instead of the picture, and no letter is smaller than 8 points or leaves the paper."""
    picture = MATPLOTLIB[name]()
    data, metadata = picture._repr_png_()
    assert data.startswith(b"\x89PNG") and metadata == {"alt": picture.caption} and len(picture.caption) > 10
    figure = picture.figure
    html = picture._repr_html_()
    least = 0.65 * figure.get_figwidth() * 120
    assert f'alt="{escape(picture.caption)}"' in html and f"min-width:{least:.0f}px" in html
    assert "background-color:#ffffff" in html  # on dark pages, too
    seen = [each for each in figure.findobj(Text) if each.get_text().strip() and each.get_visible()]
    assert [each.get_text() for each in seen if each.get_fontsize() < 8.0] == []
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    sides = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    ticks = {each for axis in sides for each in axis.findobj(Text) if each is not axis.label}  # some beyond the ends
    outside = []
    for each in set(seen) - ticks:
        box = each.get_window_extent(renderer)
        drawn = each.axes is None or each.axes.axison
        if drawn and not (box.x0 > -1 and box.y0 > -1 and box.x1 < figure.bbox.x1 + 1 and box.y1 < figure.bbox.y1 + 1):
            outside.append(each.get_text())
    assert outside == []


# --- colours -------------------------------------------------------------------------------------------------

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency" (2009),
# for linear red, green and blue.
SEEN = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "grey": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}


def lab(color, seen):
    """A colour in CIE L*a*b* (white D65), as somebody sees it."""
    color = "#" + "".join(2 * digit for digit in color[1:]) if len(color) == 4 else color
    given = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)
    linear = np.clip(SEEN[seen] @ linear, 0.0, 1.0)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = (
        np.cbrt(ratio)
        if (ratio := to_xyz @ linear / [0.9505, 1.0, 1.089]).min() > 0.008856
        else np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one, other, seen):
    """How far two colours are apart: 2.3 can just be noticed side by side."""
    return float(np.linalg.norm(lab(one, seen) - lab(other, seen)))


def colors(style, kind, dark):
    """Fill and frame of a kind of box, and all else that its style says, such as dashes."""
    first, second = style.split("@media(prefers-color-scheme:dark){")
    found = {}
    for part in [first, second] if dark else [first]:
        for rule in re.findall(rf"\.{kind}\{{([^}}]*)}}", part):
            found |= dict(each.split(":") for each in rule.split(";"))
    return found


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("one", "other"), [*combinations(["cell", "used", "other", "mark"], 2)])
def test_kinds_of_boxes_differ(one, other, dark, seen):
    """Two kinds of boxes differ for everybody by their fill, or by the width of a frame."""
    first, second = (colors(paper._STYLE, f"mp-{kind}", dark) for kind in (one, other))
    if first.get("stroke-width", "1") == second.get("stroke-width", "1"):
        assert difference(first["fill"], second["fill"], seen) > 4.0
    assert difference(first["stroke"], first["fill"], seen) > 25.0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_ways_to_touch_an_element_differ_in_grey(dark):
    """Reads, writes and atomic updates have lines of their own, whatever their colours."""
    dashes = [
        colors(accesses._STYLE, f"mg-{kind}", dark).get("stroke-dasharray") for kind in ("read", "write", "atomic")
    ]
    assert len(set(dashes)) == 3


@pytest.mark.parametrize("seen", SEEN)
def test_the_classes_differ(seen):
    """The regions of the two classes differ for everybody, and their points from each other and from the regions."""
    assert difference(*plots.TINTS, seen) > 14.0
    assert difference(*plots.CLASSES, seen) > 10.0
    for color, tint in zip(plots.CLASSES, plots.TINTS, strict=True):
        assert difference(color, tint, seen) > 20.0


@pytest.mark.parametrize("seen", ["usual", "protanopia", "deuteranopia"])
def test_lines_differ(seen):
    """Lines beside each other differ in colour; those of one picture have markers or dashes as well."""
    for one, other in combinations(plots.LINES, 2):
        assert difference(one, other, seen) > 8.0


@pytest.mark.full("every picture is drawn in each style", share=12)
@pytest.mark.parametrize("style", [graph._STYLE, paper._STYLE, accesses._STYLE, feedback_paper._STYLE])
def test_every_colour_has_one_for_dark_pages(style):
    """What is filled or framed in a light page has a colour of its own in a dark one."""
    first, second = style.split("@media(prefers-color-scheme:dark){")
    light = {kind for kind, rule in re.findall(r"(\.[^{}]*)\{([^}]*)\}", first) if "#" in rule}
    dark = {kind for kinds in re.findall(r"(\.[^{}]*)\{", second) for kind in kinds.split(",")}
    assert {kind for kinds in light for kind in kinds.split(",")} - dark <= set()

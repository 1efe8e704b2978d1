"""The picture beside a link to a lesson."""

import base64
import io

import nbformat
import numpy as np
import pytest
from PIL import Image

from book.cards import SIZE, card, drawn_in
from book.course_facts import Facts
from book.lessons import number_of

TITLES = {name: built.title for name, built in Facts().lessons.items()}


def picture(width, height, colour="red"):
    """A picture of one colour, as PNG."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "PNG")
    return out.getvalue()


def notebook(*pictures):
    """An executed notebook that shows pictures, and an SVG before them."""
    data = [{"image/svg+xml": "<svg/>"}, *({"image/png": base64.b64encode(each).decode()} for each in pictures)]
    outputs = [nbformat.v4.new_output("display_data", data=each) for each in data]
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("draw()", outputs=outputs)])


def test_the_picture_that_fills_a_card_best_is_chosen():
    """A wide film is small there, whatever its size; a lesson that draws in SVG alone has none."""
    film, square = picture(2000, 300), picture(200, 200)
    assert drawn_in(notebook(film, square)) == square
    assert drawn_in(notebook()) is None


@pytest.mark.parametrize("size", [(2000, 300), (200, 200), (100, 900)])
def test_a_picture_is_shown_whole(size):
    """All of it stands at the right, inside of the edge, and as large as there is room."""
    made = Image.open(io.BytesIO(card("A title", "00", picture(*size))))
    assert made.size == SIZE == (1200, 630)
    red = (np.asarray(made) == (255, 0, 0)).all(axis=2).nonzero()
    (top, bottom), (left, right) = ((each.min(), each.max()) for each in red)
    assert (right - left + 1) / (bottom - top + 1) == pytest.approx(size[0] / size[1], rel=0.02)
    assert left >= 580 and right == 1139 and top >= 60 and bottom < 570
    assert right - left + 1 >= 559 or bottom - top + 1 >= 509


@pytest.mark.parametrize("name", TITLES)
def test_every_title_fits(name):
    """Nothing is drawn where the picture stands, or beyond the edge of a card without one."""
    for shown, edge in ((picture(200, 200, "white"), 580), (None, 1140)):
        made = Image.open(io.BytesIO(card(TITLES[name], number_of(name), shown)))
        beyond = made.crop((edge, 0, *SIZE))
        assert beyond.getextrema() == ((255, 255),) * 3

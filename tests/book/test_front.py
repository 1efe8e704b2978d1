"""The front page: words of its own, and what lessons show."""

import re

import nbformat
import pytest
from places import ROOT

from book.executing import BookError
from book.front import front_page, with_lessons
from book.states import EXPLORER

PAGE = '<a href="lesson:03_backprop">Begin</a>\n\n<!-- 03_backprop: print(two) -->\n'


def notebook(source, **output):
    """A notebook whose second code cell has an output."""
    cells = [nbformat.v4.new_code_cell("print(one)"), nbformat.v4.new_code_cell(source)]
    cells[1].outputs = [nbformat.v4.new_output(**output)] if output else []
    return {"03_backprop": nbformat.v4.new_notebook(cells=cells)}


def test_words_of_the_readme_stand_there_once():
    """The table beside other courses is the README's own; nothing is left to be put in but what lessons show."""
    page = front_page()
    rows = [line for line in page.split("\n") if line.startswith("|")]
    assert len(rows) >= 5
    assert "\n".join(rows) in (ROOT / "README.md").read_text(encoding="utf-8")
    assert not re.search(r"<!-- README", page)


def test_what_it_shows_is_in_the_lessons():
    """Each place names the code of a cell that its lesson has."""
    places = re.findall(r"^<!-- (\w+): (.+) -->$", front_page(), re.MULTILINE)
    assert len(places) >= 4
    for lesson, code in places:
        assert code in (ROOT / "course" / "lessons" / f"{lesson}.md").read_text(encoding="utf-8")


def test_an_output_stands_in_the_place_of_its_cell():
    """Text is shown as it was printed, whatever HTML would make of it."""
    made = with_lessons(PAGE, notebook("print(two)", output_type="stream", text="a < b\n\nc"), "")
    assert "```{raw} html\n<pre>a &lt; b\n\nc</pre>\n```" in made


def test_a_picture_is_preferred_to_its_text():
    """A cell that draws shows its drawing, and no second form of it."""
    for svg in ("<svg>\n</svg>", ["<svg>\n", "</svg>"]):  # both are notebooks
        output = {"output_type": "display_data", "data": {"image/svg+xml": svg, "text/plain": "<Drawing>"}}
        made = with_lessons(PAGE, notebook("print(two)", **output), "")
        assert "\n<svg>\n</svg>\n" in made and "Drawing" not in made


PICTURE = {"output_type": "display_data", "data": {"image/png": "iVBORw0="}}


@pytest.mark.parametrize(
    "executed",
    [notebook("print(three)"), notebook("print(two)"), notebook("print(two)", **PICTURE), {}],
    ids=["no cell", "no output", "a form that is not shown", "no lesson"],
)
def test_a_place_that_shows_nothing_is_refused(executed):
    """One sentence names the lesson and the code."""
    with pytest.raises(BookError, match=r"no cell of 03_backprop with 'print\(two\)' shows anything"):
        with_lessons(PAGE, executed, "")


@pytest.mark.parametrize(
    ("run", "language", "address"),
    [
        ("run/", "", "run/lab/index.html?path=03_backprop.ipynb"),
        ("../run/", "zh_CN", "../run/lab/index.html?path=zh_CN/03_backprop.ipynb"),
        ("", "zh_CN", "lessons/03_backprop.html"),
    ],
)
def test_a_link_leads_to_where_a_lesson_runs(run, language, address):
    """Without a site in which it runs, to its page."""
    executed = notebook("print(two)", output_type="stream", text="2")
    assert f'<a href="{address}">' in with_lessons(PAGE, executed, run, language)


def test_states_of_a_widget_become_an_explorer(monkeypatch):
    """As on a lesson's page."""
    monkeypatch.setattr("book.front.explorer", lambda states: f"<b>{states['title']}</b>")
    output = {"output_type": "display_data", "data": {EXPLORER: {"title": "Playground"}}}
    assert "<b>Playground</b>" in with_lessons(PAGE, notebook("print(two)", **output), "")

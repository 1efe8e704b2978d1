"""Formulas become MathML where a page is made of a notebook, and nothing else is touched."""

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

from autograder.gradebook.formulas import with_mathml


def test_an_inline_formula_becomes_mathml():
    """$x^2$ is a superscript inside the sentence around it."""
    text = with_mathml("the slope of $x^2$ at 3")
    assert text.startswith("the slope of <math ")
    assert text.endswith("</math> at 3")
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in text
    assert 'display="inline"' in text


def test_a_displayed_formula_becomes_a_block():
    """Two dollars, also over several lines, give a displayed formula on one line of Markdown."""
    text = with_mathml("so\n\n$$\n\\frac{f(x+h) - f(x-h)}\n{2h}\n$$\n\nholds")
    assert 'display="block"' in text
    assert "<mfrac>" in text
    assert [bool(line) for line in text.split("\n")] == [True, False, True, False, True]


@pytest.mark.parametrize(
    "text",
    [
        "lunch cost $5 and dinner $6.",
        r"an escaped \$x\$",
        "in code: `$x$` and ``a `$y$` b``",
        "```python\ncost = '$x$'\n```",
        "~~~\n$$x$$\n~~~",
        r"not TeX: $\frac{$",
    ],
)
def test_what_is_no_formula_stays(text):
    """Money, code, escaped dollars and broken TeX are left as they are."""
    assert with_mathml(text) == text


def test_markdown_finds_nothing_to_format_in_a_formula():
    """A product of starred names reaches the page without an emphasis in it."""
    page = _page("$a*b*c$ and $x_i \\cdot y_i$ and *this*")
    assert page.count("<em>") == 1
    assert page.count("</math>") == 2


def test_a_notebook_of_code_alone_is_left_alone():
    """Dollars in a code cell and in its outputs are no formulas."""
    cell = nbformat.v4.new_code_cell("cost = '$x$'")
    assert "<math" not in _html(nbformat.v4.new_notebook(cells=[cell]))


def test_every_formula_of_the_lessons_becomes_mathml(root):
    """No dollar sign is left in the text of the notebooks, and there are formulas in each."""
    for file in sorted((root / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(file, as_version=4).cells
        texts = [with_mathml(cell.source) for cell in cells if cell.cell_type == "markdown"]
        assert [text for text in texts if "$" in text] == []
        assert any("<math" in text for text in texts)


def _page(markdown):
    return _html(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(markdown)]))


def _html(notebook):
    config = Config()
    config.HTMLExporter.preprocessors = ["autograder.gradebook.formulas.Formulas"]
    config.HTMLExporter.template_name = "basic"
    return HTMLExporter(config=config).from_notebook_node(notebook)[0]

"""Formulas as a terminal shows them."""

import io

import pytest
from rich.console import Console

from autograder.telling.plain_formulas import in_plain_text
from autograder.telling.solutions import Solution, as_rich


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("n", "n"),
        ("x = 0", "x = 0"),
        ("10^{16}", "10¹⁶"),
        (r"\frac{1}{x}", "1/x"),
        (r"\frac{a + b}{2}", "(a + b)/2"),
        (r"\frac{1}{1 + e^{-x}}", "1/(1 + e⁻ˣ)"),
        (r"\frac{\partial L}{\partial w}", "(∂L)/(∂w)"),
        ("x^{n+1}", "xⁿ⁺¹"),
        ("x^{n/2}", "x^(n/2)"),
        ("w_{ij}", "wᵢⱼ"),
        ("w_{i,j}", "w_(i, j)"),
        ("x_1^2", "x₁²"),
        (r"\sqrt{x + 1}", "√(x + 1)"),
        (r"\sqrt{x}", "√x"),
        (r"\sqrt[3]{x}", "³√x"),
        (r"\sum_{i=1}^n x_i", "∑ᵢ₌₁ⁿxᵢ"),
        (r"a \cdot b < \epsilon", "a·b < ϵ"),
        (r"\log(x)", "log(x)"),
        (r"a \le b \ne c", "a ≤ b ≠ c"),
        (r"H v", "Hv"),
    ],
)
def test_a_formula_is_one_line(formula, text):
    """Fractions, powers and indices keep their meaning, by parentheses where they need them."""
    assert in_plain_text(f"so ${formula}$.", is_markdown=False) == f"so {text}."


@pytest.mark.parametrize(
    "formula", [r"\frac{1}", r"\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}", r"\hat{x}", "x" * 3000]
)
def test_what_no_line_can_say_stays(formula):
    """TeX that is not valid, too long, or says more than a line can, is shown as it is."""
    assert in_plain_text(f"so ${formula}$.") == f"so ${formula}$."


def test_code_and_money_stay():
    """Dollar signs that are no formula."""
    for text in ("`$x^2$`", "$5 and $6", "no formula"):
        assert in_plain_text(text) == text


def test_markdown_reads_nothing_into_it():
    """In Markdown signs of a formula are no emphasis."""
    assert in_plain_text("$a * b * c$") == r"a\*b\*c"


def test_a_model_answer_in_a_terminal():
    """`autograder solution` prints no TeX."""
    found = Solution("q", "01_lesson", r"The slope is $\frac{1}{x^2}$.", r"What is $f'(x)$ at $10^{12}$?")
    out = io.StringIO()
    Console(file=out, width=80).print(as_rich(found))
    assert "1/x²" in out.getvalue() and "10¹²" in out.getvalue() and "$" not in out.getvalue()

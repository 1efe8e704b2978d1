"""Formulas of a Markdown text as a terminal shows them: a fraction becomes ``(a + b)/2``.

The converter that makes MathML of a formula for pages has understood it; here its result is written on one line, with
Unicode's raised and lowered characters where all of them exist.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from latex2mathml.converter import convert

from autograder.common.formulas import with_formulas

_RAISED = dict(
    zip("0123456789+-−=()nixTabcdefghjklmoprstuvwyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱˣᵀᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷʸᶻ", strict=True)
)
_LOWERED = dict(zip("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_SPACED = frozenset("=+−<>≤≥≠≈∈←→⇒↦")
_NAMED = re.compile(r"([a-z]{2,}) \(")  # log (x)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>])")


def in_plain_text(text: str, *, is_markdown: bool = True) -> str:
    """Return a text with its formulas in plain text; a formula that is no valid TeX stays as it is.

    Args:
        text: Text with formulas between dollar signs.
        is_markdown: Whether it will be read as Markdown, in which signs such as ``*`` have a meaning.
    """

    def write(formula: str, _display: bool) -> str | None:
        plain = _written(formula)
        escaped = plain and is_markdown and _MARKDOWN.sub(r"\\\1", plain)
        return escaped or plain

    return with_formulas(text, write) if "$" in text else text


def _written(formula: str) -> str | None:
    try:
        return _NAMED.sub(r"\1(", " ".join(_text(ET.fromstring(convert(formula.strip()))).split()))
    except Exception:  # whatever the converter stumbles over: TeX that is shown as it is still reads
        return None


def _text(node: ET.Element) -> str:
    """Return an element of MathML as text."""
    parts = list(node)
    match node.tag.rpartition("}")[2]:
        case "mfrac":
            return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
        case "msqrt":
            return f"√{_grouped(node)}"
        case "mroot":
            return f"{_script(parts[1], _RAISED, '')}√{_grouped(parts[0])}"
        case "msup":
            return _text(parts[0]) + _script(parts[1], _RAISED, "^")
        case "msub":
            return _text(parts[0]) + _script(parts[1], _LOWERED, "_")
        case "msubsup" | "munderover":
            return _text(parts[0]) + _script(parts[1], _LOWERED, "_") + _script(parts[2], _RAISED, "^")
        case "mo":
            sign = (node.text or "").strip()
            return f" {sign} " if sign in _SPACED else sign + " " * (sign == ",")
        case "mspace":
            return " "
        case "mi" if len(node.text or "") > 1:
            return f" {node.text} "
        case "munder" | "mover" | "mtable" | "menclose" | "mpadded":
            raise ValueError("no line of text says this")
        case _:
            return (node.text or "") + "".join(map(_text, parts))


def _grouped(node: ET.Element) -> str:
    """Return a part of a formula in parentheses, unless it is one number or one name."""
    text = _inside(node)
    return text if re.fullmatch(r"[\w.]+[⁰¹²³⁴⁵⁶⁷⁸⁹₀-₉]*|\([^()]*\)", text) else f"({text})"


def _script(node: ET.Element, characters: dict[str, str], mark: str) -> str:
    """Return raised or lowered text: by characters of their own, if all exist, else behind a mark."""
    text = _inside(node)
    if all(each in characters for each in text.replace(" ", "")):
        return "".join(characters[each] for each in text.replace(" ", ""))
    return mark + _grouped(node)


def _inside(node: ET.Element) -> str:
    if node.tag.rpartition("}")[2] == "msqrt":
        return " ".join("".join(map(_text, node)).split())
    return " ".join(_text(node).split())

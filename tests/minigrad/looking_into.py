"""What a drawn picture holds, read from its SVG."""

import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"

LETTER = 6.4
"""Pixels that a letter is wide at most."""


def elements(picture, tag):
    """All elements of a kind, in the order of drawing."""
    return list(ET.fromstring(picture.svg).iter(f"{SVG}{tag}"))


def texts(picture, kind=""):
    """The texts in a picture, in the order of drawing; those of one class alone, if it is named."""
    return [each.text for each in elements(picture, "text") if not kind or each.get("class") == f"mp-{kind}"]


def boxes(picture, kind):
    """The boxes of a kind."""
    return [each for each in elements(picture, "rect") if each.get("class") == f"mp-{kind}"]


def words(picture):
    """The picture's text alternative."""
    return elements(picture, "desc")[0].text


def inside(picture):
    """Whether every box and every text lies within the picture, at the width that letters have at most."""
    root = ET.fromstring(picture.svg)
    width, height = float(root.get("width")), float(root.get("height"))
    for each in root.iter(f"{SVG}text"):
        x, y, wide = float(each.get("x")), float(each.get("y")), len(each.text) * LETTER
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[each.get("text-anchor")]
        if left < 0.0 or left + wide > width or not 8.0 < y < height:
            return False
    return all(
        0.0 <= float(each.get("x")) <= float(each.get("x")) + float(each.get("width")) < width
        and 0.0 <= float(each.get("y")) <= float(each.get("y")) + float(each.get("height")) < height
        for each in root.iter(f"{SVG}rect")
        if each.get("x")
    )

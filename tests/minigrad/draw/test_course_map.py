"""The map of a course: lines pass by other lessons, and rings show what is done."""

import re
import xml.etree.ElementTree as ET

import pytest

from minigrad.draw.course_map import Stop, course_map, placed, reduced

NEEDS = {"a": (), "b": ("a",), "c": ("b",), "d": ("a", "c"), "e": ("b", "d")}


def test_lines_of_the_map_pass_by_other_lessons():
    """No line runs through a lesson that stands between its ends."""
    places = placed(NEEDS)
    stops = {(places.lanes[lesson], row) for row, lesson in enumerate(NEEDS)}
    passed = [(lane, row) for start, lane, end in places.lines for row in range(start[1] + 1, end[1])]
    assert len(places.lines) == 6
    assert len(passed) == len(set(passed)) == 4
    assert not stops & set(passed)


def test_what_follows_from_the_rest_has_no_line():
    """`d` needs `a` only through `c`."""
    assert reduced(NEEDS) == {"a": (), "b": ("a",), "c": ("b",), "d": ("c",), "e": ("d",)}


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_ring_is_coloured_as_far_as_the_lesson_is_done(share):
    """None for nothing, all of it for everything; the words say it too."""
    svg = course_map([Stop("00_one", "One & two", share=share, remark="1 of 4")], {}, "A map")
    ET.fromstring(svg)
    assert "One &amp; two" in svg and "1 of 4" in svg
    rings = re.findall(r'class="done"[^>]*stroke-dasharray="([\d.]+) ([\d.]+)"', svg)
    assert [float(part) / float(whole) for part, whole in rings] == pytest.approx([share] if share else [], abs=0.01)


def test_only_a_stop_with_a_link_leads_somewhere():
    """A page that has no lessons beside it has no links."""
    svg = course_map([Stop("00_one", "One"), Stop("01_two", "Two", link="two.html")], {"01_two": ("00_one",)}, "A map")
    assert re.findall('href="([^"]*)"', svg) == ["two.html"]
    assert svg.count("<path ") == 1


def test_a_long_title_has_room():
    """The picture is as wide as its longest line."""
    wide, narrow = (
        float(re.search(r'viewBox="0 0 ([\d.]+) ', course_map([Stop("00_one", "a" * count)], {}, "A map"))[1])
        for count in (60, 10)
    )
    assert wide - narrow >= 50 * 7


def test_a_lesson_that_is_no_stop_has_no_line():
    """A lesson without exercises is not on the map of progress, and breaks none."""
    assert course_map([Stop("01_two", "Two")], {"01_two": ("00_one",)}, "A map").count("<path ") == 0

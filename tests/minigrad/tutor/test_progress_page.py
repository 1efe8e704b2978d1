"""The page of progress: the next step, the map, and the library that one has written."""

import re
import xml.etree.ElementTree as ET

import pytest
from axe import serious
from typer.testing import CliRunner

from minigrad import exercises
from minigrad.checks import CheckReport, CheckResult
from minigrad.cli import app
from minigrad.tutor import progress_page, progressing

ASKED = [each for each in exercises.catalogue().values() if not each.draft]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder, which is the current one."""
    (tmp_path / ".minigrad").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def passed(*ids):
    for id in ids:
        progressing.record(CheckReport(id, exercises.get(id).points, (CheckResult("It works.", True),)))


def page():
    return progress_page.page("Next: go on.", [("minigrad lab <here>", "open the lessons")])


def test_the_map_shows_what_is_done(folder):
    """A lesson's ring is coloured by the share of its points, and the words beside it count exercises."""
    passed("operators.arithmetic")
    svg = re.search("<svg.*?</svg>", page())[0]
    ET.fromstring(svg)
    lesson = [each for each in ASKED if each.lesson == "00_fundamentals"]
    assert f"1 of {len(lesson)}</tspan>" in svg
    ring = re.search(r'class="done"[^>]*dasharray="([\d.]+) ([\d.]+)"', svg)
    share = exercises.get("operators.arithmetic").points / sum(each.points for each in lesson)
    assert float(ring[1]) / float(ring[2]) == pytest.approx(share, abs=0.01)
    assert svg.count('class="done"') == 1
    assert svg.count("<path ") > 10


def test_every_function_is_on_the_page_and_those_that_pass_are_marked(folder):
    """All that the course asks for, by name, and a sentence that counts it."""
    passed("operators.arithmetic")
    text = page()
    names = [name.rpartition(".")[2] for each in ASKED for name in each.objects]
    assert re.findall(r"<li (?:class|title)[^>]*>(\w+)</li>", text) == names
    assert re.findall(r'<li class="written">(\w+)</li>', text) == ["add", "mul", "neg"]
    assert f"3 of {len(names)} functions and classes pass their checks" in text


def test_what_stands_on_the_page_is_escaped(folder):
    """A path with a sign of HTML is shown as it is."""
    assert "minigrad lab &lt;here&gt;" in page()


def test_the_library_is_yours_when_everything_passes(folder):
    """Not before the last exercise; the page then says with how much help."""
    passed(*(each.id for each in ASKED[:-1]))
    assert "This library is yours" not in page()
    passed(ASKED[-1].id)
    progressing.saw_hint(ASKED[0].id, 2)
    text = page()
    assert "This library is yours" in text
    assert f"in {len(ASKED)} exercises" in text
    assert f"{len(ASKED)} checks, 2 hints, no solutions seen" in text


def test_the_command_writes_the_page(folder):
    """It says where; a second run writes it anew."""
    done = CliRunner().invoke(app, ["progress", "--page"])
    assert done.exit_code == 0
    file = folder / ".minigrad" / "progress.html"
    assert f"As a page: {file.as_uri()}" in done.output
    passed("operators.arithmetic")
    before = file.read_text()
    CliRunner().invoke(app, ["progress", "--page"])
    assert file.read_text() != before
    assert "Next: " in before


def test_without_a_working_folder_the_command_says_so(tmp_path, monkeypatch):
    """A page has its place in a working folder."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["progress", "--page"])
    assert done.exit_code != 0
    assert "minigrad start" in f"{done.output}{done.exception}"


@pytest.mark.parametrize(
    "scheme", ["light", pytest.param("dark", marks=pytest.mark.full("axe-core walks the page once more", share=4))]
)
def test_everybody_can_read_the_page(browser, folder, scheme):
    """axe-core finds nothing serious, nothing is wider than a phone, and a wide window shows the whole table."""
    passed(*(each.id for each in ASKED))
    file = folder / "page.html"
    file.write_text(page())
    window = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 800})
    window.goto(file.as_uri())
    assert serious(window) == []
    assert window.evaluate("document.documentElement.scrollWidth") == 390
    window.set_viewport_size({"width": 1280, "height": 800})
    assert window.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.scrolls'))")
    window.close()

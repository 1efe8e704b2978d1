"""The text of the book's pages, before Sphinx reads it: nothing is left out, and nothing is loaded from elsewhere."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from places import ROOT

import minigrad
from autograder.building.needs import needs_of
from book.boxes import exercise_box, question_box
from book.course_facts import Facts
from book.executing import BookError
from book.guides import doors, guides
from book.indexes import indexes
from book.lessons import number_of
from book.map import map_of
from book.markdown import anchor, block, plain
from book.misconceptions import misconceptions
from book.reference import reference
from book.site.docstrings import _lead_back, as_restructured
from minigrad.draw.course_map import reduced

FACTS = Facts()
EXERCISES = list(FACTS.sources)
BREADTH_FIRST = "wrong-autodiff-backpropagate-breadth-first-order"


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.full("every exercise's box is made", share=4)
def test_a_box_has_stub_hints_solution_and_mistakes(exercise):
    """An exercise's box holds its stub, its points, folded checks, three hints, and each known mistake."""
    source = FACTS.sources[exercise]
    text = exercise_box(FACTS, source, "")
    assert text.startswith(f"({anchor('exercise', exercise)})=\n")
    assert source.stub_cell in text
    assert f"{source.exercise.points:g} point" in text.split("\n")[1]
    assert text.count("{dropdown} Hint") == 3
    assert "{dropdown} Visible checks" in text
    assert "{dropdown} Solution" in text
    assert text.count("BEGIN SOLUTION") == 0
    for each in FACTS.wrong(exercise):
        assert f"(#{anchor('wrong', exercise, each.name)})" in text


def test_each_lesson_has_a_page_of_known_mistakes():
    """Each mistake that a box leads to has its place on exactly one page."""
    pages = {place: text.decode() for place, text in misconceptions(FACTS) if place.endswith(".md")}
    assert list(pages) == [f"misconceptions/{name}.md" for name in FACTS.lessons]
    found = re.findall(r"^\((wrong-[\w-]+)\)=$", "\n".join(pages.values()), re.MULTILINE)
    assert sorted(found) == sorted(anchor("wrong", id, each.name) for id in EXERCISES for each in FACTS.wrong(id))


def test_a_known_mistake_has_its_counter_example_and_picture():
    """Its section shows what a report shows: the test's title and finding, the input that failed, and the picture."""
    made = {place: text.decode() for place, text in misconceptions(FACTS)}
    _, section = made["misconceptions/03_backprop.md"].split(f"({BREADTH_FIRST})=\n")
    section = section.partition("\n(wrong-")[0]
    (picture,) = re.findall(r"^!\[.+\]\((.+\.svg)\)$", section, re.MULTILINE)
    assert picture == f"{BREADTH_FIRST}.svg" and made[f"misconceptions/{picture}"].startswith("<svg")
    assert re.search(r"^\*\*.+:\*\* got .+$", section, re.MULTILINE)
    drawn = {place for place in made if place.endswith(".svg")}
    shown = re.findall(r"\]\((wrong-.+\.svg)\)$", "\n".join(made.values()), re.MULTILINE)
    assert drawn == {f"misconceptions/{place}" for place in shown} and len(drawn) == len(shown)


def test_a_mistake_that_is_not_recorded_is_named(monkeypatch):
    """A wrong answer that was never verified has nothing to show: one sentence names the command."""
    monkeypatch.setattr("book.misconceptions.read_shown", lambda _: {})
    with pytest.raises(BookError, match=r"wrong/operators\.\S+\.py: run `autograder verify operators\.\S+ --record`"):
        dict(misconceptions(FACTS))


def test_the_index_lists_every_exercise():
    """The index of exercises has one row for each, with its points."""
    text = dict(indexes(FACTS))["exercises.md"].decode()
    assert re.findall(r"^\| \[`([\w.]+)`\]", text, re.MULTILINE) == EXERCISES


def test_links_of_guides_stay_inside():
    """No guide leads to a file that is not in the site."""
    pages = dict(guides())
    for name, content in pages.items():
        if name.endswith(".md"):
            assert re.findall(r"\]\((?!https?:)[^)\s]*\.(?:py|toml|ipynb)\)", content.decode()) == [], name


def test_the_side_bar_leads_to_every_guide():
    """Each page of the guides is in one list that the side bar unfolds; a door lists what docs/README.md lists."""
    front = (ROOT / "book" / "pages" / "index.md").read_text(encoding="utf-8")
    lists = {"index.md": front} | {place: text.decode() for place, text in doors()}
    listed = [
        (Path(place).parent / name).as_posix()
        for place, text in lists.items()
        for names in re.findall(r"```\{toctree\}\n(?::.*\n)*\n((?:[^`\n]+\n)+)```", text)
        for name in re.sub(r".*<(.+)>", r"\1", names).split()
    ]
    pages = [place.removesuffix(".md") for place, _ in guides() if place.endswith(".md")]
    assert len(lists) == 7
    assert sorted(each for each in listed if each in pages) == sorted(pages)
    assert set(lists) - {"index.md"} <= {f"{each}.md" for each in listed}


def test_an_earlier_exercise_that_is_used_is_named():
    """What an answer calls by name is what it builds on."""
    assert FACTS.needs["autodiff.backpropagate"] == ("autodiff.topological_sort",)


def test_a_question_shows_its_model_answer_folded():
    """The note about points is left out, and the markers with it."""
    text = question_box(
        "**Question.** Why?\n\n*Your answer is read by a person; it brings no points.*",
        "### BEGIN SOLUTION\nSo.\n### END SOLUTION",
    )
    assert "Why?" in text
    assert "Your answer" not in text
    assert "SOLUTION" not in text
    assert "So." in text


def test_fences_are_longer_than_those_inside():
    """A block inside of a block does not end it."""
    assert block("a", "", block("b", "", "text")).startswith("::::{a}")


def test_signs_of_markdown_are_shown():
    """A star in a sentence is a star; code stays as it is."""
    assert plain("a * b is `a*b`") == r"a \* b is `a*b`"


def test_the_map_follows_from_what_lessons_need():
    """The lines of the map are what the lessons' sentences "You need" say, without what follows from the rest."""
    needs = reduced(needs_of({name: built.source for name, built in FACTS.lessons.items()}))
    assert {number_of(later): " ".join(map(number_of, before)) for later, before in needs.items()} == {
        "00": "",
        "01": "00",
        "02": "01",
        "03": "02",
        "04": "00",
        "05": "04",
        "06": "03 05",
        "06b": "06",
        "07": "05",
        "07b": "07",
        "08": "07",
        "08b": "06b 07",
        "09": "08b",
        "10": "06",
        "10b": "10",
        "11": "06b 10",
        "11b": "09 07b 11",
        "12": "09 10b 11",
        "13": "12",
        "14": "09 10",
    }


def test_the_map_leads_to_each_lesson():
    """The picture and the table have a link to each lesson, and a line for each lesson that another builds on."""
    text = map_of(FACTS)
    for name in FACTS.lessons:
        assert f'<a href="lessons/{name}.html">' in text
        assert f"(lessons/{name}.ipynb)" in text
    needs = needs_of({name: built.source for name, built in FACTS.lessons.items()})
    assert text.count("<path ") == sum(map(len, reduced(needs).values()))


def test_every_public_module_is_in_the_reference():
    """Each module that `minigrad.NAME` imports has a page."""
    pages = dict(reference())
    assert [name for name in minigrad._lazy_modules if f"reference/minigrad.{name}.rst" not in pages] == []


def test_docstrings_show_their_signs_and_code():
    """A star in prose is a star; indented code below a sentence is code; examples stay as they are."""
    given = ["A shape (*x).", "", "    a * b", "", "Returns:", "    |x| of `a*b`.", "", ">>> 2 * 3", "6"]
    made = ["A shape (\\*x).", "", "::", "", "    a * b", "", "Returns:", "    \\|x\\| of `a*b`.", "", *given[-2:]]
    assert as_restructured(given) == made


def test_a_source_leads_back_to_the_pages_that_show_it():
    """Each name under the module that shows most of them, whichever page was read first or last; not under an alias."""
    names = ("Error", "Error.told", "Other")
    places = {f"minigrad.inside.{name}": ("errors", True) for name in names}
    places |= {"minigrad.scalar.Error": ("scalar", False)}
    places |= {f"minigrad.errors.{name}": ("errors", False) for name in names}
    objects = {full: SimpleNamespace(docname=page, aliased=aliased) for full, (page, aliased) in places.items()}
    used = {"Error": "scalar", "Error.told": "errors", "Other": "errors"}
    modules = {"minigrad.inside": ("code", {}, used, "minigrad.scalar"), "minigrad.c": False}
    domains = SimpleNamespace(python_domain=SimpleNamespace(objects=objects))
    _lead_back(None, SimpleNamespace(domains=domains, _viewcode_modules=modules))
    assert modules["minigrad.inside"] == ("code", {}, dict.fromkeys(used, "errors"), "minigrad.errors")

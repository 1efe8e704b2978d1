"""The sentences that a library says to students, found in its code, and what it reads in another language."""

import ast
import json
from dataclasses import replace

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po
from small_course import SmallCourse

from autograder.building.sentences import (
    _Reader,
    _told_by_tests,
    faults_of_sentences,
    locale_files,
    refuse_gaps,
    sentences,
)
from autograder.building.translating import catalogue_path, update
from autograder.course import CourseError
from autograder.results import NOT_STARTED, Submission
from autograder.telling.report import as_text
from autograder.telling.tongue import speaking_of
from minigrad.exercises.telling import language_of

HINTS = """
["numbers.clamp"]
nudge = "What are the two bounds?"
idea = "Between {a, b}."
outline = "Two steps."

["numbers.pair"]
nudge = "Twice."
idea = "Adding a number to itself doubles it."
outline = "Add; multiply by one half."
"""
SHAPES = '["shapes.Square"]\nnudge = "Draw it."\nidea = "Length times width."\noutline = "Multiply."\n'


def told_by(code):
    reader = _Reader()
    reader.visit(ast.parse(code))
    return reader.found


@pytest.fixture
def course(tmp_path):
    """A course with hints, whose library says one sentence."""
    small = SmallCourse(tmp_path)
    folder = tmp_path / "course" / "hints"
    folder.mkdir()
    (folder / "00_numbers.toml").write_text(HINTS)
    (folder / "01_shapes.toml").write_text(SHAPES)
    (small.source / "tutor").mkdir()
    (small.source / "tutor" / "numbers.py").write_text('hint = f"{seen} is not {wanted}"\n')
    small.toml.write_text(small.toml.read_text().replace('version = "1.0"', 'version = "1.0"\nlanguages = ["de"]', 1))
    return small


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('expect(x, 1, hint="add them up")', ["add them up"]),
        ('raise E(None, f"got {x!r}, expected {y:g} or {{}}")', ["got {0}, expected {1} or {{}}"]),
        ('print(f"got {a}{b}")', ["got {0}"]),
        ('T = "{name} is there {count} times"', ["{0} is there {1} times"]),
        ('h = "write {**a} here"', ["write {{**a}} here"]),
        ('s = f"all well{f\', {n} of them late\' if n else \'\'}."', ["all well, {0} of them late.", "all well."]),
        ('s = "one check" if n == 1 else f"{n} checks"', ["one check", "{0} checks"]),
        ('w = {"a key of two": "two words", 1: "word"}', ["two words"]),
        ('w: dict[str, Told] = {"a": "word"}', ["word"]),
        ('table_of("word", style="bold")', ["word"]),
        ('raise ValueError("not for students")', []),
        ('PAGE = "<b>in bold</b>"', []),
        ('"""A docstring of a module."""\ndef f():\n    """What it does."""', []),
        ('@visible("a.b", "00 \'Three lines\'")\ndef f(student):\n    """The fact."""', ["The fact."]),
        ('def f(x: Annotated[int, typer.Option(help="Of two.")] = 1):\n    """Do it.\n\n    And\n    this."""',
         ["Do it.", "And this.", "Of two."]),
    ],
)  # fmt: skip
def test_sentences_are_found_in_the_code(code, found):
    """Whole ones, with numbers for values; no names, no HTML, no docstrings but those that are shown."""
    assert told_by(code) == found


def test_a_library_reads_its_languages(course):
    """All catalogues stand in one file, those without a translation too; a second build changes nothing."""
    loaded = course.load()
    said = sentences(loaded)
    assert said["messages"] == ["{0} is not {1}"]
    assert "Between {{a, b}}." in said["hints"]
    update(loaded, "de", "messages", said["messages"])
    path = catalogue_path(loaded, "de", "messages")
    path.write_text(path.read_text().replace('{1}"\nmsgstr ""', '{1}"\nmsgstr "{0} ist nicht {1}"'))
    course.build()
    content = json.loads((course.source / "locale" / "de.json").read_text())["sentences"]
    assert content["{0} is not {1}"] == "{0} ist nicht {1}"
    assert content["Twice."] == ""
    assert not course.build().written


def test_a_third_language_is_a_folder_of_catalogues_and_one_line(course):
    """A build that releases refuses it until every sentence is there; then a report of its notebooks speaks it."""
    loaded = course.load()
    with pytest.raises(CourseError, match=r"hints\.po: 9 of its sentences: is not translated.*book translate de hints"):
        refuse_gaps(loaded)
    for name, wanted in sentences(loaded).items():
        catalogue = Catalog(locale="de")
        for each in wanted:
            catalogue.add(each, f"{each} (de)")
        path = catalogue_path(loaded, "de", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, catalogue)
    refuse_gaps(loaded)
    course.build()
    assert language_of(loaded.notebooks / "de") == "de"
    untouched = Submission("00_numbers", (), unreadable=NOT_STARTED, language="de")
    with speaking_of([untouched], loaded):
        assert f"{NOT_STARTED} (de)" in as_text(untouched)
    unknown = replace(untouched, language="xx")
    with speaking_of([unknown], loaded):
        assert as_text(unknown).startswith(NOT_STARTED)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('def test_it(student):\n    """The\n    fact.\n\n    More."""', ["The fact."]),
        ("OLD = \"m.f: 'It is so.'\"\nf(because=OLD)", ["It is so."]),
        ("f(because=\"lesson 03, 'Two paths': They add.\")", ["They add."]),
        ('f(hint="add" if x else "stop", misconception="not-added")', ["add", "stop", "not added"]),
        ('f(when={1: ("one-off", "count"), 2: "look"})', ["one off", "count", "look"]),
        ('f(example="x at 3")\narray("out", x)\narray("what came", x)', ["x at 3", "what came"]),
        ('f(hint=hint)\ng("not said")', []),
    ],
)
def test_what_hidden_tests_say_is_found(code, found):
    """Facts, quotations, hints, names of mistakes, examples, and the names of arrays."""
    assert sorted(_told_by_tests(code)) == sorted(found)


def test_a_library_without_hints_says_nothing(tmp_path):
    """As that of another course."""
    small = SmallCourse(tmp_path)
    update(small.load(), "de", "00_numbers", [])
    assert locale_files(small.load()) == {}


def test_places_are_the_same_in_every_language():
    """None is lost or new, and no brace is left open."""
    wanted = ["{0} of {1}"]
    assert faults_of_sentences(wanted, {"{0} of {1}": "{1}: {0}"}) == []
    for wrong in ("{0}", "{0} {1} {2}", "{0} {1} {"):
        assert faults_of_sentences(wanted, {"{0} of {1}": wrong}) == ["has other places in braces: {0} of {1}"]

"""Hints of a course: bundled by the build, refused where they say too little or give the answer away."""

import json

import pytest
from small_course import SmallCourse

from autograder.building.hints import hints_json, load_hints
from autograder.course import CourseError

WHOLE = """
["numbers.clamp"]
nudge = "What are the two bounds?"
idea = "A number is kept between two others."
outline = '''
- the smaller of it and the upper bound
- the larger of that and the lower bound
'''

["numbers.pair"]
nudge = "Twice."
idea = "Adding a number to itself doubles it."
outline = "Add; multiply by one half."
"""
SHAPES = """
["shapes.Square"]
nudge = "Draw it."
idea = "Length times width."
outline = "Multiply the edge by itself."
"""


@pytest.fixture
def course(tmp_path):
    small = SmallCourse(tmp_path)
    small.hints = tmp_path / "course" / "hints"
    small.hints.mkdir()
    (small.hints / "00_numbers.toml").write_text(WHOLE)
    (small.hints / "01_shapes.toml").write_text(SHAPES)
    return small


def refusal(course):
    with pytest.raises(CourseError) as refused:
        course.build()
    assert not (course.source / "hints.json").exists()
    return str(refused.value)


def test_hints_are_bundled(course):
    """In the order of course.toml, tier by tier; a second build changes nothing."""
    course.build()
    content = json.loads((course.source / "hints.json").read_text())
    assert content["generated"] == "from course/hints by `autograder build`; do not edit"
    assert list(content["hints"]) == ["numbers.pair", "numbers.clamp", "shapes.Square"]
    assert list(content["hints"]["numbers.clamp"]) == ["nudge", "idea", "outline"]
    assert content["hints"]["numbers.clamp"]["outline"].splitlines() == [
        "- the smaller of it and the upper bound",
        "- the larger of that and the lower bound",
    ]
    assert not course.build().written


def test_a_course_may_do_without(course):
    """Without a folder of hints nothing is asked for, and nothing is bundled."""
    for path in course.hints.iterdir():
        path.unlink()
    course.hints.rmdir()
    course.build()
    assert hints_json(course.load()) is None
    assert not (course.source / "hints.json").exists()


def test_an_exercise_without_hints_is_refused(course):
    """Every exercise of a lesson that is built has three."""
    (course.hints / "01_shapes.toml").unlink()
    assert "hints/01_shapes.toml: has no hints for 'shapes.Square'" in refusal(course)


def test_hints_may_begin_with_drafts(course):
    """While only lessons have hints that are still being written, those that are released may do without."""
    course.change(course.toml, 'title = "Shapes"', 'title = "Shapes"\ndraft = true')
    (course.hints / "00_numbers.toml").unlink()
    assert list(load_hints(course.load())) == ["shapes.Square"]
    course.build()


def test_drafts_may_wait(course):
    """What is still being written needs no hints; those that are there are bundled."""
    course.change(course.toml, 'title = "Shapes"', 'title = "Shapes"\ndraft = true')
    assert "shapes.Square" in load_hints(course.load())
    (course.hints / "01_shapes.toml").unlink()
    assert list(load_hints(course.load())) == ["numbers.pair", "numbers.clamp"]


@pytest.mark.parametrize("id", ["numbers.triple", "numbers"])
def test_hints_for_nothing_are_refused(course, id):
    """A misspelt id is named, quotes and all."""
    path = course.hints / "00_numbers.toml"
    path.write_text(f'[{json.dumps(id)}]\nnudge = "a"\nidea = "b"\noutline = "c"\n')
    assert f"there is no exercise {id!r}" in refusal(course)


def test_hints_in_the_wrong_file_are_refused(course):
    """A file holds the hints of its lesson."""
    path = course.hints / "00_numbers.toml"
    path.write_text(WHOLE + SHAPES)
    assert "'shapes.Square' belongs into hints/01_shapes.toml; move it" in refusal(course)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('nudge = "Draw it."\n', "", "needs exactly nudge, idea, outline"),
        ('nudge = "Draw it."', 'nudge = "Draw it."\nmore = "x"', "needs exactly nudge, idea, outline"),
        ('nudge = "Draw it."', 'nudge = "  "', "'nudge' says nothing"),
        ('nudge = "Draw it."', "nudge = 3", "'nudge' says nothing"),
        ('nudge = "Draw it."', "nudge = ", "is not TOML"),
    ],
)
def test_what_is_not_three_texts_is_refused(course, old, new, says):
    """Three texts, none of them empty, and no others."""
    path = course.hints / "01_shapes.toml"
    course.change(path, old, new)
    sentence = refusal(course)
    assert says in sentence
    assert "hints/01_shapes.toml" in sentence


def test_a_table_that_is_a_text_is_refused(course):
    """The id names a table."""
    (course.hints / "01_shapes.toml").write_text('"shapes.Square" = "Draw it."')
    assert "needs exactly nudge, idea, outline" in refusal(course)


@pytest.mark.parametrize("tier", ["nudge", "idea", "outline"])
def test_a_line_of_the_answer_is_refused(course, tier):
    """However it is laid out, and in whichever tier it stands."""
    path = course.hints / "00_numbers.toml"
    text = path.read_text()
    head, _, rest = text.partition('["numbers.pair"]')
    start = head.index(f"{tier} = ")
    head = head[:start] + f"{tier} = '''Write `kept=min( max(kept, smallest),\n  largest )`.'''" + "\n"
    if tier != "outline":
        head += "outline = 'x'\n" + ("idea = 'x'\n" if tier == "nudge" else "")
    path.write_text(head + '["numbers.pair"]' + rest)
    sentence = refusal(course)
    assert f"numbers.clamp: {tier!r} holds 'kept = min(max(kept, smallest), largest)', a line of the answer" in sentence

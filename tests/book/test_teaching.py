"""The pages for teachers: one a lesson, true to the course, with answers that a program computes."""

import re
import shutil

import pytest

from book import teaching as pages
from book.course_facts import Facts
from book.executing import BookError
from book.lessons import number_of
from book.misconceptions import misconceptions
from book.teaching import FOLDER, MISTAKE, teaching

FACTS = Facts()
TEXTS = {name: (FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in FACTS.lessons}
SECTIONS = ["On the board, twenty minutes", "Three mistakes to expect", "Two exam questions", "In a short term"]

each_page = pytest.mark.parametrize("name", TEXTS)


def section(name, title):
    """What stands below a heading of a page."""
    return TEXTS[name].partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@each_page
def test_a_page_has_its_parts(name):
    """The lesson's title, an aim, four things to draw, and the four sections in their order."""
    text = TEXTS[name]
    assert text.startswith(f"# Teach {number_of(name)}: {FACTS.lessons[name].title}\n\nThe aim: ")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS
    assert len(re.findall(r"^\d\. ", section(name, SECTIONS[0]), re.MULTILINE)) == 4


@each_page
def test_three_mistakes_of_the_lesson_are_named(name):
    """Each line names a different known-wrong answer to an exercise of this lesson."""
    lines = section(name, SECTIONS[1]).strip().split("\n")
    named = [MISTAKE.fullmatch(line).groups()[:2] for line in lines]
    assert len(set(named)) == len(lines) == 3
    assert {exercise for exercise, _ in named} <= {each.id for each in FACTS.course.of_lesson(name)}


@each_page
def test_two_questions_have_answers_that_a_program_computes(name):
    """Below each answer stand a program and what it prints, which `tests/test_docs.py` compares."""
    text = section(name, SECTIONS[2])
    assert re.findall(r"^\*\*(\d)\.\*\* ", text, re.MULTILINE) == ["1", "2"]
    assert (
        text.count("<summary>Answer</summary>") == len(re.findall(r"```python\n[^`]+```\n\n```\n[^`]+```", text)) == 2
    )


def test_the_book_adds_what_the_course_knows():
    """A made page has the hours, a row for each exercise, and a link from each mistake to its counter-example."""
    mistakes = "\n".join(text.decode() for place, text in misconceptions(FACTS) if place.endswith(".md"))
    made = {place: text.decode() for place, text in teaching(FACTS)}
    assert list(made) == [f"docs/teaching/{name}.md" for name in FACTS.lessons]
    for name in FACTS.lessons:
        text = made[f"docs/teaching/{name}.md"]
        rows = re.findall(r"^\| \[`([\w.]+)`\]\(#exercise-[\w-]+\) \|", text, re.MULTILINE)
        assert rows == [each.id for each in FACTS.course.of_lesson(name)]
        leads = re.findall(r"^- \*\*\[[^\]]+\]\(#(wrong-[\w-]+)\)\*\*.+ Noticed by: \*\w.+\*\.$", text, re.MULTILINE)
        assert len(leads) == 3 and all(f"({label})=\n" in mistakes for label in leads)
    assert "| core | weekend, term, week 3 |" in made["docs/teaching/03_backprop.md"]


def test_a_page_that_is_missing_or_wrong_is_refused(monkeypatch, tmp_path):
    """A lesson without a page, or a mistake that is not in the store, is named in one sentence."""
    folder = tmp_path / "docs" / "teaching"
    shutil.copytree(FOLDER, folder)
    monkeypatch.setattr(pages, "FOLDER", folder)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    path = folder / "03_backprop.md"
    path.write_text(
        path.read_text(encoding="utf-8").replace("gradient-overwritten", "gradient-forgotten"), encoding="utf-8"
    )
    with pytest.raises(BookError, match=r"autodiff\.backpropagate/gradient-forgotten, which is not in course/wrong"):
        dict(teaching(FACTS))
    path.unlink()
    with pytest.raises(BookError, match=r"docs/teaching/03_backprop\.md is missing"):
        dict(teaching(FACTS))

"""Lessons in another language: prose from a catalogue, everything else as it is."""

import datetime as dt

import nbformat
import pytest
from small_course import SmallCourse

from autograder.building import translating
from autograder.building.editions import class_edition
from autograder.building.questions import STUB_TEXT
from autograder.course import CourseError
from autograder.course.loading import load_course

TITLE = "# Numbers to begin with"

LESSON = """# Numbers

Add `a` and `b`: $a + b$.

```python
# A comment in English

x = 1
```

- first
- second

$$
x
$$

<details><summary>More</summary>

Read [this](there.md).

</details>
"""


@pytest.fixture
def course(tmp_path):
    """A course with one lesson, translated to German in part."""
    small = SmallCourse(tmp_path)
    small.toml.write_text(small.toml.read_text().replace('version = "1.0"', 'version = "1.0"\nlanguages = ["de"]', 1))
    course = load_course(small.root / "course")
    translating.update(course, "de", "00_numbers", [TITLE])
    path = translating.catalogue_path(course, "de", "00_numbers")
    path.write_text(path.read_text().replace(f'{TITLE}"\nmsgstr ""', f'{TITLE}"\nmsgstr "# Zahlen"'))
    return small


def notebook(*texts):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text) for text in texts])


def test_a_fenced_block_is_one_paragraph():
    """Empty lines inside of code and formulas part nothing; putting all paragraphs together gives the text again."""
    found = list(translating.paragraphs(LESSON))
    assert "\n\n".join(found) + "\n" == LESSON
    assert "```python\n# A comment in English\n\nx = 1\n```" in found
    assert "- first\n- second" in found


def test_a_formula_on_one_line_ends_there():
    """`$$ x $$` opens no block."""
    assert list(translating.paragraphs("$$x$$\n\none\n\ntwo")) == ["$$x$$", "one", "two"]


def test_code_formulas_and_bare_html_need_no_translation():
    """What is the same in every language is not asked for."""
    assert list(translating.prose_of(notebook(LESSON))) == [
        "# Numbers",
        "Add `a` and `b`: $a + b$.",
        "- first\n- second",
        "<details><summary>More</summary>",
        "Read [this](there.md).",
    ]


@pytest.mark.parametrize(
    ("original", "other", "fault"),
    [
        ("Add `a`.", "Addiere `b`.", "lost ['`a`'], new ['`b`']"),
        ("It is $x$.", "Es ist.", "lost ['$x$']"),
        ("Read [this](a.md).", "Lies [dies](b.md).", "](b.md)"),
        ("# Sum", "Summe", "begins with '# '"),
        ("| a |\n|---|\n| b |", "| a |\n|---|", "number of rows"),
    ],
)
def test_a_translation_that_loses_something_is_a_fault(original, other, fault):
    """Code, formulas, links, headings and rows are those of the original."""
    (found,) = translating.faults([original], {original: other})
    assert fault in found


def test_what_is_missing_and_what_is_stale_is_named():
    """A paragraph without a translation, and a translation without its paragraph."""
    assert translating.faults(["new"], {"old": "alt"}) == [
        "is not translated: 'new'",
        "is not said any more: 'old'",
    ]
    assert translating.faults(["old"], {"old": "alt"}) == []


def test_an_update_keeps_what_is_translated(course):
    """New paragraphs come in, gone ones go, and a second update changes nothing."""
    loaded = load_course(course.root / "course")
    assert translating.update(loaded, "de", "00_numbers", ["new", TITLE])
    assert translating.translation(loaded, "de", "00_numbers") == {TITLE: "# Zahlen"}
    assert 'msgid "new"' in translating.catalogue_path(loaded, "de", "00_numbers").read_text()
    assert not translating.update(loaded, "de", "00_numbers", ["new", TITLE])
    translating.update(loaded, "de", "00_numbers", ["new"])
    assert translating.translation(loaded, "de", "00_numbers") == {}


def test_the_build_writes_the_lessons_of_each_language(course):
    """The same cells, ids, code and stamp; the prose that is translated is, and the rest stays English."""
    course.build()
    english, german = (
        nbformat.read(course.root / "notebooks" / folder / "00_numbers.ipynb", as_version=4) for folder in ("", "de")
    )
    assert german.metadata["minigrad"] == {**english.metadata["minigrad"], "language": "de"}
    assert [cell.id for cell in german.cells] == [cell.id for cell in english.cells]
    changed = [(a.source, b.source) for a, b in zip(english.cells, german.cells, strict=True) if a.source != b.source]
    assert changed and all(b == a.replace(TITLE, "# Zahlen") for a, b in changed)


def test_a_question_keeps_the_place_of_its_answer():
    """The question is translated, its first word apart; the cell for the answer stays, by which it is found again."""
    from autograder.building.questions import Question

    made = nbformat.v4.new_notebook(cells=Question("why", "Why?").cells(), metadata={"minigrad": {}})
    known = {"Why?": "Warum?", "**Question.**": "**Frage.**"}
    assert list(known) == [each for each in translating.prose_of(made) if each in known]
    other = translating.translated(made, "de", translating.translate_with(known))
    assert other.cells[0].source.startswith("**Frage.** Warum?\n\n*Your answer")
    assert other.cells[1].source == made.cells[1].source
    assert STUB_TEXT not in translating.prose_of(made)


@pytest.mark.parametrize(("language", "text", "said"), [("de", "msgid nothing", "not a gettext"), ("q9", "", "q9")])
def test_a_catalogue_that_cannot_be_read_is_named(course, language, text, said):
    """With one sentence, as anything else that is wrong with a course."""
    loaded = load_course(course.root / "course")
    path = translating.catalogue_path(loaded, language, "00_numbers")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    with pytest.raises(CourseError, match=said):
        translating.translation(loaded, language, "00_numbers")


def test_a_reworded_paragraph_keeps_its_translation_until_it_is_read(course):
    """It is marked as fuzzy and does not count; without the mark it does."""
    loaded = load_course(course.root / "course")
    translating.update(loaded, "de", "00_numbers", ["# Numbers to start with"])
    path = translating.catalogue_path(loaded, "de", "00_numbers")
    assert '#, fuzzy\nmsgid "# Numbers to start with"\nmsgstr "# Zahlen"' in path.read_text()
    assert translating.translation(loaded, "de", "00_numbers") == {}
    path.write_text(path.read_text().replace("#, fuzzy\n", ""))
    assert translating.translation(loaded, "de", "00_numbers") == {"# Numbers to start with": "# Zahlen"}


def test_an_edition_holds_the_lessons_of_each_language(course, tmp_path):
    """`minigrad start --language` copies them from the library that a class installs."""
    course.build()
    edition = class_edition(tmp_path / "edition", course.load(), dt.date(2027, 2, 15))
    given = edition / "minigrad" / "notebooks" / "de" / "00_numbers.ipynb"
    assert given.read_bytes() == (course.root / "notebooks" / "de" / "00_numbers.ipynb").read_bytes()


def test_a_header_is_translated_once_for_each_rank():
    """The sentence without its numbers needs a translation, and the numbers are filled into that."""
    texts = [f"**About {n} minutes · difficulty {d} of 5 · core**" for n, d in ((20, 3), (45, 5))]
    (sentence,) = translating.prose_of(notebook(*texts))
    translate = translating.translate_with({sentence: "**{difficulty}/5, {minutes} Minuten, Kern**"})
    assert [translate(text) for text in texts] == ["**3/5, 20 Minuten, Kern**", "**5/5, 45 Minuten, Kern**"]
    assert translating.translate_with({})(texts[0]) == texts[0]

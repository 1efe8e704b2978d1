"""What the library says, in the language of a folder: templates, several sentences, folders of every kind."""

import json
import subprocess
import sys

import pytest

from minigrad.exercises import telling
from minigrad.exercises.telling import Catalogue, language_of, speak_in, told

GERMAN = Catalogue(
    {
        "all": "alle",
        "the second value": "der zweite Wert",
        "got {0}": "bekam {0}",
        "got {0}, expected {1}": "{0} statt {1}",
        "got {0} of type {1}, expected {2}": "{0}, ein {1}, statt {2}",
        " at index {0}": " an der Stelle {0}",
        ", and that twice": ", und das zweimal",
        "write {{**a, **b}} for {0}": "schreibe {{**a, **b}} für {0}",
        "{{}} is a dictionary": "{{}} ist ein Wörterbuch",
        "{0} more checks fail.": "{0} weitere scheitern.",
        "That is in {0}. Look there.": "Das ist in {0}. Sieh dort nach.",
        "mend {0} first": "",
        "mend {0}": "repariere {0}",
    }
)


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("all", "alle"),
        ("got 2.0, expected 3.0", "2.0 statt 3.0"),
        ("{} is a dictionary", "{} ist ein Wörterbuch"),
        ("write {**a, **b} for {'x': 1}", "schreibe {**a, **b} für {'x': 1}"),
        ("got {'a': 1}, expected {}", "{'a': 1} statt {}"),
    ],
)
def test_a_sentence_is_filled_in_with_its_own_values(english, german):
    """Values stay as they are, also where they have braces; the braces of a text are its own."""
    assert GERMAN.translated(english) == german


def test_of_several_templates_the_one_with_the_most_text_is_meant():
    """Both would fit."""
    assert GERMAN.translated("got 2 of type int, expected 3") == "2, ein int, statt 3"


def test_a_value_may_be_a_sentence_itself():
    """And what is said behind a value is known behind any value."""
    assert GERMAN.translated("got the second value, expected 3") == "der zweite Wert statt 3"
    assert GERMAN.translated("got 2 at index 7, expected 3") == "2 an der Stelle 7 statt 3"
    assert GERMAN.translated("got f(2, 3), and that twice, expected 3") == "f(2, 3), und das zweimal statt 3"


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("got 'x, expected y', expected 3", "'x, expected y' statt 3"),
        ('got ["it\'s, expected y"], expected 3', '["it\'s, expected y"] statt 3'),
        (r"got 'x\', expected y', expected 3", r"'x\', expected y' statt 3"),
        ("got 3, expected 'x, expected y'", "3 statt 'x, expected y'"),
        ("got 'x, expected y'", "bekam 'x, expected y'"),
        ("got [1, 2]", "bekam [1, 2]"),
        ("got no such thing", "got no such thing"),
        ("got 'cut off..., expected 'cut off...", "'cut off... statt 'cut off..."),
    ],
)
def test_a_value_does_not_end_inside_of_a_quotation(english, german):
    """Whatever stands in it; where a quotation was cut, it ends at the first place."""
    assert GERMAN.translated(english) == german


def test_a_grader_speaks_for_notebooks_of_many_folders(german, monkeypatch):
    """Inside the block its catalogue counts, and the folder's afterwards; an empty one is English."""
    sentence = "Hints never cost points."
    with telling.speaking(Catalogue({sentence: "Tippen kost niks."})):
        with telling.speaking(Catalogue({})):
            assert told(sentence) == sentence
        assert told(sentence) == "Tippen kost niks."
    assert told(sentence) == "Tipps kosten keine Punkte."


def test_a_long_text_costs_little():
    """Of a student's text with a thousand sentences only the first ones are looked up, and none is lost."""
    text = "Unheard of. " * 1000 + "all"
    assert GERMAN.translated(f"2 more checks fail. {text}") == f"2 weitere scheitern. {text}"


def test_several_sentences_are_translated_one_by_one():
    """An entry of two sentences is one; what has no entry stays between them."""
    text = "2 more checks fail. Unheard of. That is in f. Look there. all"
    assert GERMAN.translated(text) == "2 weitere scheitern. Unheard of. Das ist in f. Sieh dort nach. alle"


@pytest.mark.parametrize("sentence", ["nothing of this is known", "mend f first", "", " ", "got , expected "])
def test_what_has_no_translation_stays_english(sentence):
    """So does a sentence whose entry is empty, although a shorter entry would fit."""
    assert GERMAN.translated(sentence) == sentence


def test_chinese_has_no_space_between_sentences():
    """Unless the next one is English."""
    assert Catalogue({"One.": "一。", "Two.": "二。"}).translated("One. Two. One.") == "一。二。一。"


@pytest.fixture
def german(tmp_path, monkeypatch):
    """A third language, which is nothing but its file, and a folder in it; current is another one."""
    (tmp_path / "locale").mkdir()
    content = {"sentences": {"Hints never cost points.": "Tipps kosten keine Punkte."}}
    (tmp_path / "locale" / "de.json").write_text(json.dumps(content))
    monkeypatch.setattr(telling, "_LOCALE", tmp_path / "locale")
    telling._catalogue.cache_clear()
    for name, spoken in (("deutsch", "de"), ("english", None), ("odd", "xx")):
        base = tmp_path / name / ".minigrad" / "base"
        base.mkdir(parents=True)
        metadata = {"minigrad": {"language": spoken} if spoken else {}}
        (base / "00_fundamentals.ipynb").write_text(json.dumps({"metadata": metadata}))
    monkeypatch.chdir(tmp_path / "deutsch")
    monkeypatch.delenv("MINIGRAD_SANDBOX", raising=False)
    yield tmp_path
    telling._catalogue.cache_clear()
    speak_in(None)


def test_the_folder_decides(german, monkeypatch):
    """The language is that of the lessons with which the folder began; one without a file says nothing new."""
    sentence = "Hints never cost points."
    assert told(sentence) == "Tipps kosten keine Punkte."
    for other in ("english", "odd"):
        monkeypatch.chdir(german / other)
        assert told(sentence) == sentence
    speak_in(german / "deutsch")
    assert told(sentence) == "Tipps kosten keine Punkte."


def test_lessons_without_a_working_folder_say_their_language(german, monkeypatch):
    """As those of a class, which are fetched one by one; a damaged file does not say any."""
    place = german / "deutsch" / ".minigrad" / "base"
    (place / "00_a.ipynb").write_text("{")
    (place / "00_b.ipynb").write_text('{"metadata": [1]}')
    assert language_of(place) == "de"
    monkeypatch.chdir(place)
    (german / "deutsch" / ".minigrad").rename(german / "fetched")
    monkeypatch.chdir(german / "fetched" / "base")
    assert telling.language() == "de"


def test_a_grader_is_told_english(german, monkeypatch):
    """Whatever lies beside it."""
    monkeypatch.setenv("MINIGRAD_SANDBOX", "1")
    assert telling.language() == "en"


def test_an_english_folder_opens_no_catalogue():
    """And the library itself loads nothing of this."""
    code = "import sys, minigrad; assert 'minigrad.exercises.telling' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

"""Hidden tests say why they may ask what they ask: each quotes the lesson or the docstring that promises it."""

import ast
import re

import pytest
from places import ROOT

from autograder.course import split_object

HIDDEN = ROOT / "course" / "hidden"
FILES = sorted(path.name for path in HIDDEN.glob("test_*.py"))


def _plain(text):
    """A text on one line, without Markdown's marks and in small letters."""
    return " ".join(text.replace("`", "").replace("*", "").split()).lower()


def _reasons():
    for file in FILES:
        tree = ast.parse((HIDDEN / file).read_text(encoding="utf-8"))
        assigned = [each for each in tree.body if isinstance(each, ast.Assign)]
        names = {each.targets[0].id: each.value.value for each in assigned if isinstance(each.value, ast.Constant)}
        for function in (each for each in tree.body if isinstance(each, ast.FunctionDef) and each.decorator_list):
            for keyword in function.decorator_list[0].keywords:
                if keyword.arg == "because":
                    value = keyword.value
                    yield function.name, names[value.id] if isinstance(value, ast.Name) else value.value


REASONS = list(_reasons())
LESSONS = {
    path.name.partition("_")[0]: path.read_text(encoding="utf-8") for path in (ROOT / "course" / "lessons").glob("*.md")
}


@pytest.mark.parametrize(("test", "reason"), REASONS, ids=[name for name, _ in REASONS])
def test_the_quoted_sentence_exists(test, reason):
    """What `because` quotes stands in the lesson's section, or in the docstring, that it names."""
    lesson = re.fullmatch(r"lesson (\d\db?), '([^']+)': (.*)", reason)
    if lesson:
        number, section, sentence = lesson.groups()
        text = LESSONS[number].partition(f"## {section}\n")[2].partition("\n## ")[0]
        assert _plain(sentence) in _plain(text), f"{test}: not in lesson {number}, section {section!r}"
        return
    named = re.match(r"[\w.]*\w", reason)
    assert named, f"{test}: names no object of the library"
    module = split_object(ROOT / "src" / "minigrad", named[0])[0].read_text(encoding="utf-8")
    quotes = re.findall(r"'((?:[^']|'s)+)'", reason)
    assert quotes, f"{test}: quotes nothing"
    for quote in quotes:
        for part in quote.split("..."):
            assert _plain(part) in _plain(module), f"{test}: {part!r} is not in the module"

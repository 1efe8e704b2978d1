"""The script that measures the code counts what it says."""

import importlib.util
import sys

import pytest
from places import ROOT


@pytest.fixture(scope="module")
def measure():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("measure_house", ROOT / "scripts" / "measure_house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lines_of_code(measure):
    """Docstrings, comments and blank lines are no code; a text over several lines is, if something is made of it."""
    text = '"""A module."""\n\n# a comment\nX = 1\n"""What X is."""\n\n\n'
    text += 'def f():\n    """Return."""\n    return """a\nb"""\n'
    assert measure.code_lines(text) == 4


def test_helpers_with_one_caller(measure):
    """A short private function that is named once beside its definition; not one that two call, or a long one."""
    called = "def _once():\n    return 1\n\n\ndef _twice():\n    return 2\n\n\nprint(_once(), _twice(), _twice())\n"
    long = "def _long():\n    a = 1\n    b = 2\n    c = 3\n    return a + b + c\n\n\nprint(_long())\n"
    assert [measure.one_caller_helpers(text) for text in (called, long)] == [1, 0]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("from minigrad.machine import overrides\noverrides.any_of('a')\noverrides.is_cut(f)\n", 2),
        ("from minigrad.machine.overrides import is_cut, is_ours\nis_cut(f)\nis_ours(f)\n", 1),
        ("from minigrad import standing_aside\nstanding_aside.twin(a, 'b', c, unless=())\n", 1),
        ("from somewhere import is_cut\nis_cut(f)\nother.any_of('a')\n", 0),
    ],
)
def test_questions_about_replacement(measure, text, count):
    """Calls of the functions that ask, by whichever name the module has, and no others."""
    assert measure.questions(text) == count


def test_names_of_a_course(measure, tmp_path):
    """Each name counts once, wherever in the file it is left out."""
    path = tmp_path / "course.toml"
    path.write_text('[[exercise]]\ngives_away = ["a", "b"]\n\n[[exercise]]\nhides = ["b.c", "a"]\n')
    assert measure.course_names(path) == {"a", "b", "b.c"}


def test_files_that_know_an_operator(measure):
    """A definition, an entry or a class is one; a call is none."""
    knowing = ["def tanh(x): ...", "class Tanh: ...", "NAMES = ['tanh']", "tanh = f"]
    assert [measure.names_tanh(text) for text in (*knowing, "y = x.tanh()")] == [True] * 4 + [False]


def test_a_wrong_folder_gets_a_sentence(measure, monkeypatch, tmp_path):
    """A folder without the library is named."""
    monkeypatch.setattr(sys, "argv", ["measure_house.py", str(tmp_path)])
    with pytest.raises(SystemExit, match="is no checkout of minigrad: it has no folder src/minigrad"):
        measure.main()

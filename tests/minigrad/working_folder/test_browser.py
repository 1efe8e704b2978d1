"""A site's lessons in a browser: its folder and its kernel, without the browser."""

import json
import os
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from notebooks_by_hand import exercise, markdown, notebook

from book.lite.notebooks import for_browser
from minigrad.machine import files
from minigrad.tutor import progressing
from minigrad.working_folder import browser, starting
from minigrad.working_folder.merging import dump, parse

LESSON = "03_backprop"


def text(words, **answer):
    """A lesson with these words and an exercise, as the site gives it out."""
    return dump(notebook(markdown(words), *exercise("autodiff.backpropagate", **answer), lesson=LESSON))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A function that gives out a text; the student's folder is the current one."""
    given, folder = tmp_path / "given", tmp_path / "drive"
    for each in (given, folder):
        each.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(starting, "released", lambda source=None, language="en": {LESSON: given / f"{LESSON}.ipynb"})
    return lambda words: (given / f"{LESSON}.ipynb").write_bytes(text(words))


def write(content):
    Path(f"{LESSON}.ipynb").write_bytes(content)


def said(capsys):
    return capsys.readouterr().out


def test_a_lesson_that_has_not_changed_is_not_told_of(site, capsys):
    """A browser writes numbers and spaces in its own way: that is no change."""
    site("# One")
    write(json.dumps(json.loads(text("# One"))).replace(".0,", ",").encode())
    browser.lessons()
    assert said(capsys) == ""


def test_a_change_of_the_site_is_offered_and_the_answer_stays(site, capsys):
    """Nothing is touched before the reader asks for it; a copy of the earlier state is kept."""
    site("# One")
    write(text("# One"))
    browser.lessons()
    write(text("# One", body="    return 7"))
    site("# Two")
    browser.lessons()
    assert f"{LESSON} has changed on this site. browser.update()" in said(capsys)
    assert "# Two" not in Path(f"{LESSON}.ipynb").read_text(encoding="utf-8")
    browser.update()
    assert "1 cell is new or reworded" in said(capsys)
    now = Path(f"{LESSON}.ipynb").read_text(encoding="utf-8")
    assert "# Two" in now and "return 7" in now
    browser.lessons()
    assert said(capsys) == ""


def test_one_lesson_is_looked_at(tmp_path, monkeypatch, capsys):
    """A browser's files are slow: the cell of a lesson asks for that lesson, and no other file is read or written."""
    given = {name: tmp_path / f"{name}.ipynb" for name in (LESSON, "04_strides")}
    for path in given.values():
        path.write_bytes(text("# One"))
    (tmp_path / "drive").mkdir()
    monkeypatch.chdir(tmp_path / "drive")
    monkeypatch.setattr(starting, "released", lambda source=None, language="en": given)
    for name in given:
        Path(f"{name}.ipynb").write_bytes(text("# One"))
    browser.lessons(LESSON)
    assert [path.name for path in Path(".minigrad/base").iterdir()] == [f"{LESSON}.ipynb"]
    assert said(capsys) == ""


def test_a_folder_follows_the_lessons_of_its_language(tmp_path, monkeypatch, root):
    """The lessons say which; a folder that somebody made, with or without a copy of one, may have any name."""
    asked = []
    monkeypatch.setattr(browser, "changed", lambda folder, *, language, names: asked.append(language) or [])
    for name, lesson in (
        ("zh_CN", f"zh_CN/{LESSON}"),
        ("my_notes", LESSON),
        ("zh_notes", f"zh_CN/{LESSON}"),
        ("a_b", ""),
    ):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Path("A.ipynb").write_text('{"nbformat": 4, "cells": [], "metadata": {}}', encoding="utf-8")
        if lesson:
            write((root / "notebooks" / f"{lesson}.ipynb").read_bytes())
        browser.lessons()
    assert asked == ["zh_CN", "en", "zh_CN", "en"]


def test_the_zip_goes_on_at_home(site, tmp_path, capsys):
    """Notebooks and progress are in it, in one folder, of which `minigrad start` makes a working folder."""
    site("# One")
    write(text("# One"))
    browser.lessons()
    files.write(tmp_path / "drive" / ".minigrad" / "progress.json", b"{}")
    with zipfile.ZipFile(browser.pack()) as archive:
        archive.extractall(tmp_path / "home")
    home = tmp_path / "home" / "my-notebooks"
    assert {path.name for path in home.rglob("*") if path.is_file()} == {f"{LESSON}.ipynb", "progress.json"}
    assert [each.state for each in starting.start(home)] == ["unchanged"]


def test_at_home_a_lesson_is_as_the_course_gives_it(site, tmp_path, root):
    """What the site adds to a lesson is taken out again, and its kernel is Python's usual one; other files stay."""
    given = (root / "notebooks" / f"{LESSON}.ipynb").read_bytes()
    write(json.dumps(for_browser(json.loads(given))).encode())
    Path("own.ipynb").write_bytes(b"no notebook")
    Path("bare.ipynb").write_bytes(b'{"nbformat": 4, "cells": []}')
    with zipfile.ZipFile(browser.pack()) as archive:
        assert archive.read("my-notebooks/own.ipynb") == b"no notebook"
        packed = parse(archive.read(f"my-notebooks/{LESSON}.ipynb"))
    assert packed["cells"] == parse(given)["cells"]
    assert packed["metadata"]["kernelspec"]["name"] == "python3"


def test_progress_is_kept_though_a_browser_has_no_locks(site, monkeypatch):
    """A folder that follows its site has a place for progress; Python there knows no `flock`."""
    site("# One")
    write(text("# One"))
    browser.lessons()
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setitem(sys.modules, "fcntl", SimpleNamespace())
    progressing.was_graded("autodiff.backpropagate")
    assert "autodiff.backpropagate" in progressing.read()


def test_a_file_of_a_browser_ends_like_its_name_and_can_be_read(tmp_path, monkeypatch):
    """A browser's drive takes a notebook for one by the end of its name, and keeps it so when it is renamed."""
    before = os.umask(0o777)  # what a browser answers; nobody could read the file
    os.umask(before)
    monkeypatch.setattr(os, "umask", lambda mask: 0o777 if sys.platform == "emscripten" else before)
    for platform, suffix in (("emscripten", ".ipynb"), ("linux", "")):
        monkeypatch.setattr(sys, "platform", platform)
        with files.replacing(tmp_path / "a.ipynb"):
            (aside,) = [path.name for path in tmp_path.iterdir() if path.name != "a.ipynb"]
        assert aside.startswith(".a.ipynb.") and aside.removeprefix(".a.ipynb").endswith(suffix)
        assert ("ipynb" in aside.removeprefix(".a.ipynb")) == bool(suffix)
        assert (tmp_path / "a.ipynb").stat().st_mode & 0o444 == 0o444
        (tmp_path / "a.ipynb").unlink()

"""A course's folder in any state: one sentence says what is wrong before anything is begun."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest
from class_runs import generate, write
from places import ROOT
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.classes import work
from autograder.cli import app
from autograder.common.files import put
from autograder.common.files import write as write_file
from autograder.course import CourseError, loading, opening
from autograder.course.loading import find_course, load_course
from autograder.results import Graded, GroupScore
from autograder.telling.classreport.gather import gather, with_helpers
from autograder.telling.likeness import compared, pairs

SLOW = "def add(x, y):\n    while True:\n        pass\n\n\nmul = neg = add"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with one submission, graded."""
    made = make_course(tmp_path_factory.mktemp("hostile"), ROOT)
    generate(made)
    write(made, "ada", {"00_numbers": ARITHMETIC, "01_order": COMPARISON})
    code, said = autograder("autograde", "week0", "--course", str(made), "--jobs", "1")
    assert code == 0, said
    return made


def autograder(*arguments):
    """Run a command: its exit code, and all it says on one line."""
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.full("a class has a gradebook", share=24)
@pytest.mark.parametrize("make", [lambda file: file.write_text("no gradebook"), lambda file: file.mkdir()])
@pytest.mark.parametrize("command", [("autograde", "week0"), ("report", "--csv", "canvas")])
def test_a_gradebook_that_is_none(course, make, command):
    """A file of something else, or a folder, is named; nothing is written over it."""
    file, aside = course / "gradebook.db", course / "gradebook.aside"
    file.rename(aside)
    try:
        make(file)
        code, said = autograder(*command, "--course", course)
        assert code == 2 and ("is no gradebook" in said or "there is no gradebook" in said), said
    finally:
        file.rmdir() if file.is_dir() else file.unlink()
        aside.rename(file)


@pytest.mark.parametrize("name", [b"\xff\xfe", b"a\nb"])
def test_a_folder_that_is_no_students_name(course, name):
    """It is said, in letters that can be shown, before anything is graded."""
    folder = Path(bytes(course / "submitted").decode() + "/" + name.decode("utf-8", "surrogateescape"))
    (folder / "week0").mkdir(parents=True)
    try:
        code, said = autograder("autograde", "week0", "--course", course)
        assert code == 2 and "cannot be a student's id" in said and ascii(folder.name) in said
    finally:
        (folder / "week0").rmdir()
        folder.rmdir()


def test_a_course_that_cannot_be_written_to(course, monkeypatch):
    """One sentence, once."""
    monkeypatch.setattr(opening.os, "access", lambda path, how: Path(path).name != "submitted")
    code, said = autograder("autograde", "week0", "--course", course)
    assert code == 2 and said.count("cannot be written to") == 1 and "submitted" in said


def test_a_page_in_a_folder_that_is_not_there(course, tmp_path):
    """A mistyped folder is not made."""
    code, said = autograder("report", "--course", course, "--out", tmp_path / "none" / "x.html")
    assert code == 2 and "there is no folder" in said and not (tmp_path / "none").exists()


def test_a_renamed_student_counts_once(course, tmp_path):
    """Marks of whom nothing is in `submitted` any more are left out, and that is said."""
    loaded = load_course(course, tree=False)
    assert {each.student for each in gather(loaded).entries} == {"ada"}
    (course / "submitted" / "ada").rename(course / "submitted" / "adele")
    try:
        data = gather(loaded)
        assert not data.entries and data.gone == ["ada"]
        _, said = autograder("report", "--course", course, "--out", tmp_path / "x.html")
        assert "left out, since nothing of them is in submitted/ any more: ada" in said
    finally:
        (course / "submitted" / "adele").rename(course / "submitted" / "ada")


def test_limits_that_cost_the_reference_its_points(course):
    """The class is not graded by them: no zero stands in the gradebook because of a number in course.toml."""
    text = (course / "course.toml").read_text()
    try:
        (course / "course.toml").write_text(
            text.replace("test_seconds = 1", "test_seconds = 1\noutput_bytes = 1\nreply_mb = 1\nprocesses = 1")
        )
        code, said = autograder("autograde", "week0", "--course", course, "--fresh")
        assert code == 2 and "limit processes is 1" in said, said
    finally:
        (course / "course.toml").write_text(text)


def test_a_reference_that_loses_points_stops_the_class(course, monkeypatch):
    """Whatever the reason is, it is said instead of being taken off each student."""
    monkeypatch.setattr("autograder.classes.work.slice_exercise", lambda *_: type("S", (), {"reference_cell": "x = 1"}))
    code, said = autograder("autograde", "week0", "--course", course, "--fresh")
    assert code == 2 and "nothing was graded: the reference answer to operators.arithmetic gets 0 of 3" in said, said


def test_limits_under_which_nothing_runs(course, monkeypatch):
    """A limit that is no impossible number, and too little for right code, is found before the class is graded."""
    text = (course / "course.toml").read_text()
    monkeypatch.setattr("autograder.classes.work.slice_exercise", lambda *_: type("S", (), {"reference_cell": SLOW}))
    try:
        (course / "course.toml").write_text(text.replace("test_seconds = 1", "test_seconds = 0.2"))
        code, said = autograder("autograde", "week0", "--course", course, "--fresh")
        assert code == 2 and "nothing was graded" in said and "look at [limits] in course.toml" in said, said
    finally:
        (course / "course.toml").write_text(text)


def test_every_lesson_is_tried_also_where_all_is_recorded(course, monkeypatch):
    """Limits may have changed since, or differ in the second lesson: each lesson's reference runs before the class."""

    def broken(loaded, exercise):
        found = slice_exercise(loaded, exercise)
        return found if exercise == "operators.arithmetic" else type("S", (), {"reference_cell": "x = 1"})

    slice_exercise = work.slice_exercise
    monkeypatch.setattr(work, "slice_exercise", broken)
    code, said = autograder("autograde", "week0", "--course", course, "--jobs", "1")
    assert code == 2 and "nothing was graded: the reference answer to operators.comparison gets 0 of 4" in said, said


def test_each_reference_is_tried_once():
    """Every exercise that has points is tried, since a hidden test of any may be wrong; then the sandboxes close."""
    loaded = load_course(ROOT / "course", tree=False)
    lesson = next(lesson for lesson in loaded.lessons if len(loaded.of_lesson(lesson)) > 3)
    dropped, *others = loaded.of_lesson(lesson)
    tried = []

    class Judge:
        course = replace(loaded, exercises={**loaded.exercises, dropped.id: replace(dropped, points=0, groups={})})

        def grade_text(self, exercise, answer):
            tried.append(exercise.id)
            return Graded(exercise.id, exercise.points, (GroupScore("all", exercise.points, exercise.points),))

        def close(self):
            tried.append("closed")

    work.refuse_lost_references(Judge(), [lesson])
    assert tried == [*(each.id for each in others), "closed"]


def test_a_hidden_test_that_its_reference_fails(course):
    """Before anybody is graded the command stops, and names the test; a mended test lets the class be graded."""
    hidden = course.parent / "hidden" / "test_operators.py"
    text = hidden.read_text()
    try:
        hidden.write_text(text.replace("1.0, 2.0), True", "1.0, 2.0), False"))
        code, said = autograder("autograde", "week0", "--course", course, "--jobs", "1")
        assert code == 2 and "nothing was graded: the reference answer to operators.comparison gets 0 of 4" in said
        assert "test_lt" in said and "autograder verify operators.comparison" in said
    finally:
        hidden.write_text(text)


def test_the_course_above(course, monkeypatch, tmp_path, capsys):
    """The nearest course.toml above is meant; the repository's own is taken aloud."""
    (course / "lessons").mkdir(exist_ok=True)
    monkeypatch.chdir(course / "lessons")
    assert find_course() == course
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "DEFAULT_COURSE", course)
    assert find_course() == course
    assert capsys.readouterr().err == f"course: {course}\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("[course]\n".encode("utf-16"), "save it as UTF-8"),
        ("# é\n[course]\n".encode("latin-1"), "save it as UTF-8"),
        (b"x = " + b"[" * 5_000 + b"]" * 5_000, "nests too deeply"),
        (b"\xef\xbb\xbf[course\n", "is not TOML"),
    ],
)
def test_a_course_file_that_cannot_be_read(tmp_path, data, words):
    """The sentence says what to do."""
    (tmp_path / "course.toml").write_bytes(data)
    with pytest.raises(CourseError, match=words):
        load_course(tmp_path)


def test_a_course_file_with_a_mark_before_it(course):
    """What an editor for Windows puts before the text is no part of it."""
    file = course / "course.toml"
    data = file.read_bytes()
    file.write_bytes(b"\xef\xbb\xbf" + data)
    try:
        assert load_course(course, tree=False).name == "minigrad"
    finally:
        file.write_bytes(data)


@pytest.mark.parametrize("writes", [write_file, lambda path, text: put(path, text.encode())], ids=["write", "put"])
def test_a_full_disk_is_named(tmp_path, monkeypatch, writes):
    """The error says which file could not be written."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as found:
        writes(tmp_path / "x.json", "{}")
    assert found.value.filename == str(tmp_path / "x.json")


def answer(number):
    """An answer that tells one student from the others."""
    return (
        f"def f(x):\n    a = [k * {number} for k in range({number + 3}) if k % {number + 2}]\n"
        f"    while len(a) > {number}:\n        a = sorted(a, key=lambda v: v * {number} + {number * 7})[{number}:]\n"
        f"    return sum(a) + {number * 13} - len(a) ** {number}\n"
    )


COPIED = {
    "copied": answer(5),
    "comment": answer(5) + "#" * 300_000,
    "constants": answer(5) + "0;" * 3_000 + "0\n",
    "first": "def g(a, b, c):\n    return a\n\n\n" + answer(5),
    "helper": with_helpers(["def f(x):\n    return _f(x)"], ["y = 3", answer(5).replace("def f", "def _f")])[0],
}


@pytest.mark.parametrize("how", COPIED)
def test_a_copy_is_found_behind_padding(how):
    """What says nothing hides nothing: comments, lone constants, other functions, a function of an added cell."""
    found = pairs({f"s{n}": answer(n) for n in range(30)} | {"cheat": COPIED[how]})
    assert [(each.one, each.other) for each in found] == [("cheat", "s5")]


def test_what_is_too_long_to_compare_is_named():
    """An answer of six thousand statements is not passed over in silence."""
    assert compared({"a": answer(1), "b": answer(2) + "x = 0\n" * 6_000, "c": "def broken("}).too_long == ["b"]


def test_helpers_of_helpers():
    """A cell is taken along if its names are used, and what it uses itself; others are not."""
    cells = ["def one():\n    return two()", "def two():\n    return 2", "def three():\n    return 3"]
    assert with_helpers(["f = one"], cells) == ["\n\n".join(["f = one", *cells[:2]])]

"""The ledger keeps what was found in plain files, and reads back what it wrote."""

from dataclasses import replace

import pytest

from autograder.results import Graded, GroupScore, Submission, Verdict
from autograder.results.ledger import Entry, entries, entry_path, read_entry, write_entry

VERDICT = Verdict("test_add", "add adds.", "values", "lesson 00", passed=False, reason="got 1", failure="timeout")
GRADED = Graded(
    "operators.add", 3, (GroupScore("values", 3, 0),), (VERDICT,), notes=("a note",), events=("it was stopped",)
)
SUBMISSION = Submission("00_numbers", (GRADED,), ("a repair",), "")


def entry(student="ada", assignment="week0", lesson="00_numbers"):
    return Entry(student, assignment, lesson, "0" * 64, "2027-01-01T10:00:00Z", SUBMISSION, "tests")


def test_what_is_written_is_read(tmp_path):
    """An entry comes back as it was, with verdicts, notes and events."""
    write_entry(tmp_path, entry())
    assert read_entry(tmp_path, "ada", "week0", "00_numbers") == entry()
    assert read_entry(tmp_path, "ada", "week0", "01_order") is None


def test_a_later_entry_takes_the_place_of_an_earlier_one(tmp_path):
    """There is one entry for a notebook: the last."""
    write_entry(tmp_path, entry())
    write_entry(tmp_path, replace(entry(), sha256="1" * 64))
    assert [each.sha256 for each in entries(tmp_path)] == ["1" * 64]


@pytest.mark.parametrize("student", ["..", ".", "a/b", "Zoë Müller", "a%2Fb", ".hidden", "x" * 60, "con\nrol"])
def test_any_name_is_a_files_name(tmp_path, student):
    """A student's id stays within its assignment's folder, whatever it is made of, and comes back."""
    write_entry(tmp_path, entry(student))
    folder = entry_path(tmp_path, student, "week0", "00_numbers").parent
    assert folder.parent == tmp_path / ".grades" / "submissions" / "week0"
    assert [each.student for each in entries(tmp_path)] == [student]


def test_entries_are_sorted(tmp_path):
    """By assignment, student and lesson, however they are quoted."""
    names = [("b", "week1", "l"), ("a", "week1", "l"), ("%", "week0", "l"), ("é", "week0", "k"), ("a", "week0", "l")]
    for name in names:
        write_entry(tmp_path, entry(*name))
    found = [(each.assignment, each.student, each.lesson) for each in entries(tmp_path)]
    assert found == sorted((assignment, student, lesson) for student, assignment, lesson in names)
    assert [each.student for each in entries(tmp_path, "week1")] == ["a", "b"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"student": "ada"}', "\0"])
def test_a_damaged_entry_is_none(tmp_path, text):
    """A file that is not what was written counts as missing, and keeps nobody from reading the others."""
    write_entry(tmp_path, entry())
    write_entry(tmp_path, entry("bea"))
    entry_path(tmp_path, "ada", "week0", "00_numbers").write_text(text)
    assert read_entry(tmp_path, "ada", "week0", "00_numbers") is None
    assert [each.student for each in entries(tmp_path)] == ["bea"]


def test_an_entry_of_before_is_read(tmp_path):
    """Entries without events or a hash of the tests, as they were written once, are still read."""
    write_entry(tmp_path, entry())
    path = entry_path(tmp_path, "ada", "week0", "00_numbers")
    text = path.read_text().replace('"state": "tests",', "").replace('"it was stopped"', "")
    path.write_text(text)
    found = read_entry(tmp_path, "ada", "week0", "00_numbers")
    assert found is not None and found.state == "" and found.submission.exercises[0].events == ()

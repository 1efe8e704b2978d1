"""The measurement of marks on submit: a class hands in, and what it prints is measured."""

import re
from types import SimpleNamespace

import pytest

from autograder.results import Submission
from autograder.results.ledger import Entry, write_entry
from benchmarks import serving


@pytest.mark.full("a course is built, and a class hands in while the command is killed", share=64, minutes=6)
def test_a_class_is_timed_while_the_command_is_killed(capsys):
    """Each hand-in has its page and the marks of `autograde`, and seconds and memory are said."""
    serving.main(["--class", "3", "--assignment", "module9", "--seconds", "3", "--jobs", "2", "--kill", "2"])
    said = capsys.readouterr().out
    found = re.search(
        r"3 hand-ins of module9 in 3 s, 2 processes: .* ([\d.]+) s \(median\), ([\d.]+) s \(worst\)", said
    )
    assert found and 0 < float(found[1]) <= float(found[2]) and re.search(r"[\d.]+ [MG]B of memory at most", said)
    assert "killed 2 times: none lost, none graded twice, results as those of `autograder autograde`" in said


def classroom(folder, sha256="5" * 64):
    """A course in which one notebook of ada's is graded."""
    (folder / "exchange").mkdir(parents=True)
    write_entry(folder, Entry("ada", "module9", "12", sha256, "2027-01-02", Submission("12", ())))
    return SimpleNamespace(root=folder, course=None, nbgrader=lambda *_, said: 0, autograder=lambda *_, said: 0)


@pytest.mark.parametrize(
    ("when", "sha256", "said"),
    [
        ("2027-01-01", "5" * 64, "graded again after a kill: [('ada', '12')]"),
        ("2027-01-02", "6" * 64, "`autograder autograde` gives other results of ada"),
        ("2027-01-02", "5" * 64, ""),
    ],
)
def test_what_a_kill_must_not_do(tmp_path, monkeypatch, when, sha256, said):
    """A notebook that was graded before the kill and again after it, or another result, is refused."""
    monkeypatch.setattr(serving, "read_marks", lambda course, assignments: [])
    mine, other = classroom(tmp_path / "mine"), classroom(tmp_path / "other", sha256)
    if said:
        with pytest.raises(SystemExit) as caught:
            serving._compare(mine, other, "module9", [{("ada", "12"): when}])
        assert said in str(caught.value)
    else:
        serving._compare(mine, other, "module9", [{("ada", "12"): when}])

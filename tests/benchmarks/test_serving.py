"""The measurement of marks on submit: a class hands in, and what it prints is measured."""

import re

import pytest

from benchmarks import serving


@pytest.mark.full("a course is built, and a class hands in", share=64, minutes=6)
def test_a_class_is_timed(capsys):
    """Each hand-in has its page, and seconds and memory are said."""
    serving.main(["--class", "2", "--assignment", "module9", "--seconds", "1", "--jobs", "2"])
    said = capsys.readouterr().out
    found = re.search(
        r"2 hand-ins of module9 in 1 s, 2 processes: .* ([\d.]+) s \(median\), ([\d.]+) s \(worst\)", said
    )
    assert found and 0 < float(found[1]) <= float(found[2]) and re.search(r"[\d.]+ [MG]B of memory at most", said)

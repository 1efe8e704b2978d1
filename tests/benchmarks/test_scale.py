"""The measurement of growth: its exponents, and that its steps are commands that work."""

import pytest

from benchmarks import growth_section, scale


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_an_exponent_is_found(power):
    """The power that made the numbers comes out, whatever stands before it."""
    assert scale.exponent({n: 7.0 * n**power for n in (10, 300, 4000)}) == pytest.approx(power)


@pytest.mark.full("a course is graded, and two classes are recorded", share=64, minutes=6)
def test_each_step_runs(tmp_path, monkeypatch, capsys):
    """Two small classes go through every step, and the file has a line for each."""
    monkeypatch.setattr(growth_section, "SCALE", tmp_path / "RESULTS.md")
    monkeypatch.setattr(growth_section, "PICTURES", tmp_path)
    scale.main((11, 13))
    capsys.readouterr()
    lines = (tmp_path / "RESULTS.md").read_text().splitlines()
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("| ")][2:]
    assert rows == [*scale.STEPS, scale.PAGE, scale.FOLDER]
    assert (tmp_path / "class.png").read_bytes().startswith(b"\x89PNG")

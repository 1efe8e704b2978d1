"""The page on the four ways to differentiate says what its script measures."""

import importlib.util
import sys

import pytest
from places import ROOT

PAGE = ROOT / "docs" / "self-study" / "four-ways.md"


@pytest.fixture(scope="module")
def script():
    """Return the script, as a module."""
    spec = importlib.util.spec_from_file_location("four_ways", ROOT / "scripts" / "four_ways.py")
    sys.modules["four_ways"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["four_ways"]


def test_slopes_agree(script):
    """All four ways give the same slopes, the measured ones with fewer digits."""
    errors = {way: script.largest_error(way, 10) for way in script.WAYS}
    assert errors["numerical"] < 1e-7
    assert max(errors[way] for way in ("symbolic", "forward", "reverse")) < 1e-14


def test_the_page_has_what_is_counted(script):
    """Runs, nodes and lines of code are those of today; times are of the machine that measured."""
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    for n in script.SIZES:
        for way, objects in script.CODE.items():
            (row,) = [row.split(" | ") for row in rows if row.startswith(f"| {way} | {n} |")]
            assert (row[2], row[-1].strip(" |")) == (script.runs(way, n), str(script.lines_of(objects)))


def test_formulas_swell(script):
    """Twice as many factors make formulas of four times the size, while the program doubles."""
    small, large = (sum(map(script.size, script.formulas(n))) for n in (20, 40))
    assert 3.8 < large / small < 4.3

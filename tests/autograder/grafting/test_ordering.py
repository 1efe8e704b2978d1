"""Putting helpers in order costs little, however many names a notebook has."""

import sys

import nbformat
import pytest

from autograder.grafting import ordering
from autograder.grafting.ordering import helpers_first


def cell(source, kind):
    made = nbformat.v4.new_code_cell(source)
    made.metadata["minigrad"] = {"kind": kind, "exercise": "m.x"}
    return made


def in_order(cells):
    said = []
    return [each.source for each in helpers_first(cells, lambda text, exercise: said.append(text))], said


def steps(cells):
    """How many lines of the search run."""
    count = 0

    def trace(frame, event, _argument):
        nonlocal count
        inside = frame.f_code.co_filename == ordering.__file__ and frame.f_code.co_name in (
            "_wanted",
            "_fetch",
            "before",
        )
        count += inside and event == "line"
        return trace if inside or event == "line" else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        helpers_first(cells, lambda text, exercise: None)
    finally:
        sys.settrace(before)
    return count


def chain(length, junk):
    """Solutions that all need the first of a chain of helpers below them, each of which mentions many names."""
    needed = [cell(f"s{i} = h0()", "solution") for i in range(length)]
    names = ", ".join(f"j{i}" for i in range(junk))
    more = "".join(f"\nj{i} = {i}" for i in range(junk))
    helpers = [cell(f"def h{i}():\n    return h{i + 1}, {names}", "added") for i in range(length)]
    return [*needed, *helpers, cell(f"x = gone{more}", "added")]


def knot(size):
    """Helpers each of which runs all others at once: there is no order in which they run."""
    names = [f"k{i}" for i in range(size)]
    return [cell("k0", "solution"), *(cell(f"{name} = [{', '.join(names)}, gone]", "added") for name in names)]


@pytest.mark.parametrize("cells", [chain(40, 100), knot(60)], ids=["chain", "knot"])
def test_looking_for_helpers_ends(monkeypatch, cells):
    """What a hostile notebook asks for is charged name by name, and given up when it is too much."""
    monkeypatch.setattr(ordering, "MAX_EFFORT", 500)
    assert 0 < steps(cells) < 20_000


def test_what_costs_nothing_is_still_found():
    """A notebook of many names that are no helpers' uses up nothing of what helpers are looked for with."""
    many = [cell("\n".join(f"a{i}_{j} = given{j}" for j in range(200)), "solution") for i in range(200)]
    sources, said = in_order([*many, cell("y = late()", "solution"), cell("def late():\n    return 1", "added")])
    assert sources[-2:] == ["def late():\n    return 1", "y = late()"]
    assert said == ["the cell that defines late stood below what needs it; it was moved up"]

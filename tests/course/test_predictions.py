"""Each prediction that a lesson asks for is answered in that lesson, further below."""

import ast
import json

import pytest
from places import ROOT

from minigrad.tutor.predicting import FORMS

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def _calls(path):
    """Each call of `minigrad.predict` in a notebook: its id, whether it gives the truth, and the number of its cell."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells):
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "minigrad.predict":
                is_answer = [each.arg for each in node.keywords] == ["truth"]
                assert is_answer or [ast.unparse(each) for each in node.args[1:]] == ["..."]
                yield node.args[0].value, is_answer, number


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_what_is_asked_is_answered_below(path):
    """Each id is asked for once and answered once, in a later cell of the same lesson."""
    calls = list(_calls(path))
    asked = {id: number for id, is_answer, number in calls if not is_answer}
    answered = {id: number for id, is_answer, number in calls if is_answer}
    assert len(calls) == len(asked) + len(answered)
    assert asked.keys() == answered.keys() <= FORMS.keys()
    assert [id for id in asked if answered[id] <= asked[id]] == []


def test_the_table_has_no_others():
    """Each form belongs to one lesson, and there are more than thirty."""
    asked = [id for path in NOTEBOOKS for id, is_answer, _ in _calls(path) if not is_answer]
    assert sorted(asked) == sorted(FORMS)
    assert len(FORMS) > 30

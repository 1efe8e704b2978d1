"""The picture of each pass: it is there, as the compiler draws it now, and it shows what its page says."""

import importlib.util
import inspect
import sys

import pytest
from places import ROOT

from minigrad import graph
from minigrad.graph import Graph

PAGE = ROOT / "docs" / "library" / "passes.md"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("pass_pictures", ROOT / "scripts" / "pass_pictures.py")
    sys.modules["pass_pictures"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["pass_pictures"]


def passes():
    """The functions of `minigrad.graph` from a graph to a graph, but those that apply several of them."""
    found = []
    for name in graph.__all__:
        value = getattr(graph, name)
        if inspect.isfunction(value) and list(inspect.signature(value).parameters) == ["graph"]:
            found.append(name)
    return sorted({*found, "plan_memory"} - {"optimize", "prepare"})


def test_every_pass_has_a_picture(script):
    """None is left out, and each stands on the page."""
    pictures = script.pictures()
    assert sorted(pictures) == passes()
    text = PAGE.read_text(encoding="utf-8")
    for name in pictures:
        assert f"**{name}**" in text and f"../pictures/passes/{name}.svg" in text


def test_pictures_are_those_of_today(script):
    """`python scripts/pass_pictures.py` would write the same files."""
    for name, text in script.pictures().items():
        assert (script.FOLDER / f"{name}.svg").read_text(encoding="utf-8") == text, name


def test_a_picture_shows_a_change(script):
    """Each pass changes its example, and nothing but the pass does: the graph that it is given stays as it was."""
    for name, (function, arguments, known) in script.EXAMPLES.items():
        before = graph.bind(graph.trace(function, *arguments), *arguments[:known])
        text = str(before)
        after = getattr(graph, name)(before)
        assert isinstance(after, Graph) and str(before) == text and str(after) != text, name
        assert "mp-bad" in script.drawn(name).svg.split("</style>")[1]

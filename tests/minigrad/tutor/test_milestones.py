"""Milestones: kept with a date, a picture of one's own and a page, and shown by progress."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from places import ROOT

import minigrad
from minigrad.errors import MinigradError
from minigrad.tutor import milestones


class Drawn:
    """A picture as Jupyter shows it."""

    def __init__(self, html):
        self._html = html

    def _repr_html_(self):
        return self._html


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / ".minigrad").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_picture_and_the_date_are_kept(folder, capsys):
    """The cell still shows the picture; the page has it, and progress names date and page."""
    picture = Drawn("<b>my own</b>")
    assert minigrad.milestone("spiral", picture) is picture
    page = folder / ".minigrad" / "milestones" / "spiral.html"
    assert f"The page of it is {page}" in capsys.readouterr().out
    (line,) = minigrad.progress().milestones
    date = re.match(r"\d{4}-\d\d-\d\d", line)[0]
    assert line == f"{date}  {milestones.TITLES['spiral']}: {page}"
    assert "<b>my own</b>" in page.read_text() and f"Reached on {date}" in page.read_text()
    assert line in repr(minigrad.progress()) and str(page) in minigrad.progress()._repr_html_()


def test_the_first_date_stays_and_the_last_picture(folder):
    """A second run of the cell changes the picture alone."""
    minigrad.milestone("poem", "first")
    file = folder / ".minigrad" / "progress.json"
    content = json.loads(file.read_text())
    content["milestones"]["poem"]["at"] = "2020-01-01T00:00:00+00:00"
    file.write_text(json.dumps(content))
    minigrad.milestone("poem", "a < b\nsecond")
    at, page = milestones.reached()["poem"]
    assert at.startswith("2020-01-01")
    assert "<pre>a &lt; b\nsecond</pre>" in page.read_text() and "Reached on 2020-01-01" in page.read_text()


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch, capsys):
    """The picture is shown all the same, without a word."""
    monkeypatch.chdir(tmp_path)
    assert minigrad.milestone("xor", "picture") == "picture"
    assert capsys.readouterr().out == "" and list(tmp_path.iterdir()) == []
    assert minigrad.progress().milestones == ()


def test_a_grader_keeps_nothing(folder, monkeypatch):
    """In a sandbox no page is written."""
    monkeypatch.setenv("MINIGRAD_SANDBOX", "1")
    minigrad.milestone("xor", "picture")
    assert list((folder / ".minigrad").iterdir()) == []


def test_a_full_disk_costs_no_picture(folder, monkeypatch, capsys):
    """The page could not be written: one sentence, and the cell goes on."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(milestones, "write", full)
    assert minigrad.milestone("xor", "picture") == "picture"
    assert "could not be written: No space left on device" in capsys.readouterr().out


def test_an_unknown_milestone_is_refused(folder):
    """The message names those that there are."""
    with pytest.raises(MinigradError, match="the milestones are spiral, xor, digits, poem"):
        minigrad.milestone("spirals", "picture")


def test_each_is_reached_by_one_lesson():
    """The four cells stand in the lessons, in the order of the table."""
    lessons = sorted(Path(ROOT, "notebooks").glob("*.ipynb"))
    found = [
        (each, path.stem) for path in lessons for each in re.findall(r'milestone\(\\"(\w+)', path.read_text("utf-8"))
    ]
    wanted = ("03_backprop", "06b_gradients_checked", "09_networks", "12_poems")
    assert found == list(zip(milestones.TITLES, wanted, strict=True))


@pytest.mark.parametrize(("step", "told"), [(0.15, []), (0.5, ["120 steps, fewer than planned", "after 300"])])
def test_a_spiral_that_is_cut_short_says_that_its_milestone_waits(folder, capsys, step, told):
    """The lesson trains for a minute; with fewer than all steps the milestone is not kept, and the cell says so."""
    cells = json.loads(Path(ROOT, "notebooks", "03_backprop.ipynb").read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    clock = SimpleNamespace(now=0.0)

    def fit(model, points, epochs, lr):
        for number in range(1, epochs + 1):
            clock.now += step
            yield SimpleNamespace(number=number, loss=0.5, correct=20)

    names = {
        "minigrad": minigrad,
        "datasets": minigrad.datasets,
        "time": SimpleNamespace(perf_counter=lambda: clock.now),
        "mlp": SimpleNamespace(MLP=minigrad.mlp.MLP, fit=fit),
        "draw": SimpleNamespace(snapshot=lambda *_: None, film=lambda *_: Drawn("film")),
    }
    for text in [text for text in texts if "seconds = " in text or 'milestone("spiral"' in text]:
        exec(text, names)
    printed = capsys.readouterr().out
    assert list(milestones.reached()) == ([] if told else ["spiral"])
    assert all(each in printed for each in told) and ("fewer than planned" in printed) == bool(told)

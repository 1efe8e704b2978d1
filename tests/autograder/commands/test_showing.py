"""What commands print fits the terminal: tables, lists, numbers, help texts, and how far something is."""

import io
import itertools
import re

import pytest
from rich.console import Console
from rich.table import Table
from typer.testing import CliRunner

from autograder.cli import app
from autograder.commands import showing
from autograder.commands.showing import Cell, console_of, folded, number, steps
from autograder.commands.verify import _print_list, verify_table
from autograder.proof.verify import Checked, WrongAnswer
from autograder.proof.weights import Cost

NAME = "test_a_batch_of_one-is.not_repeated"


def printed(made, width):
    """What is printed on a terminal of a width, line by line."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(made)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [12, 20, 34])
def test_a_long_name_goes_on_after_a_mark(width):
    """A name that is wider than its column is broken after - _ or . alone, and nothing of it is lost."""
    lines = folded(NAME, width)
    assert "".join(lines) == NAME and len(lines) > 1
    assert all(len(line) <= width for line in lines)
    assert all(re.search(r"[-_.]$", line) for line in lines[:-1])


def test_words_are_kept_whole_where_they_fit():
    """A break between two words comes before one inside a name; a name without marks is cut."""
    assert folded("one test_two, three", 10) == ["one", "test_two,", "three"]
    assert folded("abcdefgh", 5) == ["abcde", "fgh"]
    assert folded("", 5) == [""]


def test_a_table_breaks_names_so():
    """A cell of a table too narrow for its name is broken in the same places."""
    table = Table(box=None, show_header=False)
    table.add_row(Cell(NAME), Cell("operators.folds", "red"))
    left = [line[:24].strip() for line in printed(table, 40)]
    assert "".join(left).startswith("test_a_batch_of_one-is.")
    assert all(re.search(r"[-_.]$", line) for line in left[:-1] if line)


def test_numbers():
    """One of a thing has no s."""
    assert [number(count, "notebook") for count in (0, 1, 2)] == ["0 notebooks", "1 notebook", "2 notebooks"]
    assert number(2, "library") == "2 libraries"


def test_columns_are_believed(monkeypatch):
    """COLUMNS says how wide a table is, where nothing is a terminal too; without it a table is wide."""
    monkeypatch.setenv("COLUMNS", "77")
    assert console_of().width == 77
    monkeypatch.delenv("COLUMNS")
    assert console_of().width == showing.WIDE


def test_verify_lists_what_a_narrow_table_would_cut(capsys):
    """Below 100 columns `verify` prints a list in which each name is whole; the table has the variants too."""
    answer = WrongAnswer("starts-at-one", (NAME, "test_empty"), cost=Cost(("empty",), 0.25, "corner"))
    checked = Checked("operators.folds", (NAME, "test_empty"), (answer,), ("with-a-loop",))
    console = Console(width=60, color_system=None)
    _print_list(console, [checked])
    assert capsys.readouterr().out == (
        f"operators.folds: 2 hidden tests, no problem\n  starts-at-one: {NAME},\n"
        "    test_empty; costs 25%: empty (corner)\n"
    )
    wide = printed(verify_table([checked]), 140)
    assert any("with-a-loop" in line for line in wide) and any("25%: empty" in line for line in wide)


def test_how_far_it_is_in_a_log(capsys, monkeypatch):
    """Without a terminal a line says how far it is, and not more often than every ten seconds."""
    with steps("grading again", 30) as step:
        step.advance(12)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(showing, "EVERY", 0)
    with steps("grading again", 30) as step:
        step.advance(12)
    with steps("looking") as step:
        step.advance()
    assert capsys.readouterr().err == "grading again: 12 of 30\nlooking: 1\n"


@pytest.mark.parametrize("command", [[], *([name] for name in ("autograde", "explain", "regrade", "report", "build"))])
def test_help_is_wrapped_once(command):
    """No line of a help text ends early: the first word of the next one would not have fitted."""
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).output
    paragraphs = [part.splitlines() for part in re.split(r"\n\s*\n", shown.partition("╭")[0])]
    prose = [lines for lines in paragraphs if len(lines) > 1 and all(re.match(r" \S", line) for line in lines)]
    assert prose
    for lines in prose:
        for line, below in itertools.pairwise(lines):
            assert len(line.rstrip()) + 1 + len(below.split()[0]) > 79, (line, below)

"""A reader's day as it is typed: two lessons with mistakes, hints, grades, a solution, a question, and the finale.

Every command that is named on the way exists, so that no sentence leads nowhere.
"""

import os
import re
import subprocess
import sys

import nbformat
import pytest
import typer
from executing import execute
from places import ROOT
from solving import HURRIED

from autograder.building.slicing import slice_exercise
from autograder.course.loading import load_course
from minigrad.cli import app

pytestmark = pytest.mark.full("two lessons are graded twice, and lesson 12 trains", share=32, minutes=4)

COMPARISON, BACKPROPAGATE, QUESTION = "operators.comparison", "autodiff.backpropagate", "does-the-order-matter"
NAMED = re.compile(r"(?:^|[`\s])minigrad ([a-z]+)\b(?! is)", re.MULTILINE)


class Reader:
    """Somebody at a terminal, beside notebooks that they change."""

    def __init__(self, home):
        self.home, self.course, self.said = home, load_course(ROOT / "course"), ""

    def types(self, *words, code=0):
        """Run a command, and return all that it prints."""
        command = [sys.executable, "-m", "minigrad", *words]
        variables = os.environ | {"HOME": str(self.home), "COLUMNS": "200"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=self.home, env=variables)
        said = done.stdout + done.stderr
        assert done.returncode == code and "Traceback" not in said, said
        self.said += f"$ minigrad {' '.join(words)}\n{said}"
        return said

    def notebook(self, lesson):
        """Read one of the notebooks."""
        return nbformat.read(self._path(lesson), as_version=4)

    def solves(self, lesson, **wrong):
        """Write the right answers into a notebook, or others in the place of some."""
        notebook = self.notebook(lesson)
        for cell in notebook.cells:
            placed = re.match(r"# exercise: (\S+)\n", cell.source)
            if placed:
                cell.source = wrong.get(placed[1].rpartition(".")[2]) or self.right(placed[1])
        nbformat.write(notebook, self._path(lesson))

    def answers(self, lesson, text):
        """Write an answer to the question of a notebook."""
        notebook = self.notebook(lesson)
        names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
        notebook.cells[names.index(f"question-{QUESTION}")].source = text
        nbformat.write(notebook, self._path(lesson))

    def right(self, id):
        """Return the right answer to an exercise."""
        return slice_exercise(self.course, id).reference_cell

    def _path(self, lesson):
        return self.home / "my-notebooks" / f"{lesson}.ipynb"


def test_a_readers_day(tmp_path):
    """From an empty folder to the last lesson, with a mistake in each of two lessons: nothing ends in a dead end."""
    reader = Reader(tmp_path)
    assert "minigrad start" in reader.types()
    reader.types("start")

    too_wide = reader.right(COMPARISON).replace("x < y", "x <= y", 1)
    reader.solves("00_fundamentals", comparison=too_wide)
    assert "a number is not less than itself" in reader.types("check", "00", "--exercise", COMPARISON, code=1)
    assert "hint 1 of 3" in reader.types("hint", COMPARISON)
    assert f"Next: {COMPARISON}" in reader.types("grade", "00")
    assert "no answer of yours yet" in reader.types("solution", QUESTION, code=2)
    reader.answers("00_fundamentals", "The small numbers are lost beside the large one.")
    assert "A model answer" in reader.types("solution", QUESTION)
    reader.solves("00_fundamentals")
    reader.types("check", "00")
    assert f"{COMPARISON}: 3.25 → 4 of 4 points; won: order" in reader.types("grade", "00")
    assert "def lt" in reader.types("solution", COMPARISON)

    replaced = ROOT / "course" / "wrong" / BACKPROPAGATE / "gradient-overwritten.py"
    reader.solves("03_backprop", backpropagate=f"# exercise: {BACKPROPAGATE}\n{replaced.read_text()}")
    assert "add to what has arrived already" in reader.types("check", "03", "--exercise", BACKPROPAGATE, code=1)
    assert "gradient overwritten" in reader.types("grade", "03")
    reader.solves("03_backprop")
    assert "4 of 4 pass" in reader.types("check", "03")
    assert "Next: " in reader.types()

    reader.solves("12_poems")
    finale = reader.notebook("12_poems")
    finale.cells.insert(0, nbformat.v4.new_code_cell(HURRIED))
    assert execute(finale, tmp_path / "my-notebooks").errors == ()
    printed = "".join(output.get("text", "") for cell in finale.cells for output in cell.get("outputs", ()))
    assert "6 of 6 yours" in printed and "with all of yours" in printed

    reader.types("check", "12")
    assert "As a page: " in reader.types("progress", "--page")
    assert (tmp_path / "my-notebooks" / ".minigrad" / "progress.html").is_file()
    named = set(NAMED.findall(reader.said))
    assert {"start", "lab", "check", "hint", "solution", "grade"} <= named <= set(typer.main.get_command(app).commands)

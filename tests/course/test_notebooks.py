"""The notebooks that students open: clean by the project's own rules, small, and without anything left over.

That a build makes exactly these is tested in tests/autograder/building/test_build.py.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST = 200_000  # bytes: what opens at once, also from a slow disk or over a slow line

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def ruff(*args):
    """Run ruff on the folder of notebooks; return what it says and its exit status."""
    command = [sys.executable, "-m", "ruff", *args, "notebooks"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode


def test_ruff_reads_the_notebooks():
    """The notebooks are among what ruff looks at; otherwise they would be clean for no reason."""
    said, _ = ruff("check", "--show-files")
    assert {Path(line).name for line in said.splitlines()} >= {path.name for path in NOTEBOOKS}


@pytest.mark.parametrize(
    "command", [("check", "--no-cache"), ("format", "--check", "--no-cache")], ids=["rules", "format"]
)
def test_clean(command):
    """ruff finds nothing, neither in the examples nor in the stubs."""
    said, status = ruff(*command)
    assert status == 0, said


@each_notebook
def test_size(path):
    """A notebook is smaller than 200 kB."""
    assert path.stat().st_size < LARGEST


@each_notebook
def test_nothing_was_run(path):
    """A notebook comes without outputs and without numbers of executions."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert [cell["source"] for cell in cells if cell["outputs"] or cell["execution_count"] is not None] == []


@each_notebook
def test_tasks_fit_beside_a_side_bar(path):
    """No line of an exercise is wider than 88 columns, what JupyterLab shows beside its list of files."""
    sources = ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    lines = [line for source in sources if source.startswith("# exercise:") for line in source.splitlines()]
    assert lines
    assert [line for line in lines if len(line) > 88] == []

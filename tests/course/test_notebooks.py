"""The notebooks that students open: clean by the project's own rules, small, and without anything left over.

That a build makes exactly these is tested in tests/autograder/building/test_build.py.
"""

import ast
import inspect
import json
import subprocess
import sys
from operator import attrgetter
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


def imported(tree):
    """What a notebook imports, by its names there; not those that it binds otherwise as well, and not a GPU's own."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__":
            exec(compile(ast.Module([node], []), "<an import>", "exec"), found)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return {name: value for name, value in found.items() if name not in stored | parameters | {"cuda"}}


def is_known(node, known):
    """Whether an expression is an imported name, or a name in one."""
    return is_known(node.value, known) if isinstance(node, ast.Attribute) else getattr(node, "id", "") in known


def misfit(node, known):
    """Say why the library cannot do what an expression asks of it; empty if it can."""
    if isinstance(node, ast.Attribute) and is_known(node, known):
        root, _, rest = ast.unparse(node).partition(".")
        try:
            attrgetter(rest)(known[root])
        except AttributeError as error:
            return f"{ast.unparse(node)}: {error}"
    if isinstance(node, ast.Call) and is_known(node.func, known):
        try:
            signature = inspect.signature(eval(ast.unparse(node.func), dict(known)))
        except (AttributeError, ValueError, TypeError):  # the first is told above; NumPy says nothing of some functions
            return ""
        given = [each for each in node.args if not isinstance(each, ast.Starred)]
        named = {each.arg: each for each in node.keywords if each.arg}
        is_whole = len(given) + len(named) == len(node.args) + len(node.keywords)
        try:
            (signature.bind if is_whole else signature.bind_partial)(*given, **named)
        except TypeError as error:
            return f"{ast.unparse(node)}: {error}"
    return ""


@each_notebook
def test_examples_ask_for_what_the_library_has(path):
    """Every name that a cell takes from a module is there, and every call of it has the arguments that it takes.

    No cell runs for this; tests/course/test_lessons.py runs them, a lesson at a time.
    """
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    tree = ast.parse("\n".join("".join(cell["source"]) for cell in cells))
    known = imported(tree)
    asked = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Call)]
    assert sum(is_known(node, known) for node in asked if isinstance(node, ast.Attribute)) > 5
    assert [said for node in asked if (said := misfit(node, known))] == []

"""A path, done from its first cell to its last: its exercises solved, the others left as they were given out."""

import re
import shutil

import nbformat
import pytest
from executing import execute
from places import ROOT
from solving import HURRIED, cells, solved

from autograder.course.loading import load_course
from minigrad.exercises import paths

COURSE = load_course(ROOT / "course", tree=False)


@pytest.mark.full("all lessons of a path, one on top of the other", minutes=6)
@pytest.mark.parametrize("path", paths.paths().values(), ids=lambda path: path.name)
def test_a_path_from_end_to_end(path, tmp_path):
    """No cell fails, the path's checks pass, and the library stands in for what the path leaves out."""
    folder = tmp_path / "notebooks"  # whose neighbours hold no lessons
    folder.mkdir()
    paths.choose(folder, path)
    for lesson in COURSE.lessons:
        shutil.copy(COURSE.notebooks / f"{lesson}.ipynb", folder)
    left_out = set()
    for part in path.parts:
        others = {each.id for each in COURSE.of_lesson(part.lesson)} - {*part.exercises}
        notebook = solved(COURSE, part.lesson, others)
        nbformat.write(notebook, folder / f"{part.lesson}.ipynb")
        left_out |= others
        if not left_out:
            continue  # as far as whole lessons go, `test_lessons` runs them
        notebook.cells = [*cells(HURRIED), *notebook.cells]
        run = execute(notebook, folder)
        raised = [
            f"{cell.source}\n-> {out.ename}: {out.evalue}"
            for cell in notebook.cells
            for out in cell.get("outputs", ())
            if out.output_type == "error"
        ]
        assert (part.lesson, raised, run.errors, run.stderr) == (part.lesson, [], (), "")
        given = {id for id, said in run.checks.items() if f"{id} is not on your path" in said}
        passing = {id for id, said in run.checks.items() if re.search(r"all \d+ checks pass", said)}
        assert (given, passing) == (others, {*part.exercises})

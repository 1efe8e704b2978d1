"""The examples in the library's docstrings are true, on the compiled backend and on the one in plain Python."""

import ast
import doctest
from pathlib import Path

import numpy as np
import pytest

import minigrad
from minigrad import backends
from minigrad.tensors import creation

LIBRARY = Path(minigrad.__file__).parent
# These modules compute on a graphics card or on its simulator, which is chosen once for a whole process.
ON_THE_GPU = ("backends/gpu/", "cuda_ops.py", "tiling.py")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _path(file):
    return file.relative_to(LIBRARY).as_posix()


def _documented(node, name):
    """Yield the name, docstring and line of a module, and of its functions, classes and methods."""
    if text := ast.get_docstring(node):
        yield name, text, getattr(node, "lineno", 0)
    for child in [] if isinstance(node, ast.FunctionDef) else ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _documented(child, f"{name}.{child.name}")


DOCSTRINGS = {
    _path(file): list(_documented(ast.parse(file.read_text(encoding="utf-8")), file.stem))
    for file in sorted([*LIBRARY.rglob("*.py"), *LIBRARY.rglob("*.pyi")])
    if not _path(file).startswith(ON_THE_GPU)
}
WITH_EXAMPLES = [file for file, found in DOCSTRINGS.items() if any(">>>" in text for _, text, _ in found)]


@pytest.fixture(params=["numba", "python"])
def backend(request):
    """Run an example on one backend, with random numbers of its own."""
    before = creation.default_generator._random
    creation.default_generator._random = np.random.default_rng(0)
    with backends.backend(request.param):
        yield request.param
    creation.default_generator._random = before


@pytest.mark.full("the examples of every module are run, on each backend", share=32)
@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("file", WITH_EXAMPLES)
def test_the_examples_of_a_module_are_true(file):
    """Each example gives exactly the output that stands below it, for a user who imported minigrad and NumPy."""
    parser, complaints = doctest.DocTestParser(), []
    for name, text, line in DOCSTRINGS[file]:
        names = {"minigrad": minigrad, "np": np, "__name__": "example"}
        test = parser.get_doctest(text, names, name, file, line)
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=complaints.append)
    assert not complaints, "".join(complaints)

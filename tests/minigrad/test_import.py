"""`import minigrad` is quick and imports nothing heavy."""

import ast
import json
import subprocess
import sys

import pytest

import minigrad

HEAVY = ["numpy", "numba", "matplotlib", "IPython", "typer", "rich", "ipywidgets", "anywidget"]


def python(code):
    """Run code in an interpreter of its own, and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "use",
    [
        "",
        "x = minigrad.Scalar(3.0); (x * x + x.exp()).backward()",
        "list(minigrad.mlp.fit(minigrad.mlp.MLP(), minigrad.datasets.xor(4), 1))",
        "import minigrad.checks, minigrad.exercises; minigrad.exercises.catalogue()",
    ],
)
def test_nothing_heavy_is_imported(use):
    """Neither the import nor scalars, networks or checks need NumPy, Numba or a plotting library."""
    assert python(f"import sys, minigrad\n{use}\nprint([m for m in {HEAVY} if m in sys.modules])") == "[]"


def test_a_module_of_checks_comes_alone():
    """A hidden test's question imports what it needs of the checks anew: it does not wait for what runs checks."""
    code = (
        "import sys, minigrad.checks.standins; print('minigrad.checks.runner' in sys.modules, minigrad.checks.__all__)"
    )
    runner_is_there, names = python(code).split(" ", 1)
    assert runner_is_there == "False"
    assert names == str(sorted(["CheckReport", "CheckResult", "Expectation", "check", "expect", "run", "visible"]))


def test_every_public_name_is_there():
    """__all__ is sorted, each name can be had, and dir() lists the modules that are imported when first used."""
    assert list(minigrad.__all__) == sorted(minigrad.__all__)
    for name in minigrad.__all__:
        assert getattr(minigrad, name) is not None
    listed = python("import minigrad; print(*dir(minigrad))").split()
    assert {*minigrad.__all__, "checks", "datasets", "derivatives", "exercises", "mlp", "module"} <= set(listed)
    with pytest.raises(AttributeError, match="module 'minigrad' has no attribute 'tensr'"):
        _ = minigrad.tensr


def test_modules_come_when_they_are_used():
    """minigrad.mlp needs no import of its own, and is not imported before."""
    assert (
        python("import sys, minigrad; print('minigrad.mlp' in sys.modules, minigrad.mlp.__name__)")
        == "False minigrad.mlp"
    )


def test_the_quick_twins_are_in_place():
    """After the import a Scalar has its quick methods."""
    assert python("import minigrad; print(minigrad.Scalar.__mul__.__module__)") == "minigrad.quick.scalar"


def test_it_works_without_the_quick_twins():
    """An edition without `quick.scalar` runs on the specification."""
    code = (
        "import sys; sys.modules['minigrad.quick.scalar'] = None\n"
        "import minigrad; from minigrad import exercises\n"
        "x = minigrad.Scalar(3.0)\n"
        "with exercises.install({}): (x * x).backward()\n"
        "print(x.grad, minigrad.Scalar.__mul__.__module__)"
    )
    assert python(code) == "6.0 minigrad.scalar"


# Imports of the notebooks that were released before the modules were put into folders: students still have those.
RELEASED = """
from minigrad import arrays, hints, Scalar, autodiff, check, creation, data, datasets, debug
from minigrad import doctor, draw, functions, gradient_check, hint, mlp, module, nn, operators
from minigrad import optim, tensor_data, tensor_functions, tensor_ops, tour, widgets
from minigrad.autodiff import Context, History, Variable, chain_rule, topological_sort
from minigrad.backends.gpu import from_host, launching, teaching
from minigrad.checks.standins import constant, leaf, result
from minigrad.compiling import compile_kernel
from minigrad.cuda_ops import BLOCK_DIM, Kernel, MAX_DIMS, THREADS_PER_BLOCK, cuda, numba
from minigrad.engine import TensorContext
from minigrad.errors import IndexingError, KernelError
from minigrad.exercises import needs
from minigrad.functions import Elementwise, Function, where
from minigrad.module import Module, Parameter
from minigrad.nn.functional import tile
from minigrad.operators import ieee
from minigrad.tensor_data import Index, OutIndex, Shape, Storage, Strides, TensorData, UserIndex, UserShape, UserStrides
from minigrad.tensor_data import broadcast_index, index_to_position, to_index
from minigrad.tensor_functions import LinearFunction
from minigrad.tensor_ops import Index, MapKernel, ReduceKernel, Shape, Storage, Strides, ZipKernel
from minigrad.tensors import Tensor
from minigrad.tiling import tiled_matrix_multiply
"""


def test_imports_of_released_notebooks_stay():
    """Everything that a notebook of an earlier release imports is still there, under the same name."""
    assert python(f"{RELEASED}print('there')") == "there"


def test_a_moved_module_is_the_module():
    """A module's old name is the module itself: what is set there is set."""
    code = "from minigrad import arrays, creation, doctor, hints, tour\n"
    code += "print(*(each.__name__ for each in (creation, doctor, arrays, hints, tour)))"
    moved = "minigrad.tensors.creation minigrad.commands.doctor minigrad.backends.arrays minigrad.tutor.hints"
    moved += " minigrad.draw.tour"
    assert python(code) == moved


def test_imports_of_the_notebooks_are_there(root):
    """Everything that the notebooks of this repository import from the library can be imported."""
    lines = set[str]()
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
            lines |= {ast.unparse(node) for node in ast.walk(ast.parse(_plain(source))) if _is_of_the_library(node)}
    assert len(lines) > 20
    assert python("\n".join([*sorted(lines), "print('there')"])) == "there"


def _plain(source):
    return "\n".join(line for line in source.split("\n") if not line.startswith(("%", "!")))


def _is_of_the_library(node):
    return isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "minigrad"

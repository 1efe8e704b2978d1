"""`import minigrad` is quick and imports nothing heavy."""

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
    assert python("import minigrad; print(minigrad.Scalar.__mul__.__module__)") == "minigrad.fast"


def test_it_works_without_the_quick_twins():
    """An edition without `fast` runs on the specification."""
    code = (
        "import sys; sys.modules['minigrad.fast'] = None\n"
        "import minigrad; from minigrad import exercises\n"
        "x = minigrad.Scalar(3.0)\n"
        "with exercises.install({}): (x * x).backward()\n"
        "print(x.grad, minigrad.Scalar.__mul__.__module__)"
    )
    assert python(code) == "6.0 minigrad.scalar"

"""The package that PyPI would take: what it says of itself, and what is in it."""

import subprocess
import sys
import zipfile

import pytest


@pytest.mark.full("builds the package")
def test_the_package_can_be_published(root, tmp_path):
    """twine finds no fault with it, and it holds both packages and the notebooks in every language, and no tests."""
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(root)]
    subprocess.run(wheel, check=True, timeout=600)
    (made,) = tmp_path.glob("*.whl")
    assert made.name.startswith("minigrad_course-")
    checked = [sys.executable, "-m", "twine", "check", "--strict", str(made)]
    said = subprocess.run(checked, capture_output=True, text=True, timeout=120)
    assert said.returncode == 0, said.stdout + said.stderr
    names = zipfile.ZipFile(made).namelist()
    notebooks = {f"minigrad/notebooks/{folder}03_backprop.ipynb" for folder in ("", "zh_CN/")}
    assert {"autograder/cli.py", "minigrad/autodiff.py", "minigrad/course.json", *notebooks} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "course/", "benchmarks/"))]

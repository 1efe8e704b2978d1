"""The package that PyPI would take: what it says of itself, and what is in it."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest

import minigrad


@pytest.fixture(scope="module")
def built(root, tmp_path_factory):
    """The source package, and the wheel that is built of it alone."""
    out = tmp_path_factory.mktemp("package")
    build = [sys.executable, "-m", "build", "--outdir", str(out), str(root)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=600)
    if re.search("NewConnectionError|No matching distribution found for hatchling", done.stdout + done.stderr):
        pytest.skip("no package index answers: what builds a package (hatchling) cannot be fetched")
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.full("builds the package")
def test_the_package_can_be_published(built):
    """twine finds no fault with it, and it holds both packages and the notebooks in every language, and no tests."""
    (made,) = built.glob("*.whl")
    assert made.name.startswith(f"minigrad_course-{minigrad.__version__}-")
    checked = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir())]
    said = subprocess.run(checked, capture_output=True, text=True, timeout=120)
    assert said.returncode == 0, said.stdout + said.stderr
    names = zipfile.ZipFile(made).namelist()
    notebooks = {f"minigrad/notebooks/{folder}03_backprop.ipynb" for folder in ("", "zh_CN/")}
    assert {"autograder/cli.py", "minigrad/autodiff.py", "minigrad/course.json", *notebooks} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "course/", "benchmarks/"))]


@pytest.mark.full("builds the package")
def test_the_source_package_is_the_repository(root, built, tmp_path):
    """It holds every file of git's, and the tests of the project pass in it."""
    (made,) = built.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    unpacked = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (root / ".git").exists():
        names = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
        assert {name for name in names if name and (root / name).is_file()} == unpacked - {"PKG-INFO"}
    inside = os.environ | {"PYTHONPATH": f"{folder / 'src'}:{folder}"}
    tests = [sys.executable, "-m", "pytest", "-q", "tests/test_release.py", "tests/minigrad/test_operators.py"]
    done = subprocess.run(tests, cwd=folder, env=inside, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


def test_no_students_work_is_packed(root):
    """What git ignores in a course, names and submissions among it, is left out of the source package."""
    build = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    ignored = []
    for file in sorted([root / "course" / ".gitignore", *(root / "examples").glob("*/.gitignore")]):
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        folder = file.parent.relative_to(root).as_posix()
        ignored += [f"/{folder}{line}" if line.startswith("/") else f"/{folder}/**/{line}" for line in lines]
    assert build["targets"]["sdist"]["exclude"] == ignored


@pytest.mark.full("builds the package")
def test_the_wheel_is_enough_to_begin(built, tmp_path):
    """Unpacked far from the repository, it lays out the lessons, in either language, and knows its version."""
    (made,) = built.glob("*.whl")
    zipfile.ZipFile(made).extractall(tmp_path / "site")
    alone = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-P", "-m", "minigrad"]
    for words in (["start", "lessons"], ["start", "chinese", "--language", "zh"]):
        subprocess.run([*command, *words], cwd=tmp_path, env=alone, check=True, capture_output=True, timeout=120)
        assert (tmp_path / words[1] / "03_backprop.ipynb").is_file()
    code = "import minigrad, autograder; print(minigrad.__file__, autograder.__file__)"
    places = subprocess.run([sys.executable, "-P", "-c", code], env=alone, check=True, capture_output=True, text=True)
    assert places.stdout.count(str(tmp_path / "site")) == 2

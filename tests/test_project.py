"""The project's files agree with each other, and nothing in them belongs to one machine."""

import ast
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHONS = ("3.11", "3.12", "3.13")

# Home and work folders of one machine, but not the files that a cheat would look for on any; addresses and options
# that choose a package index.
MACHINE_PATH = re.compile(r"(?<![\w.:/~{}$-])/(?:work|root(?!/\.(?:bashrc|ssh))|home/\w+|Users/\w+)/")
REGISTRY = re.compile(r"(?:extra-)?index-url|find-links|trusted-host|https?://[^\s)\"']*(?:/simple\b|pypi|registry)")


@pytest.fixture(scope="module")
def pyproject(root):
    """pyproject.toml, parsed."""
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def tracked(root):
    """The project's text files: tracked ones, and new ones that git does not ignore."""
    if not (root / ".git").exists():
        pytest.skip("not a git checkout: which files belong to the project is not known")
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    files = [root / name for name in names if name]
    return [file for file in files if file.is_file() and b"\0" not in file.read_bytes()]


def specifiers(requirements):
    """Map the canonical name of each requirement to its version specifier."""
    parsed = [Requirement(line) for line in requirements]
    return {canonicalize_name(each.name): str(each.specifier) for each in parsed}


def conda_packages(text):
    """Return the package lines of an environment.yml, those under `pip:` left out."""
    lines = text.split("\ndependencies:\n")[1].splitlines()
    return [line.removeprefix("  - ") for line in lines if re.match(r"  - [^:]+$", line)]


def test_environment_names_the_packages_of_pyproject(root, pyproject):
    """environment.yml asks for the dependencies and the course extra of pyproject.toml, no more."""
    project = pyproject["project"]
    wanted = specifiers(
        [*project["dependencies"], *project["optional-dependencies"]["course"]],
    ) | {"python": str(Requirement(f"python{project['requires-python']}").specifier), "pip": ""}
    assert specifiers(conda_packages((root / "environment.yml").read_text())) == wanted


def test_constraints_pin_every_dependency_on_every_python(root, pyproject):
    """Each package of pyproject.toml has exactly one pinned version on each supported Python."""
    project = pyproject["project"]
    extras = project["optional-dependencies"].values()
    asked = specifiers([*project["dependencies"], *(line for extra in extras for line in extra)])
    lines = (root / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    for python in PYTHONS:
        here = [pin for pin in pins if pin.marker is None or pin.marker.evaluate({"python_version": python})]
        names = [canonicalize_name(pin.name) for pin in here]
        assert len(names) == len(set(names)), f"two versions of one package on Python {python}"
        assert set(asked) <= set(names), f"not pinned on Python {python}"
        for pin in here:
            (only,) = pin.specifier
            allowed = Requirement(f"x{asked.get(canonicalize_name(pin.name), '')}").specifier
            assert only.operator == "=="
            assert only.version in allowed


def test_constraints_hold_nothing_but_pins(root):
    """constraints.txt has no address, option, path or editable line."""
    pin = re.compile(r'[\w.-]+==[\w.]+( ; python_version == "3\.\d+"( or python_version == .*)?)?')
    lines = (root / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#") and not pin.fullmatch(line)] == []


def test_constraints_are_split_where_pythons_differ(root):
    """scripts/constraints.py writes one line for a shared version, and lines with markers for others."""
    merge = runpy.run_path(str(root / "scripts" / "constraints.py"))["merge"]
    assert merge(
        {
            "3.11": {"numpy": "1", "rich": "5", "Overrides": "7"},
            "3.12": {"numpy": "2", "rich": "5"},
            "3.13": {"numpy": "2", "rich": "5"},
        }
    ) == [
        'numpy==1 ; python_version == "3.11"',
        'numpy==2 ; python_version == "3.12" or python_version == "3.13"',
        'Overrides==7 ; python_version == "3.11"',
        "rich==5",
    ]


def test_no_file_names_a_machine_or_a_registry(root, tracked):
    """No file of the project holds a path of one machine or the address of a package registry."""
    found = [
        f"{file.relative_to(root)}:{number}: {line.strip()[:80]}"
        for file in tracked
        if file != Path(__file__)
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if MACHINE_PATH.search(line) or REGISTRY.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "cd /Users/ada/minigrad",
        '"/home/ada/.venv/bin/python"',
        "/home/ada/course",
        "--extra-index-url x",
        "see https://example.org/simple",
    ],
)
def test_the_search_for_addresses_finds_them(line):
    """The two patterns match what they are there to find."""
    assert MACHINE_PATH.search(line) or REGISTRY.search(line)


def test_notebooks_hold_no_outputs(root):
    """Committed notebooks were never run: no cell has an output or an execution count."""
    notebooks = sorted((root / "notebooks").rglob("*.ipynb"))
    assert notebooks
    for file in notebooks:
        code = [cell for cell in json.loads(file.read_text())["cells"] if "outputs" in cell]
        assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"]] == []


def test_every_test_says_what_it_expects(root):
    """Each test function, hidden ones included, has a docstring."""
    files = [*(root / "tests").rglob("test_*.py"), *(root / "autograder" / "hidden").glob("test_*.py")]
    silent = [
        f"{file.relative_to(root)}: {node.name}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []


def test_no_test_module_imports_another(root):
    """What test modules share stands in helper modules: a test module may be moved, renamed and run by itself."""
    taken = re.compile(r"^\s*(?:from|import) ((?:test_\w+|conftest)\b.*)", re.MULTILINE)
    found = [
        f"{file.relative_to(root)}: {line}"
        for file in sorted((root / "tests").rglob("*.py"))
        for line in taken.findall(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def in_turn(root):
    """For each file with marked tests the shares of them that `make test` runs."""
    marks = re.compile(r"mark\.full\(\s*\"[^\"]+\"(?:, share=(\d+))?")
    files = sorted(each for each in (root / "tests").rglob("test_*.py") if each.name != "test_tiers.py")
    found = {file: marks.findall(file.read_text(encoding="utf-8")) for file in files}
    return {
        file.relative_to(root / "tests").as_posix(): sorted({f"1 of {share}" if share else "none" for share in shares})
        for file, shares in found.items()
        if shares
    }


def test_each_file_that_waits_for_its_turn_is_listed(root):
    """tests/README.md names every file with tests that `make test` leaves out, and how often they run."""
    text = (root / "tests" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w/.]+)` \|[^|]+\| ([^|]+) \|$", text, re.MULTILINE)
    assert {file: sorted(set(often.split(", "))) for file, often in rows} == in_turn(root)


def test_make_help_lists_every_target(root):
    """`make help` lists exactly the phony targets of the Makefile, each with a sentence."""
    phony = re.search(r"^\.PHONY: (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert re.findall(r"^make ([\w-]+) +\w", listed, re.MULTILINE) == phony[1].split()


def test_make_targets_run_what_exists(root):
    """Every module, script and folder that the Makefile names is there."""
    text = (root / "Makefile").read_text()
    for module in re.findall(r"-m (benchmarks)\b", text):
        assert (root / module / "__main__.py").exists()
    for script in re.findall(r"\bscripts/[\w.-]+", text):
        assert (root / script).exists()


def test_importing_minigrad_imports_nothing_heavy():
    """`import minigrad` loads neither numba nor matplotlib nor IPython."""
    code = "import sys, minigrad; print(sorted({'numba', 'matplotlib', 'IPython'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_debian_packages_are_named_where_they_cannot_be_installed(root, tmp_path):
    """Without apt-get, a missing command costs one line that names its package, and no failure."""
    for tool in ("bash", "id", "env"):
        (tmp_path / tool).symlink_to(next(Path(d) / tool for d in ("/bin", "/usr/bin") if (Path(d) / tool).exists()))
    done = subprocess.run(
        [root / "scripts" / "debian-packages", "bash=bash", "no-such-command=its-package"],
        env={"PATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
    assert done.stderr.splitlines() == ["not installed: its-package (on Debian: sudo apt install its-package)"]


@pytest.mark.full("the whole course is built", share=32)
def test_a_build_leaves_git_status_as_it_was(root, tracked):
    """`autograder build`, in a process with another order of sets, changes and adds no file that git sees."""
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    before = subprocess.run(status, cwd=root, check=True, capture_output=True, text=True).stdout
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    build = [Path(sys.executable).with_name("autograder"), "build", "--quick"]  # to try answers writes nothing
    subprocess.run(build, cwd=root, check=True, env=environment)
    assert subprocess.run(status, cwd=root, check=True, capture_output=True, text=True).stdout == before
